//! A generator of txids other than the thread's.

use crate::make::txid::Txid;
use crate::source::{clock, entropy::Stream};
use std::cell::Cell;

/// Makes txids with randomness and a last time of its own, instead of the thread's: for programs with one thread
/// in which thread-locals are slow, such as nginx modules. After a fork, parent and child continue differently, as with
/// the thread's.
///
/// ```
/// let generator = txid::LocalGenerator::new();
/// let (mut first, mut second) = ([0; txid::Txid::LEN], [0; txid::Txid::LEN]);
/// generator.write_by(655_829_050_000, &mut first);
/// generator.write_by(655_829_050_000, &mut second);
/// assert_ne!(first, second);
/// assert_eq!(txid::Txid::from_text(&first)?.timestamp_ms(), 655_829_050_000);
/// # Ok::<(), txid::FormatError>(())
/// ```
pub struct LocalGenerator {
    stream: Stream,
    last_ms: Cell<i64>,
}

impl LocalGenerator {
    /// A generator without any ids yet.
    pub const fn new() -> Self {
        Self { stream: Stream::unseeded(), last_ms: Cell::new(i64::MIN) }
    }

    /// Writes a new id of this moment, where the clock reads `clock_ms`, as [`Txid::now_by`] does.
    pub fn write_by(&self, clock_ms: i64, text: &mut [u8; Txid::LEN]) {
        let ms = clock::hold(self.last_ms.get(), clock_ms);
        self.last_ms.set(ms);
        match self.stream.next_quickly(ms) {
            Some(bits) => *text = Txid::of(ms, bits).to_text(),
            None => self.write_slowly(ms, text),
        }
    }

    /// The slow path of [`LocalGenerator::write_by`]: its only call, so that the fast path need not save registers.
    #[cold]
    fn write_slowly(&self, ms: i64, text: &mut [u8; Txid::LEN]) {
        *text = Txid::of(ms, self.stream.next_slowly(ms)).to_text();
    }
}

impl Drop for LocalGenerator {
    fn drop(&mut self) {
        self.stream.end();
    }
}

impl Default for LocalGenerator {
    fn default() -> Self {
        Self::new()
    }
}
