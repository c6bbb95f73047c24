//! Trace ids, and headers that come in from outside.

use crate::{reads_back, text};
use txid::trace::{self, B3, SkyWalking, Sofa, TraceId, Traceparent};

pub fn trace_id(bytes: &[u8]) {
    let text = text(bytes);
    match (trace::read_id(text), trace::read_host_id(text)) {
        (Ok(id), Ok(host_id)) => {
            let bits = u128::from(id.ms << 23 | u64::from(id.sequence)) << 64 | u128::from(id.random);
            assert_eq!(TraceId(bits).to_string(), text.to_ascii_lowercase());
            let random = u64::from(host_id.host) << 32 | u64::from(host_id.random);
            assert_eq!((host_id.ms, host_id.sequence, random), (id.ms, id.sequence, id.random));
        }
        (Err(one), Err(other)) => assert!(one == other && !one.to_string().is_empty()),
        other => panic!("{other:?}"),
    }
}

pub fn traceparent(bytes: &[u8]) {
    let text = text(bytes);
    if let Some(parent) = reads_back::<Traceparent>(text) {
        assert_eq!(parent.to_text()[2..52], text.as_bytes()[2..52]);
        let child = parent.child();
        assert_eq!((child.trace_id, child.sampled), (parent.trace_id, parent.sampled));
        assert_ne!(child.span_id, parent.span_id);
    }
}

pub fn b3(bytes: &[u8]) {
    let text = text(bytes);
    if let Some(parent) = reads_back::<B3>(text) {
        assert_eq!(parent.to_string(), text);
        let child = parent.child();
        if let (Some(child), Some(parent)) = (child.ids, parent.ids) {
            assert_eq!((child.trace_id, child.parent_span_id), (parent.trace_id, Some(parent.span_id)));
        }
        assert!(child.to_string().len() <= B3::MAX_LEN);
    }
}

pub fn sofa(bytes: &[u8]) {
    if let Some(id) = reads_back::<Sofa>(text(bytes)) {
        assert!(id.ms < 10_000_000_000_000 && (1000..=9000).contains(&id.sequence));
    }
}

pub fn skywalking(bytes: &[u8]) {
    if let Some(id) = reads_back::<SkyWalking>(text(bytes)) {
        assert!(id.sequence < 10_000);
    }
}
