//! Texts as the public types of ids.

use super::read::{fields, numbers, numbers_of};
use super::table::{self, FLAKE, KSUID, SKYWALKING, SOFA, TRACEPARENT, TXID, ULID, UNIQUE_ID, UNIQUE_ID_SHORT, XID};
use crate::text::{FormatError, read_from_text};
use crate::trace::traceparent::{RANDOM, SAMPLED};
use crate::trace::{B3, B3Ids, Sampling, SkyWalking, Sofa, SpanId, TraceId, Traceparent};
use crate::{Flake, Ksuid, Txid, Ulid, UniqueId, UniqueIdProcess, Xid};
use std::net::Ipv4Addr;

impl Txid {
    /// Reads text from bytes, in upper or lower case.
    ///
    /// ```
    /// use txid::{FormatError, Txid};
    ///
    /// assert_eq!(Txid::from_text(b"4OM9QI54LA8FFR4BD9SG")?.timestamp_ms(), 655_829_050_002);
    /// let error = Txid::from_text(b"4om9qi54la8ffr4bd9s\xff").unwrap_err();
    /// assert_eq!(error.to_string(), "character 20 is '\\xff', not base32hex");
    /// # Ok::<(), FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        numbers(&TXID, text).map(|[bits]| Self::of_bits(bits.low))
    }
}

impl Flake {
    /// Reads text from bytes.
    ///
    /// ```
    /// assert_eq!(txid::Flake::from_text(b"0000000000000000000010")?, txid::Flake(62));
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        numbers(&FLAKE, text).map(|[bits]| Self(bits.low))
    }
}

impl Ulid {
    /// Reads text from bytes, in upper or lower case.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        numbers(&ULID, text).map(|[bits]| Self(bits.low))
    }
}

impl Ksuid {
    /// Reads text from bytes.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        fields(&KSUID, text).map(|[seconds, payload]| Self { seconds: seconds as u32, payload })
    }
}

impl Xid {
    /// Reads text from bytes, in lower case only.
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        numbers(&XID, text).map(|[bits]| Self(bits.low))
    }
}

impl UniqueId {
    /// Reads text from bytes.
    ///
    /// ```
    /// let id = txid::UniqueId::long();
    /// assert_eq!(txid::UniqueId::from_text(id.to_string().as_bytes())?, id);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        if text.len() == Self::SHORT_LEN {
            let [seconds, address, pid, counter, thread] = fields(&UNIQUE_ID_SHORT, text)?;
            let process = UniqueIdProcess::Short { address: Ipv4Addr::from_bits(address as u32), pid: pid as u32 };
            return Ok(Self { seconds: seconds as u32, process, counter: counter as u16, thread: thread as u32 });
        }
        let [seconds, random, counter, thread] = fields(&UNIQUE_ID, text)?;
        let [_, _, _, _, _, _, random @ ..] = random.to_be_bytes();
        let process = UniqueIdProcess::Long { random };
        Ok(Self { seconds: seconds as u32, process, counter: counter as u16, thread: thread as u32 })
    }
}

impl SkyWalking {
    /// Reads text from bytes.
    ///
    /// ```
    /// assert_eq!(txid::trace::SkyWalking::from_text(b"00000000000000000000000000000001.2.30004")?.sequence, 4);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let [instance, thread, time] = fields(&SKYWALKING, text)?;
        let (ms, sequence) = Self::split(time as u64);
        Ok(Self { instance, thread: thread as u32, ms: ms as i64, sequence })
    }
}

impl Sofa {
    /// Reads text from bytes.
    ///
    /// ```
    /// assert_eq!(txid::trace::Sofa::from_text(b"0ad1348f1403169275002100356696")?.pid, 56696);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let [address, ms, sequence, pid] = fields(&SOFA, text)?;
        let address = Ipv4Addr::from_bits(address as u32);
        Ok(Self { address, ms: ms as i64, sequence: sequence as u16, pid: pid as u32 })
    }
}

impl Traceparent {
    /// Reads text from bytes.
    ///
    /// ```
    /// let header = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    /// assert!(txid::trace::Traceparent::from_text(header)?.sampled);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let [version, trace_id, span_id, flags] = numbers_of::<TRACEPARENT, 4>(text)?;
        let flags = flags as u8;
        Ok(Self {
            trace_id: TraceId(trace_id),
            span_id: SpanId(span_id as u64),
            sampled: flags & SAMPLED != 0,
            // Only the sampled flag is sure to have the same meaning in later versions.
            random: version == 0 && flags & RANDOM != 0,
        })
    }
}

impl B3 {
    /// Reads text from bytes.
    ///
    /// ```
    /// assert_eq!(txid::trace::B3::from_text(b"0")?.ids, None);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, FormatError> {
        let [trace_id, span_id, parent] = numbers_of::<table::B3, 3>(text)?;
        let short = matches!(text.len(), 33 | 35 | 52);
        let sampled = match (text.len(), short) {
            (1, _) => text.first(),
            (_, true) => text.get(34),
            (_, false) => text.get(50),
        };
        let span = |id: u128| (id != 0).then_some(SpanId(id as u64));
        let ids = |span_id| B3Ids { trace_id: TraceId(trace_id), short, span_id, parent_span_id: span(parent) };
        let sampled = sampled.map(|letter| match letter {
            b'0' => Sampling::Deny,
            b'1' => Sampling::Accept,
            _ => Sampling::Debug,
        });
        Ok(Self { ids: span(span_id).map(ids), sampled })
    }
}

read_from_text!(Txid, Flake, Ulid, Ksuid, Xid, UniqueId, SkyWalking, Sofa, Traceparent, B3);
