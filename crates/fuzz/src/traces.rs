//! Trace ids, and headers from clients.

use crate::bytes::{is_digits, is_hex, is_hex_id, reads_back, text};
use txid::trace::{
    self, AmznTraceId, B3, CloudTraceContext, DatadogHeaders, SkyWalking, Sofa, TraceId, Traceparent, UberTraceId,
};

pub fn trace_id(bytes: &[u8]) {
    let text = &*text(bytes);
    match (trace::read_id(text), trace::read_host_id(text)) {
        (Ok(id), Ok(host_id)) => {
            assert!(is_hex(text, 32));
            let bits = u128::from((id.ms as u64) << 23 | u64::from(id.sequence)) << 64 | u128::from(id.random);
            assert_eq!(TraceId(bits).to_string(), text);
            let random = u64::from(host_id.host) << 32 | u64::from(host_id.random);
            assert_eq!((host_id.ms, host_id.sequence, random), (id.ms, id.sequence, id.random));
        }
        (Err(one), Err(other)) => assert!(!is_hex(text, 32) && one == other && !one.to_string().is_empty()),
        other => panic!("{other:?}"),
    }
}

pub fn traceparent(bytes: &[u8]) {
    let text = &*text(bytes);
    let mut fields = text.splitn(5, '-');
    let [version, trace, span, flags] = [(); 4].map(|()| fields.next().unwrap_or_default());
    let is_valid = is_hex(version, 2)
        && version != "ff"
        && is_hex_id(trace, 32)
        && is_hex_id(span, 16)
        && is_hex(flags, 2)
        && (version != "00" || fields.next().is_none());
    if let Some(parent) = reads_back(bytes, is_valid, Traceparent::from_text) {
        assert_eq!(parent.to_text()[2..52], text.as_bytes()[2..52]);
        let child = parent.child();
        assert_eq!((child.trace_id, child.sampled), (parent.trace_id, parent.sampled));
        assert_ne!(child.span_id, parent.span_id);
    }
}

pub fn b3(bytes: &[u8]) {
    let text = &*text(bytes);
    let is_sampling = |field: &str| matches!(field, "0" | "1" | "d");
    let is_valid = match text.split('-').collect::<Vec<_>>()[..] {
        [sampling] => is_sampling(sampling),
        [trace, span, ref more @ ..] => {
            (is_hex_id(trace, 16) || is_hex_id(trace, 32))
                && is_hex_id(span, 16)
                && match *more {
                    [] => true,
                    [sampling] => is_sampling(sampling),
                    [sampling, parent] => is_sampling(sampling) && is_hex_id(parent, 16),
                    _ => false,
                }
        }
        [] => false,
    };
    if let Some(parent) = reads_back(bytes, is_valid, B3::from_text) {
        assert_eq!(parent.to_string(), text);
        let child = parent.child();
        if let (Some(child), Some(parent)) = (child.ids, parent.ids) {
            assert_eq!((child.trace_id, child.parent_span_id), (parent.trace_id, Some(parent.span_id)));
        }
        assert!(child.to_string().len() <= B3::MAX_LEN);
    }
}

pub fn amzn_trace_id(bytes: &[u8]) {
    let text = &*text(bytes);
    let space = [' ', '\t'];
    let values = |key: &str| -> Vec<_> {
        let pairs = text.split(';').filter_map(|part| part.split_once('='));
        pairs.filter(|(name, _)| name.trim_matches(space) == key).map(|(_, value)| value.trim_matches(space)).collect()
    };
    let (roots, parents, decisions) = (values("Root"), values("Parent"), values("Sampled"));
    let trace = match roots[..] {
        [root] => match root.split('-').collect::<Vec<_>>()[..] {
            ["1", first, rest] if first.len() == 8 => format!("{first}{rest}").to_ascii_lowercase(),
            _ => String::new(),
        },
        _ => String::new(),
    };
    let parent = parents.first().map(|id| id.to_ascii_lowercase());
    let is_valid = is_hex_id(&trace, 32)
        && parents.len() < 2
        && parent.as_ref().is_none_or(|id| is_hex_id(id, 16))
        && decisions.len() < 2;
    if let Some(header) = reads_back(bytes, is_valid, AmznTraceId::from_text) {
        assert_eq!((header.trace_id.to_string(), header.parent_id.map(|id| id.to_string())), (trace, parent));
        let digit = header.sampled.map(|is_sampled| if is_sampled { "1" } else { "0" });
        assert_eq!(digit, decisions.first().copied().filter(|&decision| matches!(decision, "0" | "1")));
    }
}

pub fn cloud_trace_context(bytes: &[u8]) {
    let text = &*text(bytes);
    let space = [' ', '\t'];
    let (ids, options) = text.split_once(';').unwrap_or((text, ""));
    let ids = ids.trim_matches(space);
    let (trace, span) = ids.split_once('/').unwrap_or((ids, "0"));
    let trace = trace.to_ascii_lowercase();
    let decisions: Vec<_> =
        options.split(';').filter_map(|option| option.trim_matches(space).strip_prefix("o=")).collect();
    let number = |digits: &str| is_digits(digits).then(|| digits.parse::<u64>().ok()).flatten();
    let is_valid = is_hex_id(&trace, 32)
        && span.len() <= 20
        && number(span).is_some()
        && decisions.len() < 2
        && decisions.iter().all(|digits| number(digits).is_some());
    if let Some(header) = reads_back(bytes, is_valid, CloudTraceContext::from_text) {
        assert_eq!(
            (header.trace_id.to_string(), header.parent_id.map_or(0, |id| id.0).to_string()),
            (trace, plain(span))
        );
        let sampled = decisions.first().and_then(|digits| number(digits)).map(|options| options & 1 == 1);
        assert_eq!(header.sampled, sampled);
    }
}

pub fn uber_trace_id(bytes: &[u8]) {
    let text = &*text(bytes);
    let decoded = text.replace("%3A", ":").replace("%3a", ":").to_ascii_lowercase();
    let fields: Vec<_> = decoded.split(':').collect();
    let is_number = |field: &str, most| (1..=most).contains(&field.len()) && is_hex(field, field.len());
    let is_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
    let is_valid = match fields[..] {
        [trace, span, parent, flags] => {
            text.len() <= 75
                && is_number(trace, 32)
                && !is_zero(trace)
                && is_number(span, 16)
                && !is_zero(span)
                && is_number(parent, 16)
                && is_number(flags, 2)
        }
        _ => false,
    };
    if let Some(header) = reads_back(bytes, is_valid, UberTraceId::from_text) {
        let written = header.to_string();
        assert_eq!(written[..49], format!("{:0>32}:{:0>16}", fields[0], fields[1]));
        let flags = u8::from_str_radix(fields[3], 16).unwrap();
        let digit = if flags & 1 == 0 { '0' } else { char::from(b'0' + (flags & 3)) };
        assert!(written.ends_with(digit), "{written}");
    }
}

/// The trace's id, the parent, the priority and the tags, a line each.
pub fn datadog_headers(bytes: &[u8]) {
    let fields: Vec<_> = bytes.splitn(4, |&byte| byte == b'\n').collect();
    let field = |place: usize| fields.get(place).copied();
    if let Ok(found) = DatadogHeaders::from_texts(fields[0], field(1), field(2), field(3)) {
        let text = String::from_utf8_lossy(fields[0]);
        assert_eq!((found.trace_id.0 as u64).to_string(), plain(&text));
        let tid = format!("_dd.p.tid={:016x}", found.trace_id.0 >> 64);
        let tags = field(3).map(String::from_utf8_lossy).unwrap_or_default();
        assert!(found.trace_id.0 >> 64 == 0 || tags.contains(&tid), "{tags}");
        assert!(found.priority.is_none_or(|priority| (-99..=99).contains(&priority)));
    }
}

pub fn sofa(bytes: &[u8]) {
    let text = &*text(bytes);
    let is_valid = text.is_ascii()
        && text.len() >= 26
        && is_hex(&text[..8], 8)
        && is_digits(&text[8..])
        && text[21..25].parse().is_ok_and(|sequence| (1000..=9000_u16).contains(&sequence))
        && text.len() <= Sofa::MAX_LEN
        && text[25..].parse::<u32>().is_ok();
    if let Some(id) = reads_back(bytes, is_valid, Sofa::from_text) {
        assert_eq!((id.ms.to_string(), id.sequence.to_string()), (plain(&text[8..21]), plain(&text[21..25])));
    }
}

pub fn skywalking(bytes: &[u8]) {
    let text = &*text(bytes);
    let fields: Vec<_> = text.split('.').collect();
    let is_valid = match fields[..] {
        [instance, thread, time] => {
            text.len() <= SkyWalking::MAX_LEN
                && is_hex(instance, 32)
                && is_digits(thread)
                && is_digits(time)
                && thread.parse::<u32>().is_ok()
                && time.parse::<u64>().is_ok()
        }
        _ => false,
    };
    if let Some(id) = reads_back(bytes, is_valid, SkyWalking::from_text) {
        let time = (id.ms as u128) * 10_000 + u128::from(id.sequence);
        assert_eq!((id.thread.to_string(), time.to_string()), (plain(fields[1]), plain(fields[2])));
    }
}

/// Digits without leading zeros.
fn plain(digits: &str) -> String {
    let kept = digits.trim_start_matches('0');
    if kept.is_empty() { "0".to_string() } else { kept.to_string() }
}
