//! The 128-bit flake: `| ms : 64 | node : 48 | sequence : 16 |` in base62.

use crate::maker::{Made, Make, Maker, Text};
use crate::source::entropy::{self, StreamId};
use crate::source::laps::{Position, Reading};
use crate::source::{clock, mac};
use crate::text::{base62, show_as_text};
use std::cell::Cell;

pub(crate) const MAKE: Make = Make {
    options: &["node"],
    ..Make::of(|options| {
        let node = options.node()?;
        let by = move |clock_ms, text: &mut Text| Ok(put(text, Flake::now_by(clock_ms, node)));
        Ok(Maker::writing(by).writing_at(move |ms, text| put(text, Flake::at(ms, node))))
    })
};

/// The number of sequence values: the sequence of a node repeats after this many flakes.
const SEQUENCE_VALUES: u32 = 1 << 16;

fn put(text: &mut Text, id: Flake) -> Made {
    Made::in_place(text, |place| id.write(place))
}

/// A flake. Its text sorts as the flakes do.
///
/// ```
/// use txid::Flake;
///
/// let (earlier, later) = (Flake::now(None), Flake::now(None));
/// assert!(earlier < later);
/// assert!(earlier.to_string() < later.to_string());
/// assert_eq!(earlier.to_string().len(), Flake::LEN);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flake(
    /// The 128 bits.
    pub u128,
);

impl Flake {
    /// The length of the text.
    pub const LEN: usize = base62::LEN_OF_128_BITS;

    /// A new flake of this moment. Without a `node`, each thread draws random nodes, and uses each for at most 65,536
    /// flakes or one second, so that no flake repeats. With a `node`, such as a MAC address, no two threads or
    /// processes may use the same one: nothing else in a flake tells them apart.
    ///
    /// ```
    /// let node = [0x02, 0x42, 0xac, 0x11, 0x00, 0x02];
    /// assert_eq!(txid::Flake::now(Some(node)).node(), node);
    /// ```
    pub fn now(node: Option<[u8; 6]>) -> Self {
        Self::now_by(clock::system_ms(), node)
    }

    /// As [`Flake::now`], where the clock reads `clock_ms`.
    ///
    /// ```
    /// assert_eq!(txid::Flake::now_by(1_700_000_000_000, None).timestamp_ms(), 1_700_000_000_000);
    /// ```
    pub fn now_by(clock_ms: i64, node: Option<[u8; 6]>) -> Self {
        let ms = clock::never_backwards(clock_ms);
        let mark = Mark::next(ms, Some(ms));
        Self::new(mark.position.ms(), node.unwrap_or(mark.node), mark.position.number())
    }

    /// A new flake stamped with exactly `ms`, in two's complement. With a `node`, the sequence wraps after 65,536
    /// flakes of the thread, whatever their stamps: make at most that many between two flakes with the same stamp.
    ///
    /// ```
    /// assert_eq!(txid::Flake::at(1_522_545_688_552, None).timestamp_ms(), 1_522_545_688_552);
    /// ```
    pub fn at(ms: i64, node: Option<[u8; 6]>) -> Self {
        let mark = Mark::next(ms, None);
        Self::new(ms as u64, node.unwrap_or(mark.node), mark.position.number())
    }

    fn new(ms: u64, node: [u8; 6], sequence: u16) -> Self {
        let node = node.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        Self(u128::from(ms) << 64 | u128::from(node << 16 | u64::from(sequence)))
    }

    /// Milliseconds since 1970-01-01 UTC, in two's complement.
    ///
    /// ```
    /// let flake: txid::Flake = "000001VKvYLi2kP2ENqkCH".parse()?;
    /// assert!(flake.timestamp_ms() < 1 << 42);
    /// # Ok::<(), txid::FormatError>(())
    /// ```
    pub fn timestamp_ms(self) -> i64 {
        (self.0 >> 64) as i64
    }

    /// The node that made it.
    ///
    /// ```
    /// assert_eq!(txid::Flake(0x0242_ac11_0002_0007).node(), [0x02, 0x42, 0xac, 0x11, 0x00, 0x02]);
    /// ```
    pub fn node(self) -> [u8; 6] {
        let [_, _, _, _, _, _, _, _, node @ .., _, _] = self.0.to_be_bytes();
        node
    }

    /// Its number among the flakes of its node.
    ///
    /// ```
    /// assert_eq!(txid::Flake(0x0242_ac11_0002_0007).sequence(), 7);
    /// ```
    pub fn sequence(self) -> u16 {
        self.0 as u16
    }

    /// The text, without allocating.
    ///
    /// ```
    /// assert_eq!(&txid::Flake(62).to_text(), b"0000000000000000000010");
    /// ```
    pub fn to_text(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        self.write(&mut text);
        text
    }

    /// Writes the text, without allocating.
    ///
    /// ```
    /// let mut text = [0; txid::Flake::LEN];
    /// txid::Flake(62).write(&mut text);
    /// assert_eq!(&text, b"0000000000000000000010");
    /// ```
    pub fn write(self, text: &mut [u8; Self::LEN]) {
        base62::encode_128_bits(self.0, text);
    }
}

/// A thread's random node, and the position in its sequence.
#[derive(Clone, Copy)]
struct Mark {
    stream_id: StreamId,
    node: [u8; 6],
    position: Position,
}

impl Mark {
    const NONE: Self = Self { stream_id: StreamId::NONE, node: [0; 6], position: Position::before(SEQUENCE_VALUES) };

    /// The next position; `now_ms` is the clock's reading, where the time is the clock's. Each lap has a node of its own,
    /// and so does each child.
    fn next(stamp_ms: i64, now_ms: Option<i64>) -> Self {
        thread_local! {
            static READING: Reading = const { Reading::none() };
            static MARK: Cell<Mark> = const { Cell::new(Mark::NONE) };
        }
        let stream_id = entropy::stream_id(stamp_ms);
        let had_been_wrong = now_ms.is_some_and(|now_ms| READING.with(|reading| reading.had_been_wrong(now_ms)));
        let mut mark = MARK.get();
        mark.advance(stream_id, stamp_ms, now_ms, had_been_wrong);
        MARK.set(mark);
        mark
    }

    fn advance(&mut self, stream_id: StreamId, stamp_ms: i64, now_ms: Option<i64>, had_been_wrong: bool) {
        let last_ms = self.position.ms() as i64;
        let mut now_ms = now_ms.unwrap_or(last_ms);
        if self.stream_id != stream_id && !had_been_wrong {
            // A new node may sort before the old one, so it begins with a new millisecond. The sequence continues,
            // because nothing changes for a given node.
            now_ms = now_ms.max(last_ms + 1);
        }
        self.position = self.position.next(SEQUENCE_VALUES, now_ms, had_been_wrong);
        if self.stream_id != stream_id || self.position.number() == 0 {
            self.stream_id = stream_id;
            self.node = mac::random(stamp_ms);
        }
    }
}

show_as_text!(Flake);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_node_begins_with_another_millisecond() {
        let mut mark = Mark::NONE;
        let mut next = |reseeds, now_ms, had_been_wrong| {
            mark.advance(StreamId { stream: 1, reseeds }, 0, Some(now_ms), had_been_wrong);
            (mark.position.ms(), mark.position.number(), mark.node)
        };
        let (first, second) = (next(0, 1000, false), next(0, 1000, false));
        assert_eq!((first.0, first.1), (1000, 0));
        assert_eq!(second, (1000, 1, first.2));
        let renewed = next(1, 1000, false);
        assert_eq!((renewed.0, renewed.1), (1001, 2));
        assert_ne!(renewed.2, first.2);
        assert_eq!(next(2, -50_000_000, true).0, (1 << 48) - 50_000_000);
    }
}
