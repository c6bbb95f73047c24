//! The random words of each thread.
//!
//! Each thread has a stream: a key from the system, and a [`Batch`] of words that ChaCha8 makes from it. A draw takes the
//! next word of the batch, and erases it there. What else there is to it:
//!
//! - **Time.** A draw that finds no word looks at the clock, makes a new key and words from the old key and the
//!   nanoseconds, and so forgets what the old ones were. Draws that come faster than once in a millisecond get a whole
//!   batch, others only their own words. When a second has passed since the last fresh randomness, it mixes in more. So
//!   two copies of a running machine have words in common until the batch is empty, which is at most 59 words, or until
//!   an id has the stamp of another second.
//! - **Children.** The key and the words are in a WIPEONFORK page (Linux 4.14), which is zero in every child, however it
//!   was made. The child finds zeros, which are a stream that was never seeded, and so asks the
//!   system. Of what its parent's ids are made from, it has what the stack it copied still held.
//! - **Children elsewhere.** Where the kernel does not wipe, the stream is beside the page's address. No words are made
//!   ahead, and each draw compares the process id with that of the process that seeded it.
//! - **A system without randomness.** The seed is then of the clock, the process and the address space, and
//!   [`entropy_degraded`] says so until the system has given some.
//!
//! Formats that keep something between two ids, such as a node or a count, keep the [`StreamId`] with it, and begin anew
//! when that is another one: in a child, and when fresh randomness was mixed in.
//!
//! Nothing here allocates or takes a lock, so a child may draw whatever other threads of its parent were doing. A signal
//! handler must not draw: it may have interrupted a draw.
//!
//! [`strong_u64`] draws from no stream. It asks the system each time, because a stored word would be in a copy of the
//! machine. What the vDSO stores, the kernel drops then.

use super::batch::{self, Batch};
use super::memory;
use super::pid::pid;
use super::{clock, system, vdso};
use std::array;
use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

const RESEED_AFTER_MS: u64 = 1000;

/// Two looks at the clock this close are a burst, in which a look makes a whole batch. Otherwise it makes the words of one
/// draw.
const BURST_NS: u64 = NS_A_MS;

const NS_A_MS: u64 = 1_000_000;

/// The stream of one thread or of one series.
pub(crate) struct Stream {
    /// In a WIPEONFORK page. Null before the first draw, where there is no such page, and at the end
    /// of the thread.
    wiped: AtomicPtr<Source>,
    is_begun: Cell<bool>,
    /// In place of the page.
    own: UnsafeCell<Source>,
}

/// What draws come from. Zeros are one that was never seeded.
struct Source {
    batch: Batch,
    stream_id: StreamId,
    /// The process that seeded it.
    pid: u32,
    seeded_at_ns: u64,
    /// The stamp at the moment of seeding. A stamp a second or more away from it means that it is time to read the
    /// clock.
    seeded_at_stamp: i64,
    looked_at_ns: u64,
}

/// Identifies what a thread's randomness comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamId {
    /// A random number of the stream: parent and child have different ones.
    pub(crate) stream: u64,
    /// Grows whenever fresh randomness is mixed in, where two copies of a machine may diverge.
    pub(crate) reseeds: u64,
}

impl StreamId {
    /// The id of no stream.
    pub(crate) const NONE: Self = Self { stream: 0, reseeds: u64::MAX };
}

thread_local! {
    static STREAM: Stream = const { Stream::unseeded() };
    static DEGRADED: Cell<bool> = const { Cell::new(false) };
    static AT_THE_END: AtTheEnd = const { AtTheEnd };
}

/// Gives the page of a thread's stream back.
struct AtTheEnd;

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        STREAM.with(Stream::end);
    }
}

/// Whether this thread's ids are made without the OS's randomness, because the OS failed to give any when last asked.
///
/// ```
/// txid::Txid::now();
/// assert!(!txid::entropy_degraded());
/// ```
pub fn entropy_degraded() -> bool {
    DEGRADED.get()
}

/// 64 random bits for an id stamped `stamp_ms`.
///
/// The stamp is usually the time, so it shows when a second has passed without reading the clock. A caller may stamp
/// any time, so the clock is read as well, but less often while draws come faster than it ticks.
#[inline(always)]
pub(crate) fn next_u64(stamp_ms: i64) -> u64 {
    let (_, [word]) = draw(Some(stamp_ms));
    word
}

/// As [`next_u64`], 128 bits for one id. All that an id needs is drawn at once: two draws would pass for a burst.
#[inline(always)]
pub(crate) fn next_u128(stamp_ms: i64) -> u128 {
    let (_, bits) = next_u128_of_stream(stamp_ms);
    bits
}

/// 128 random bits, and the id of the stream that they come from.
#[inline(always)]
pub(crate) fn next_u128_of_stream(stamp_ms: i64) -> (StreamId, u128) {
    let (stream_id, words) = draw(Some(stamp_ms));
    (stream_id, wide(words))
}

/// As [`next_u128`], for what several ids share.
#[cold]
#[inline(never)]
pub(crate) fn next_u128_rarely(stamp_ms: i64) -> u128 {
    next_u128(stamp_ms)
}

/// Several words of 64 random bits, for ids without a time that are made together.
#[inline]
pub(crate) fn next_words_without_stamp<const COUNT: usize>() -> [u64; COUNT] {
    let (_, words) = draw(None);
    words
}

/// 128 random bits for an id without a time.
#[inline]
pub(crate) fn next_u128_without_stamp() -> u128 {
    wide(next_words_without_stamp())
}

/// 64 random bits for an id without a time.
#[inline(never)]
pub(crate) fn next_u64_without_stamp() -> u64 {
    let [word] = next_words_without_stamp();
    word
}

#[inline(always)]
fn wide([high, low]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// 64 bits of the OS's own randomness; if the OS has none, `Err` with 64 other bits, for an id stamped `stamp_ms`.
#[inline]
pub(crate) fn strong_u64(stamp_ms: i64) -> Result<u64, u64> {
    strong().map(|[word]| word).ok_or_else(|| next_u64(stamp_ms))
}

/// As [`strong_u64`], 128 bits for an id without a time.
#[inline]
pub(crate) fn strong_u128_without_stamp() -> Result<u128, u128> {
    strong().map(wide).ok_or_else(next_u128_without_stamp)
}

/// From the vDSO, without a system call, if it can. Not for seeds, which are too rare to be worth it, and must differ in two
/// copies of a process on one kernel.
#[inline(always)]
fn strong<const COUNT: usize>() -> Option<[u64; COUNT]> {
    let mut words = [0; COUNT];
    // SAFETY: as many bytes, and any bytes are words.
    let bytes = unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(&words)) };
    if vdso::fill(bytes) {
        DEGRADED.set(false);
        return Some(words);
    }
    ask_the_os(bytes).then_some(words)
}

/// Bytes of the OS's own randomness; None if the OS has none.
#[cold]
pub(crate) fn system_bytes<const COUNT: usize>() -> Option<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    ask_the_os(&mut bytes).then_some(bytes)
}

/// The id of the stream that an id stamped `stamp_ms` belongs to. It takes a word, so that the clock is looked at.
#[inline(always)]
pub(crate) fn stream_id(stamp_ms: i64) -> StreamId {
    let (stream_id, [_]) = draw(Some(stamp_ms));
    stream_id
}

#[inline(always)]
fn draw<const COUNT: usize>(stamp_ms: Option<i64>) -> (StreamId, [u64; COUNT]) {
    STREAM.with(|stream| stream.draw_quickly(stamp_ms)).unwrap_or_else(|| draw_slowly(stamp_ms))
}

#[cold]
#[inline(never)]
fn draw_slowly<const COUNT: usize>(stamp_ms: Option<i64>) -> (StreamId, [u64; COUNT]) {
    STREAM.with(|stream| stream.draw_slowly(stamp_ms))
}

impl Stream {
    pub(crate) const fn unseeded() -> Self {
        let own = UnsafeCell::new(Source::UNSEEDED);
        Self { wiped: AtomicPtr::new(ptr::null_mut()), is_begun: Cell::new(false), own }
    }

    /// Gives its page back. What is drawn later needs a look at the clock each time.
    pub(crate) fn end(&self) {
        self.is_begun.set(true);
        if let Some(page) = NonNull::new(self.wiped.swap(ptr::null_mut(), Ordering::Relaxed)) {
            // SAFETY: from `memory::map_wiped`, and nobody else has its address.
            unsafe { memory::unmap(page) };
        }
    }

    /// 64 random bits for an id stamped `stamp_ms`, if there is no need to look at the clock.
    #[inline(always)]
    pub(crate) fn next_quickly(&self, stamp_ms: i64) -> Option<u64> {
        self.draw_quickly(Some(stamp_ms)).map(|(_, [word])| word)
    }

    /// 64 random bits, after a look at the clock.
    pub(crate) fn next_slowly(&self, stamp_ms: i64) -> u64 {
        let (_, [word]) = self.draw_slowly(Some(stamp_ms));
        word
    }

    /// Draws if there is no need to look at the clock.
    #[inline(always)]
    fn draw_quickly<const COUNT: usize>(&self, stamp_ms: Option<i64>) -> Option<(StreamId, [u64; COUNT])> {
        // SAFETY: here and below, no other reference is there: none leaves its function, and what these call does not draw.
        let source = unsafe { &mut *self.source() };
        if !source.is_expected(stamp_ms) {
            return None;
        }
        let words = source.batch.take()?;
        Some((source.stream_id, words))
    }

    /// Draws after a look at the clock.
    fn draw_slowly<const COUNT: usize>(&self, stamp_ms: Option<i64>) -> (StreamId, [u64; COUNT]) {
        if !self.is_begun.replace(true) {
            // Has no effect if the thread ends already.
            _ = AT_THE_END.try_with(|_| ());
            self.wiped.store(memory::map_wiped().map_or(ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
        }
        let is_wiped = !self.wiped.load(Ordering::Relaxed).is_null();
        loop {
            // SAFETY: as above.
            unsafe { &mut *self.source() }.look_at_the_clock(stamp_ms, is_wiped, COUNT);
            if let Some(drawn) = self.draw_quickly(stamp_ms) {
                return drawn;
            }
        }
    }

    #[inline(always)]
    fn source(&self) -> *mut Source {
        let wiped = self.wiped.load(Ordering::Relaxed);
        if wiped.is_null() { self.own.get() } else { wiped }
    }
}

impl Source {
    const UNSEEDED: Self = Self {
        batch: Batch::EMPTY,
        stream_id: StreamId { stream: 0, reseeds: 0 },
        pid: 0,
        seeded_at_ns: 0,
        seeded_at_stamp: 0,
        looked_at_ns: 0,
    };

    /// Whether the stamp shows that less than a second has passed since the seeding.
    #[inline(always)]
    fn is_expected(&self, stamp_ms: Option<i64>) -> bool {
        let since_seeding = stamp_ms.map_or(0, |stamp_ms| stamp_ms.wrapping_sub(self.seeded_at_stamp) as u64);
        since_seeding < RESEED_AFTER_MS
    }

    /// Makes at least `count` words. If nothing `is_wiped` in children, it makes no others, so that each draw comes here.
    #[inline(never)]
    fn look_at_the_clock(&mut self, stamp_ms: Option<i64>, is_wiped: bool, count: usize) {
        let now_ns = clock::uptime_ns();
        // A process that was restored on another machine may find this clock further back: the differences are then huge.
        let mut age_ms = now_ns.wrapping_sub(self.seeded_at_ns) / NS_A_MS;
        let is_expected = self.is_expected(stamp_ms);
        let is_seeded = self.pid != 0 && (is_wiped || self.pid == pid());
        if !is_seeded || age_ms >= RESEED_AFTER_MS {
            self.batch.mix(fresh_seed(now_ns));
            self.seeded_at_ns = now_ns;
            self.stream_id.reseeds += 1;
            age_ms = 0;
        }
        if !is_seeded {
            self.begin(now_ns);
        }
        if let Some(stamp_ms) = stamp_ms {
            self.seeded_at_stamp = stamp_ms.wrapping_sub(age_ms as i64);
        }
        let is_burst = now_ns.wrapping_sub(self.looked_at_ns) < BURST_NS;
        self.looked_at_ns = now_ns;
        // A stamp that was not expected may be followed by others, which would take one word of each batch.
        self.batch.renew(now_ns, if is_burst && is_expected && is_wiped { batch::WORDS } else { count });
    }

    /// A new stream: its first word is its number.
    #[cold]
    fn begin(&mut self, now_ns: u64) {
        self.batch.renew(now_ns, 1);
        let [stream] = self.batch.take().unwrap_or_default();
        self.stream_id = StreamId { stream, reseeds: 0 };
        self.pid = pid();
    }
}

/// Process id and nanoseconds are in each seed, so that it differs from others even if what the OS gives does not.
fn fresh_seed(now_ns: u64) -> [u64; 4] {
    let mut bytes = [0; 32];
    let mut seed = if ask_the_os(&mut bytes) {
        array::from_fn(|word| u64::from_le_bytes(array::from_fn(|byte| bytes[8 * word + byte])))
    } else {
        system::noise()
    };
    seed[0] ^= now_ns;
    seed[1] ^= u64::from(pid());
    seed
}

/// Fills `bytes` with the OS's randomness. Returns whether that worked.
fn ask_the_os(bytes: &mut [u8]) -> bool {
    let given = system::fill(bytes);
    DEGRADED.set(!given);
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this thread draws from.
    fn source() -> &'static mut Source {
        // SAFETY: it is there until the thread ends, and a test has one reference at a time.
        STREAM.with(|stream| unsafe { &mut *stream.source() })
    }

    /// The next draw looks at the clock.
    fn drop_words() {
        while source().batch.take::<1>().is_some() {}
    }

    fn numbers(count: usize) -> Vec<u64> {
        (0..count).map(|_| next_u64(0)).collect()
    }

    #[test]
    fn copies_of_a_machine_part_at_the_first_look_at_the_clock() {
        let mut longest = 0;
        for before in 0..100 {
            // A copy in the middle of a burst, anywhere between two readings of the clock.
            numbers(100 + before);
            // SAFETY: plain data.
            let snapshot = unsafe { ptr::read(source()) };
            let original = numbers(100);
            *source() = snapshot;
            let copy = numbers(100);
            let parted = original.iter().zip(&copy).position(|(one, other)| one != other).unwrap();
            assert!(parted < batch::WORDS, "{parted} numbers are the same");
            assert!(!original[parted..].iter().any(|number| copy[parted..].contains(number)));
            longest = longest.max(parted);
        }
        assert!(longest > 0, "they were one stream");
    }

    #[test]
    fn a_copy_gets_fresh_randomness_when_a_second_is_over() {
        numbers(1);
        let before = stream_id(0);
        let age = |ns: u64| source().seeded_at_ns = clock::uptime_ns() - ns;
        let after_a_burst = || {
            numbers(batch::WORDS + 1);
            stream_id(0)
        };
        age(0);
        assert!(after_a_burst() == before);
        let ahead_ns = 3_600_000_000_000;
        source().seeded_at_ns = clock::uptime_ns() + ahead_ns;
        assert!(
            after_a_burst() == StreamId { reseeds: before.reseeds + 1, ..before },
            "restored where the clock is behind"
        );
        let before = stream_id(0);
        age(RESEED_AFTER_MS * NS_A_MS);
        assert!(after_a_burst() == StreamId { reseeds: before.reseeds + 1, ..before });
        assert!(stream_id(RESEED_AFTER_MS as i64) == StreamId { reseeds: before.reseeds + 1, ..before });
    }

    #[test]
    fn a_stamp_counts_from_the_moment_of_seeding() {
        numbers(1);
        let looks_at = |stamp_ms: i64, aged_ms: u64| {
            source().seeded_at_ns = clock::uptime_ns() - aged_ms * NS_A_MS;
            drop_words();
            next_u64(stamp_ms);
            source().seeded_at_stamp
        };
        // A test that was held up for a while has a stream that is older.
        let seeded_at = looks_at(1_000_000, 400);
        assert!((999_001..=999_600).contains(&seeded_at), "{seeded_at}");
        assert_eq!(looks_at(2_000_000, RESEED_AFTER_MS), 2_000_000);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_has_nothing_that_its_parents_ids_are_made_from() {
        numbers(100);
        if STREAM.with(|stream| stream.wiped.load(Ordering::Relaxed)).is_null() {
            return test_helpers::skipped("this kernel does not wipe memory in children");
        }
        let bytes = || {
            // SAFETY: as many bytes, all of them written.
            unsafe { slice::from_raw_parts(ptr::from_ref(source()).cast::<u8>(), size_of::<Source>()) }
        };
        assert!(bytes().iter().filter(|&&byte| byte != 0).count() > 32);
        // SAFETY: the child calls nothing that takes a lock, and ends without what belongs to its parent.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(bytes().iter().any(|&byte| byte != 0))) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { (libc::waitpid(pid, &mut status, 0), status) }, (pid, 0));
    }

    #[test]
    fn a_whole_batch_is_made_in_a_burst_alone() {
        numbers(1);
        let left_after_a_look = |ns_since_the_last: u64, stamp_ms| {
            source().looked_at_ns = clock::uptime_ns() - ns_since_the_last;
            drop_words();
            next_u64(stamp_ms);
            source().batch.left()
        };
        assert_eq!((0..100).map(|_| left_after_a_look(0, 0)).max(), Some(batch::WORDS - 1));
        assert_eq!(left_after_a_look(BURST_NS, 0), 0);
        // Nor for stamps of any time.
        assert_eq!((1..100).map(|stamp_s| left_after_a_look(0, stamp_s * 1000)).max(), Some(0));
    }

    /// How many of 400 calls, two milliseconds apart, look at the clock, when no words are left.
    fn looks_of(make: impl Fn()) -> usize {
        numbers(1);
        drop_words();
        looks(400, make)
    }

    /// How many of these calls, two milliseconds apart, look at the clock.
    fn looks(calls: usize, make: impl Fn()) -> usize {
        let looks = |_: &usize| {
            let before = clock::uptime_ns() - 2 * NS_A_MS;
            source().looked_at_ns = before;
            make();
            source().looked_at_ns != before
        };
        (0..calls).filter(looks).count()
    }

    #[test]
    fn what_a_burst_has_made_ahead_is_taken_without_a_look_at_the_clock() {
        let burst = || {
            drop_words();
            while source().batch.left() < 10 {
                numbers(1);
            }
            source().batch.left()
        };
        // Ids with a time, unless that is a second later.
        assert_eq!(looks(burst() + 10, || _ = next_u64(0)), 10);
        burst();
        assert_eq!(looks(1, || _ = next_u64(RESEED_AFTER_MS as i64)), 1);
        // Those without one, however late it is.
        let pairs = burst() / 2;
        source().seeded_at_ns = clock::uptime_ns() - 10 * RESEED_AFTER_MS * NS_A_MS;
        assert_eq!(looks(pairs + 10, || _ = crate::uuid::v4()), 10);
    }

    #[test]
    fn where_no_words_are_left_each_id_looks_at_the_clock() {
        let names = "txid uuid_v4 uuid_v7 ksuid ulid trace_id otel_trace_id traceparent";
        for name in names.split(' ') {
            let maker = crate::Maker::builder(name).build().unwrap();
            let ms = Cell::new(1_700_000_000_000);
            let looks = looks_of(|| {
                ms.set(ms.get() + 2);
                maker.write_by(ms.get(), &mut [0; crate::Maker::MAX_LEN]).unwrap();
            });
            assert_eq!(looks, 400, "{name}");
        }
        assert_eq!(looks_of(|| _ = next_u128_rarely(0)), 400);
        assert_eq!(looks_of(|| _ = crate::trace::span_id()), 400);
        assert_eq!(looks_of(|| _ = crate::trace::otel_ids()), 400);
    }

    #[test]
    fn no_two_words_of_a_seed_share_bytes() {
        let seed = fresh_seed(0).map(u64::to_le_bytes);
        assert!(seed.windows(2).all(|words| words[0][1..] != words[1][..7]), "{seed:?}");
    }
}
