//! UUIDs: the `uuid` crate does layout and text, this library does bits and time.

use crate::make::stamp::TimeError;
use crate::maker::{Made, Make, Maker, Text};
use crate::source::clock;
use crate::source::entropy::{self, StreamId};
use crate::source::{mac, v7};
use crate::text::hex;
use crate::text::uuid_time::{self, GREGORIAN_MS, TICKS_A_MS};
use ::uuid::Builder;
#[cfg(feature = "names")]
use md5::Md5;
#[cfg(feature = "names")]
use sha1::{Digest, Sha1};
use std::cell::Cell;

pub use ::uuid::Uuid;

pub(crate) const V7: Make = Make::of(|_| {
    Ok(Maker::writing(|clock_ms, text| Ok(put(text, v7_by(clock_ms))))
        .writing_at(|ms, text| put(text, wrapping_v7_at(ms))))
});

pub(crate) const V4: Make =
    Make { takes_a_time: false, ..Make::of(|_| Ok(Maker::writing(|_, text| Ok(put(text, v4()))))) };

pub(crate) const V1: Make = Make {
    options: &["node"],
    takes_a_time: false,
    ..Make::of(|options| {
        let node = options.node()?;
        Ok(Maker::writing(move |clock_ms, text| Ok(put(text, v1_by(clock_ms, node)))))
    })
};

/// The length of a UUID's text.
pub const LEN: usize = ::uuid::fmt::Hyphenated::LENGTH;

const TICKS_MASK: u64 = (1 << 60) - 1;

fn put(text: &mut Text, id: Uuid) -> Made {
    Made::in_place(text, |place| write(id, place))
}

/// Writes the text, without allocating.
///
/// ```
/// let mut text = [0; txid::uuid::LEN];
/// txid::uuid::write(txid::uuid::Uuid::nil(), &mut text);
/// assert_eq!(&text, b"00000000-0000-0000-0000-000000000000");
/// ```
#[inline(always)]
pub fn write(id: Uuid, text: &mut [u8; LEN]) {
    write_bits(id.as_u128(), text);
}

/// The crate's own function needs the bits in memory, and takes longer.
fn write_bits(bits: u128, text: &mut [u8; LEN]) {
    let first = hex::encode_64_bits((bits >> 64) as u64);
    let last = hex::encode_64_bits(bits as u64);
    text[..8].copy_from_slice(&first[..8]);
    text[8] = b'-';
    text[9..13].copy_from_slice(&first[8..12]);
    text[13] = b'-';
    text[14..18].copy_from_slice(&first[12..]);
    text[18] = b'-';
    text[19..23].copy_from_slice(&last[..4]);
    text[23] = b'-';
    text[24..].copy_from_slice(&last[4..]);
}

/// The UUID of version 3 of a name: the same each time, by MD5.
///
/// ```
/// let id = txid::uuid::v3(txid::uuid::Uuid::NAMESPACE_DNS, b"www.example.com");
/// assert_eq!(id.to_string(), "5df41881-3aed-3515-88a7-2f4a814cf09e");
/// ```
#[cfg(feature = "names")]
pub fn v3(namespace: Uuid, name: &[u8]) -> Uuid {
    of_name::<Md5>(namespace, name, 3)
}

/// The UUID of version 5 of a name: the same each time, by SHA-1.
///
/// ```
/// let id = txid::uuid::v5(txid::uuid::Uuid::NAMESPACE_DNS, b"www.example.com");
/// assert_eq!(id.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
/// ```
#[cfg(feature = "names")]
pub fn v5(namespace: Uuid, name: &[u8]) -> Uuid {
    of_name::<Sha1>(namespace, name, 5)
}

/// The first 128 bits of a hash.
#[cfg(feature = "names")]
fn of_name<Hash: Digest>(namespace: Uuid, name: &[u8], version: u128) -> Uuid {
    let hash = Hash::new().chain_update(namespace).chain_update(name).finalize();
    let bits = hash.iter().take(16).fold(0, |bits, &byte| bits << 8 | u128::from(byte));
    Uuid::from_u128(uuid_time::marked(bits, version))
}

/// A new random UUID, version 4.
///
/// ```
/// assert_eq!(txid::uuid::v4().get_version_num(), 4);
/// ```
#[inline(always)]
pub fn v4() -> Uuid {
    Uuid::from_u128(uuid_time::marked(entropy::next_u128_without_stamp(), 4))
}

/// A new UUID of this moment, version 7: greater than the previous one of this thread, also within a millisecond.
///
/// ```
/// use txid::uuid;
///
/// let (earlier, later) = (uuid::v7(), uuid::v7());
/// assert!(earlier < later);
/// assert!(earlier.to_string() < later.to_string());
/// ```
pub fn v7() -> Uuid {
    v7_by(clock::system_ms())
}

/// A new UUID of version 7 stamped with `ms`, in milliseconds since 1970-01-01 UTC. If the thread's previous one has the
/// same stamp, this one is greater.
///
/// # Errors
///
/// [`TimeError`](crate::TimeError), if UUIDs cannot hold that time.
pub fn try_v7_at(ms: i64) -> Result<Uuid, TimeError> {
    TimeError::unless_in(0..=(1 << 48) - 1, ms).map(wrapping_v7_at)
}

/// As [`try_v7_at`], but of any `ms` the low 48 bits count (two's complement).
///
/// ```
/// use txid::uuid;
///
/// let (first, second) = (uuid::wrapping_v7_at(1_645_557_742_000), uuid::wrapping_v7_at(1_645_557_742_000));
/// assert!(first.to_string().starts_with("017f22e2-79b0-7"));
/// assert!(first < second);
/// ```
pub fn wrapping_v7_at(ms: i64) -> Uuid {
    Uuid::from_u128(v7::at(ms))
}

/// As [`v7`], when the clock reads `clock_ms`.
///
/// ```
/// let clock_ms = 1_700_000_000_000;
/// assert!(txid::uuid::v7_by(clock_ms) < txid::uuid::v7_by(clock_ms));
/// ```
pub fn v7_by(clock_ms: i64) -> Uuid {
    Uuid::from_u128(v7::by(clock_ms))
}

/// A new UUID of this moment, version 1. This thread uses each count of 100 ns only once. Without a `node`, each UUID
/// has a random one. With a `node`, no two threads or processes may use the same one, because only 14 random bits of
/// version 1 would tell them apart.
///
/// ```
/// let node = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
/// assert!(txid::uuid::v1(Some(node)).to_string().ends_with("-0242ac110002"));
/// ```
pub fn v1(node: Option<[u8; 6]>) -> Uuid {
    v1_by(clock::system_ms(), node)
}

/// As [`v1`], when the clock reads `clock_ms`.
///
/// ```
/// let id = txid::uuid::v1_by(1_700_000_000_000, None).to_string();
/// assert_eq!(txid::uuid::read(&id)?.ms, Some(1_700_000_000_000));
/// # Ok::<(), txid::FormatError>(())
/// ```
pub fn v1_by(clock_ms: i64, node: Option<[u8; 6]>) -> Uuid {
    let ms = clock::never_backwards(clock_ms);
    let ticks = (ms.wrapping_add(GREGORIAN_MS) as u64).wrapping_mul(TICKS_A_MS) & TICKS_MASK;
    thread_local! {
        static LAST: Cell<V1> = const { Cell::new(V1::NONE) };
    }
    let mut v1 = LAST.get();
    v1.advance(entropy::stream_id(ms), ms, ticks);
    LAST.set(v1);
    Builder::from_gregorian_timestamp(v1.ticks, v1.clock_sequence, &node.unwrap_or(v1.node)).into_uuid()
}

/// The last version 1 of a thread.
#[derive(Clone, Copy)]
struct V1 {
    stream_id: StreamId,
    ticks: u64,
    clock_sequence: u16,
    node: [u8; 6],
}

impl V1 {
    const NONE: Self = Self { stream_id: StreamId::NONE, ticks: 0, clock_sequence: 0, node: [0; 6] };

    #[inline(always)]
    fn advance(&mut self, stream_id: StreamId, ms: i64, ticks: u64) {
        if self.stream_id.stream != stream_id.stream {
            self.clock_sequence = entropy::next_u128_rarely(ms) as u16;
        }
        if self.stream_id != stream_id {
            self.stream_id = stream_id;
            self.node = mac::random(ms);
        }
        if self.ticks < ticks {
            self.ticks = ticks;
        } else if self.ticks - ticks <= clock::LONGEST_HOLD_MS * TICKS_A_MS {
            self.ticks += 1;
        } else {
            // The clock had been wrong. The sequence tells apart counts that come again; it wraps, so if no node was
            // given, a new one is drawn as well.
            self.ticks = ticks;
            self.clock_sequence = self.clock_sequence.wrapping_add(1);
            self.node = mac::random(ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Numbers;
    use crate::formats::table::UUID_V6;
    use std::thread;
    use std::time::Duration;

    /// The sample of RFC 9562, and the last 100 ns of its millisecond.
    #[test]
    fn all_of_version_6_in_a_millisecond_is_between_its_bounds() {
        const MS: i64 = 1_645_557_742_000;
        let [first, last] = UUID_V6.bounds(MS..=MS, &Numbers::UNKNOWN).unwrap();
        for text in ["1ec9414c-232a-6b00-b3c8-9f6bdeced846", "1ec9414c-232d-620f-b3c8-9f6bdeced846"] {
            assert_eq!(UUID_V6.ms(text.as_bytes(), &Numbers::UNKNOWN), Some(MS));
            assert!((first.as_str()..=last.as_str()).contains(&text), "{text}");
        }
        let next = "1ec9414c-232d-6210-b3c8-9f6bdeced846";
        assert!(UUID_V6.ms(next.as_bytes(), &Numbers::UNKNOWN) == Some(MS + 1) && next > last.as_str());
    }

    /// The clock sequence of a UUID of version 1 by a host that was given a node.
    fn clock_sequence_at(ms: i64) -> u16 {
        const NODE: [u8; 6] = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
        let [.., high, low, _, _, _, _, _, _] = v1_by(ms, Some(NODE)).into_bytes();
        u16::from_be_bytes([high, low]) & 0x3fff
    }

    #[test]
    fn threads_with_one_node_have_clock_sequences_of_their_own() {
        let sequence = || thread::spawn(|| clock_sequence_at(1_700_000_000_000)).join().unwrap();
        // Eight equal ones are 1 of 2^98.
        let first = sequence();
        assert!((0..7).any(|_| sequence() != first), "{first}");
    }

    #[test]
    fn only_a_clock_that_had_been_wrong_changes_the_clock_sequence() {
        const MS: i64 = 1_700_000_000_000;
        let first = clock_sequence_at(MS);
        // Fresh randomness is mixed in during this time.
        thread::sleep(Duration::from_millis(1100));
        assert_eq!(clock_sequence_at(MS + 1100), first);
        let second = clock_sequence_at(MS - 3_600_000);
        assert_eq!(second, (first + 1) & 0x3fff);
        thread::sleep(Duration::from_millis(1100));
        assert_eq!(clock_sequence_at(MS - 3_598_900), second);
    }
}
