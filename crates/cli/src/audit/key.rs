//! Where a line says something, such as its host.

use memchr::memmem::Finder;

/// What `--per` and `--host` take.
pub(super) enum Key {
    /// The number of a column, from 0.
    Column(usize),
    Name(Named),
    /// `request`, or else the request line of an access log.
    Request(Named),
}

pub(super) struct Named {
    name: Finder<'static>,
    length: usize,
}

impl Key {
    pub(super) fn new(text: &str) -> Option<Self> {
        let named = || Named { name: Finder::new(text.as_bytes()).into_owned(), length: text.len() };
        match text.parse::<usize>() {
            Ok(column) => column.checked_sub(1).map(Self::Column),
            Err(_) if text.is_empty() => None,
            Err(_) if text == "request" => Some(Self::Request(named())),
            Err(_) => Some(Self::Name(named())),
        }
    }

    /// What the line says there.
    pub(super) fn value<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::Column(at) => line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty()).nth(*at),
            Self::Name(named) => named.value(line),
            Self::Request(named) => named.value(line).or_else(|| request_line(line)),
        }
        .filter(|value| !value.is_empty())
    }
}

impl Named {
    fn value<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let places = self.name.find_iter(line).filter(|&at| at == 0 || !is_word(line[at - 1]));
        places.filter_map(|at| value_after(&line[at + self.length..])).next()
    }
}

/// `=value`, `: value`, `":"value"`.
fn value_after(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\"").unwrap_or(text).trim_ascii_start();
    let text = text.strip_prefix(b"=").or_else(|| text.strip_prefix(b":"))?.trim_ascii_start();
    match text.strip_prefix(b"\"") {
        Some(quoted) => quoted_end(quoted).map(|end| &quoted[..end]),
        None => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b",;&}]\"".contains(byte);
            Some(&text[..text.iter().position(ends).unwrap_or(text.len())])
        }
    }
}

/// The first text in quotes with a version of HTTP.
fn request_line(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'"', rest) {
        rest = &rest[at + 1..];
        let end = quoted_end(rest)?;
        if memchr::memmem::find(&rest[..end], b" HTTP/").is_some() {
            return Some(&rest[..end]);
        }
        rest = &rest[end + 1..];
    }
    None
}

/// The quote that ends a text, and is not escaped.
fn quoted_end(text: &[u8]) -> Option<usize> {
    let is_escaped = |at: usize| text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    memchr::memchr_iter(b'"', text).find(|&at| !is_escaped(at))
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_value_is_found_however_it_is_written() {
        for (key, line, expected) in [
            ("host", "a host=web-1 b", Some("web-1")),
            ("host", r#"{"vhost":"x","host": "web 1","y":2}"#, Some("web 1")),
            ("host", r#"{"host":7}"#, Some("7")),
            ("host", "client: 1, host: \"a\\\"b\"", Some("a\\\"b")),
            ("host", "hosts=1 localhost=2 the host", None),
            ("host", "x-host=1 x_host=2 x.host=3 /host=4", Some("4")),
            ("host", "host=a;b", Some("a")),
            ("host", "host=a,b", Some("a")),
            ("host", "host=a&b", Some("a")),
            ("host", "[host=a]b", Some("a")),
            ("host", "{host: a}b", Some("a")),
            ("host", "\"host\" : \"a b", None),
            ("host", "host = \"a\\\\\" b", Some("a\\\\")),
            ("host", "host=", None),
            ("request", r#"1.2.3.4 "-" "GET /a?\"b HTTP/1.1" 200"#, Some(r#"GET /a?\"b HTTP/1.1"#)),
            ("request", r#"error, request: "GET / HTTP/1.1", host: "x""#, Some("GET / HTTP/1.1")),
            ("request", r#"no "quote"#, None),
            ("request", r#""xHTTP/1" "GET / HTTP/1.1""#, Some("GET / HTTP/1.1")),
            ("2", "  one two\tthree", Some("two")),
            ("4", "one two three", None),
        ] {
            let found = Key::new(key).unwrap().value(line.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{key} in {line}");
        }
        assert!(Key::new("0").is_none() && Key::new("").is_none());
    }
}
