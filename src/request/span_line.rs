//! The span of a request as a line of OTLP/JSON, which a log can carry.

use std::mem::MaybeUninit;
use std::slice;

/// What a span tells of its request. Texts may have any bytes; empty ones are left out.
///
/// ```
/// use txid::request::SpanLine;
///
/// let span = SpanLine { method: b"GET", path: b"/\xff\"", ..SpanLine::default() };
/// let mut room = [std::mem::MaybeUninit::uninit(); SpanLine::MAX_LEN];
/// let line = std::str::from_utf8(span.write(std::iter::empty(), &mut room)).unwrap();
/// assert!(line.contains(r#"{"key":"url.path","value":{"stringValue":"/�\""}}"#), "{line}");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SpanLine<'a> {
    /// The id of the trace, in hexadecimal digits.
    pub trace_id: &'a [u8],
    /// The id of the span.
    pub span_id: &'a [u8],
    /// The span that called this one.
    pub parent_span_id: &'a [u8],
    /// The flags of its `traceparent`.
    pub flags: u8,
    /// The `tracestate` that goes on with the span. A longer one than [`SpanLine::LONGEST_TEXT`] is left out.
    pub tracestate: &'a [u8],
    /// When the request began, in nanoseconds since 1970.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The name of the service.
    pub service: &'a [u8],
    /// The name of the span. By default, the method.
    pub name: &'a [u8],
    /// The method.
    pub method: &'a [u8],
    /// The path as it came. A query in it is left out.
    pub path: &'a [u8],
    /// `http` or `https`.
    pub scheme: &'a [u8],
    /// The name of the host, without a port.
    pub host: &'a [u8],
    /// The address of the client.
    pub client: &'a [u8],
    /// The protocol, as in HTTP/1.1.
    pub protocol: &'a [u8],
    /// The `User-Agent` header.
    pub user_agent: &'a [u8],
    /// The id of the request.
    pub request_id: &'a [u8],
    /// The status of the response; below 100 if there is none.
    pub status: u16,
}

/// The methods that OpenTelemetry's conventions know.
const METHODS: [&[u8]; 9] = [b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT"];

impl SpanLine<'_> {
    /// How many bytes of a text are written, at most.
    pub const LONGEST_TEXT: usize = 1024;

    /// The length of the longest line.
    pub const MAX_LEN: usize = 32 * 1024;

    /// Writes an `ExportTraceServiceRequest` with this span, without an end of line, to the beginning of `room`, and returns it. An
    /// attribute for which there is no room left is left out.
    pub fn write<'a, 'line>(
        &self,
        attributes: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        room: &'line mut [MaybeUninit<u8>; SpanLine::MAX_LEN],
    ) -> &'line [u8] {
        let path = self.path.split(|&byte| byte == b'?').next().unwrap_or_default();
        let version = self.protocol.strip_prefix(b"HTTP/").unwrap_or_default();
        let is_known = METHODS.contains(&self.method);
        let is_error = self.status >= 500;
        let mut digits = itoa::Buffer::new();
        let mut line = Line { room, len: 0 };
        line.put(br#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":""#);
        line.escape(self.service);
        line.put(br#""}}]},"scopeSpans":[{"scope":{"name":"txid","version":""#);
        line.put(env!("CARGO_PKG_VERSION").as_bytes());
        line.put(br#""},"spans":[{"traceId":""#);
        line.escape(self.trace_id);
        line.put(br#"","spanId":""#);
        line.escape(self.span_id);
        if !self.parent_span_id.is_empty() {
            line.put(br#"","parentSpanId":""#);
            line.escape(self.parent_span_id);
        }
        if (1..=Self::LONGEST_TEXT).contains(&self.tracestate.len()) {
            line.put(br#"","traceState":""#);
            line.escape(self.tracestate);
        }
        line.put(br#"","flags":"#);
        // Bit 8 says that bit 9 counts, and that whether the parent is of another process.
        let is_remote = if self.parent_span_id.is_empty() { 0 } else { 0x200 };
        line.put(digits.format(0x100 | is_remote | u32::from(self.flags)).as_bytes());
        line.put(br#","kind":2,"startTimeUnixNano":""#);
        line.put(digits.format(self.start_ns).as_bytes());
        line.put(br#"","endTimeUnixNano":""#);
        line.put(digits.format(self.end_ns.max(self.start_ns)).as_bytes());
        line.put(br#"","name":""#);
        match self.name {
            b"" if is_known => line.put(self.method),
            b"" => line.put(b"HTTP"),
            name => line.escape(name),
        }
        line.put(br#"","attributes":[{"key":"http.request.method","value":{"stringValue":""#);
        line.put(if is_known { self.method } else { b"_OTHER" });
        line.put(br#""}}"#);
        if !is_known {
            line.attribute(br#"http.request.method_original","value":{"stringValue":""#, self.method);
        }
        line.attribute(br#"url.path","value":{"stringValue":""#, path);
        line.attribute(br#"url.scheme","value":{"stringValue":""#, self.scheme);
        line.attribute(br#"server.address","value":{"stringValue":""#, self.host);
        line.attribute(br#"client.address","value":{"stringValue":""#, self.client);
        line.attribute(
            br#"network.protocol.version","value":{"stringValue":""#,
            version.strip_suffix(b".0").filter(|version| version != b"1").unwrap_or(version),
        );
        line.attribute(br#"user_agent.original","value":{"stringValue":""#, self.user_agent);
        line.attribute(br#"txid.request_id","value":{"stringValue":""#, self.request_id);
        if self.status >= 100 {
            let status = digits.format(self.status).as_bytes();
            line.attribute(br#"http.response.status_code","value":{"intValue":""#, status);
            if is_error {
                line.attribute(br#"error.type","value":{"stringValue":""#, status);
            }
        }
        for (key, value) in attributes {
            // What follows fits behind it.
            if !value.is_empty() && line.len + 2 * Self::LONGEST_TEXT + 128 <= Self::MAX_LEN {
                line.put(br#",{"key":""#);
                line.escape(key);
                line.put(br#"","value":{"stringValue":""#);
                line.escape(value);
                line.put(br#""}}"#);
            }
        }
        line.put(if is_error { br#"],"status":{"code":2}}]}]}]}"# } else { b"]}]}]}]}" });
        let Line { room, len } = line;
        // SAFETY: `put` has written that many bytes.
        unsafe { slice::from_raw_parts(room.as_ptr().cast(), len) }
    }
}

/// What is written of a line.
struct Line<'a> {
    room: &'a mut [MaybeUninit<u8>; SpanLine::MAX_LEN],
    len: usize,
}

impl Line<'_> {
    #[inline]
    fn put(&mut self, part: &[u8]) {
        if let Some(room) = self.room.get_mut(self.len..self.len + part.len()) {
            room.iter_mut().zip(part).for_each(|(place, byte)| _ = place.write(*byte));
            self.len += part.len();
        }
    }

    /// An attribute, whose key comes with the beginning of its value.
    fn attribute(&mut self, key: &[u8], value: &[u8]) {
        if !value.is_empty() {
            self.put(br#",{"key":""#);
            self.put(key);
            self.escape(value);
            self.put(br#""}}"#);
        }
    }

    /// A text as one of JSON, in UTF-8: as much of it as is written.
    fn escape(&mut self, text: &[u8]) {
        // No character of what is written is cut in two.
        let text = &text[..text.len().min(SpanLine::LONGEST_TEXT + 3)];
        let is_plain = |&byte: &u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
        // All of them are looked at, which takes fewer instructions than to look for the first one.
        match text.iter().fold(true, |all, byte| all & is_plain(byte)) {
            true => self.put(&text[..text.len().min(SpanLine::LONGEST_TEXT)]),
            false => self.escape_each(text),
        }
    }

    #[cold]
    fn escape_each(&mut self, text: &[u8]) {
        let end = self.len + SpanLine::LONGEST_TEXT;
        for chunk in text.utf8_chunks() {
            let replaced = if chunk.invalid().is_empty() { None } else { Some('\u{fffd}') };
            for character in chunk.valid().chars().chain(replaced) {
                let mut room = [0; 6];
                let code = u32::from(character);
                let part = match character {
                    '"' => &b"\\\""[..],
                    '\\' => b"\\\\",
                    // A line ends at none of them, for any reader.
                    '\0'..=' ' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' if character != ' ' => {
                        room = *b"\\u0000";
                        for (digit, shift) in room[2..].iter_mut().zip([12, 8, 4, 0]) {
                            *digit = b"0123456789abcdef"[(code >> shift & 15) as usize];
                        }
                        &room
                    }
                    _ => character.encode_utf8(&mut room).as_bytes(),
                };
                if self.len + part.len() > end {
                    return;
                }
                self.put(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn line(span: SpanLine<'_>, attributes: &[(&[u8], &[u8])]) -> String {
        let mut room = [MaybeUninit::uninit(); SpanLine::MAX_LEN];
        String::from_utf8(span.write(attributes.iter().copied(), &mut room).to_vec()).unwrap()
    }

    fn attribute(line: &str, key: &str) -> Option<Value> {
        let line: Value = serde_json::from_str(line).unwrap();
        let found = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"].as_array().unwrap().iter();
        found.clone().find(|attribute| attribute["key"] == key).map(|attribute| attribute["value"].clone())
    }

    const SPAN: SpanLine<'static> = SpanLine {
        trace_id: b"4bf92f3577b34da6a3ce929d0e0e4736",
        span_id: b"00f067aa0ba902b7",
        parent_span_id: b"",
        flags: 3,
        tracestate: b"",
        start_ns: 1_780_000_000_123_000_000,
        end_ns: 1_780_000_000_124_567_890,
        service: b"shop",
        name: b"",
        method: b"GET",
        path: b"/x?secret",
        scheme: b"https",
        host: b"example.com",
        client: b"192.0.2.1",
        protocol: b"HTTP/2.0",
        user_agent: b"curl",
        request_id: b"d1vl2rqu9bbhj13kdhk0",
        status: 200,
    };

    #[test]
    fn a_line_has_what_is_there_alone() {
        let known = concat!(
            r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"#,
            r#""scopeSpans":[{"scope":{"name":"txid","version":""#,
            env!("CARGO_PKG_VERSION"),
            r#""},"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","flags":259,"kind":2,"#,
            r#""startTimeUnixNano":"1780000000123000000","endTimeUnixNano":"1780000000124567890","name":"GET","attributes":["#,
            r#"{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.path","value":{"stringValue":"/x"}},"#,
            r#"{"key":"url.scheme","value":{"stringValue":"https"}},{"key":"server.address","value":{"stringValue":"example.com"}},"#,
            r#"{"key":"client.address","value":{"stringValue":"192.0.2.1"}},{"key":"network.protocol.version","value":{"stringValue":"2"}},"#,
            r#"{"key":"user_agent.original","value":{"stringValue":"curl"}},{"key":"txid.request_id","value":{"stringValue":"d1vl2rqu9bbhj13kdhk0"}},"#,
            r#"{"key":"http.response.status_code","value":{"intValue":"200"}},{"key":"http.route","value":{"stringValue":"/{id}"}}]}]}]}]}"#,
        );
        assert_eq!(line(SPAN, &[(b"http.route", b"/{id}"), (b"a", b"")]), known);
        let child =
            SpanLine { parent_span_id: b"a3ce929d0e0e4736", tracestate: b"a=1", status: 503, end_ns: 1, ..SPAN };
        let child = line(child, &[]);
        for part in [
            r#","parentSpanId":"a3ce929d0e0e4736","traceState":"a=1","flags":771,"#,
            r#""endTimeUnixNano":"1780000000123000000""#,
            r#"{"key":"error.type","value":{"stringValue":"503"}}],"status":{"code":2}}"#,
        ] {
            assert!(child.contains(part), "{child} has no {part}");
        }
        let odd = line(SpanLine { method: b"BREW", status: 0, ..SPAN }, &[]);
        assert_eq!(attribute(&odd, "http.request.method_original"), Some(json!({"stringValue": "BREW"})));
        assert!(odd.contains(r#""name":"HTTP""#) && attribute(&odd, "http.response.status_code").is_none(), "{odd}");
        for (protocol, version) in
            [("HTTP/1.0", Some("1.0")), ("HTTP/1.1", Some("1.1")), ("HTTP/3.0", Some("3")), ("", None)]
        {
            let line = line(SpanLine { protocol: protocol.as_bytes(), ..SPAN }, &[]);
            let expected = version.map(|version| json!({"stringValue": version}));
            assert_eq!(attribute(&line, "network.protocol.version"), expected);
        }
    }

    #[test]
    fn no_text_breaks_a_line() {
        for (path, written) in [
            (&b"\"\\\n\r\t\0\x7f"[..], "\"\\\n\r\t\0\x7f"),
            (b"\xff\xfea\xf0\x9f\x98\xed\xa0\x80", "\u{fffd}\u{fffd}a\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            ("\u{2028}\u{2029}\u{85}é😀".as_bytes(), "\u{2028}\u{2029}\u{85}é😀"),
        ] {
            let line = line(SpanLine { path, ..SPAN }, &[]);
            assert_eq!(attribute(&line, "url.path"), Some(json!({"stringValue": written})));
            assert!(!line.contains(|c: char| c.is_control() || ('\u{2028}'..='\u{2029}').contains(&c)), "{line:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_and_the_longest_line_is_whole() {
        for (byte, most) in [(b'a', 1024), (0, 1020), (b'"', 1024), (0xff, 1023)] {
            let long = vec![byte; 1 << 16];
            let long = &long[..];
            let texts = SpanLine { service: long, name: long, method: long, path: long, scheme: long, ..SPAN };
            let texts = SpanLine { host: long, client: long, protocol: long, user_agent: long, ..texts };
            let texts = SpanLine { request_id: long, tracestate: long, status: 599, ..texts };
            let line = line(texts, &[(long, long); 64]);
            let value: Value = serde_json::from_str(&line).unwrap();
            assert!(!line.contains("traceState"), "half of it would be wrong");
            let name = value["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"].to_string();
            assert_eq!(name.len() - 2, most, "{byte}");
            assert!(line.len() > SpanLine::MAX_LEN - 4 * SpanLine::LONGEST_TEXT && line.contains(r#""code":2"#));
        }
        let split = "é".repeat(600);
        let line = line(SpanLine { path: &split.as_bytes()[1..], ..SPAN }, &[]);
        assert!(!line.contains("\u{fffd}\""), "a character is not cut in two: {line}");
    }
}
