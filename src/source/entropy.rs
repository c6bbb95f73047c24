//! The generator of each thread, which is safe in forks and signals. Only this file and `vdso.rs` ask the OS for randomness.
//!
//! A child process seeds its stream (xoshiro256++) anew. While a stream is in use, a signal handler gets a generator of
//! its own. If the handler forks, the draw is not used in the child. For copies of a machine's memory, each look at the
//! clock mixes in its nanoseconds, and each second of use fresh randomness.

use super::xoshiro::Xoshiro;
use super::{cancellation, clock, generation, vdso};
use std::array;
use std::cell::{Cell, UnsafeCell};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

const RESEED_AFTER_MS: u64 = 1000;

/// In a burst, the clock is read once in this many draws; otherwise at every draw. Two readings this close are a burst.
const DRAWS_A_LOOK_IN_A_BURST: u32 = 64;
const BURST_NS: u64 = NS_A_MS;

const NS_A_MS: u64 = 1_000_000;

/// Stands in for a generation's number while the stream is in use by code that a signal interrupted.
const IN_USE: u64 = u64::MAX;

/// The stream of one thread or of one series.
pub(crate) struct Stream {
    /// The generation of the process that seeded it.
    generation: Cell<u64>,
    seeded_at_ns: Cell<u64>,
    /// The stamp at the moment of seeding. A stamp a second or more away from it means that it is time to read the
    /// clock.
    seeded_at_stamp: Cell<i64>,
    looked_at_ns: Cell<u64>,
    draws_before_look: Cell<u32>,
    /// Only touched by the call that marked the stream as in use.
    source: UnsafeCell<Source>,
}

/// The generator that draws come from.
struct Source {
    rng: Xoshiro,
    stream_id: StreamId,
}

/// Identifies the source of a thread's randomness. What a format keeps between ids belongs to one stream; after a fork,
/// parent and child have different ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamId {
    /// Stays the same until the stream is seeded anew.
    pub(crate) stream: u64,
    /// Grows whenever fresh randomness is mixed in, because that may be the point where two copies of a machine
    /// diverge.
    pub(crate) reseeds: u64,
}

impl StreamId {
    /// The id of no stream.
    pub(crate) const NONE: Self = Self { stream: 0, reseeds: u64::MAX };
}

thread_local! {
    static STREAM: Stream = const { Stream::unseeded() };
    static DEGRADED: Cell<bool> = const { Cell::new(false) };
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
    draw(Some(stamp_ms), |source| source.rng.next())
}

/// As [`next_u64`], with the id of the stream that they come from.
#[inline(always)]
pub(crate) fn next_u64_of_stream(stamp_ms: i64) -> (StreamId, u64) {
    draw(Some(stamp_ms), |source| (source.stream_id, source.rng.next()))
}

/// 128 random bits that several ids share, the first of them stamped `stamp_ms`.
#[cold]
#[inline(never)]
pub(crate) fn next_u128(stamp_ms: i64) -> u128 {
    u128::from(next_u64(stamp_ms)) << 64 | u128::from(next_u64(stamp_ms))
}

/// As [`next_u64`], 128 bits for one id.
#[inline(always)]
pub(crate) fn next_wide(stamp_ms: i64) -> u128 {
    draw(Some(stamp_ms), |source| u128::from(source.rng.next()) << 64 | u128::from(source.rng.next()))
}

/// Several words of 64 random bits, for ids without a time that are made together.
#[inline]
pub(crate) fn next_words_without_stamp<const COUNT: usize>() -> [u64; COUNT] {
    draw(None, |source| array::from_fn(|_| source.rng.next()))
}

/// 64 random bits for an id without a time.
#[inline(never)]
pub(crate) fn next_u64_without_stamp() -> u64 {
    let [word] = next_words_without_stamp();
    word
}

/// 64 bits of the OS's own randomness; if the OS has none, `Err` with 64 other bits, for an id stamped `stamp_ms`. They
/// are requested when they are needed: stored bits would also be in a copy of the memory. What the vDSO stores, the
/// kernel makes invalid when the machine was copied.
#[inline]
pub(crate) fn strong_u64(stamp_ms: i64) -> Result<u64, u64> {
    strong().map(u64::from_le_bytes).ok_or_else(|| next_u64(stamp_ms))
}

/// As [`strong_u64`], 128 bits for an id without a time.
#[inline]
pub(crate) fn strong_u128_without_stamp() -> Result<u128, u128> {
    strong().map(u128::from_le_bytes).ok_or_else(|| {
        let [high, low] = next_words_without_stamp();
        u128::from(high) << 64 | u128::from(low)
    })
}

#[inline(always)]
fn strong<const LEN: usize>() -> Option<[u8; LEN]> {
    let mut bytes = [0; LEN];
    (ask_the_vdso(&mut bytes) || ask_the_os(&mut bytes)).then_some(bytes)
}

/// Bytes of the OS's own randomness; None if the OS has none.
#[cold]
pub(crate) fn system_bytes<const COUNT: usize>() -> Option<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    ask_the_os(&mut bytes).then_some(bytes)
}

/// The id of the stream that an id stamped `stamp_ms`.
#[inline(always)]
pub(crate) fn stream_id(stamp_ms: i64) -> StreamId {
    draw(Some(stamp_ms), |source| source.stream_id)
}

#[inline(always)]
fn draw<T>(stamp_ms: Option<i64>, take: impl Fn(&mut Source) -> T) -> T {
    STREAM.with(|stream| match stream.draw_quickly(stamp_ms, &take) {
        Ok(drawn) => drawn,
        Err(seeded_in) => look_at_the_clock_and_draw(stream, seeded_in, stamp_ms, take),
    })
}

#[cold]
#[inline(never)]
fn look_at_the_clock_and_draw<T>(
    stream: &Stream,
    seeded_in: u64,
    stamp_ms: Option<i64>,
    take: impl Fn(&mut Source) -> T,
) -> T {
    let mut drawn = None;
    stream.with_a_look_at_the_clock(seeded_in, stamp_ms, &mut |source| drawn = Some(take(source)));
    let Some(drawn) = drawn else { unreachable!("each look ends with a draw") };
    drawn
}

impl Stream {
    pub(crate) const fn unseeded() -> Self {
        Self {
            generation: Cell::new(generation::NONE),
            seeded_at_ns: Cell::new(0),
            seeded_at_stamp: Cell::new(0),
            looked_at_ns: Cell::new(0),
            draws_before_look: Cell::new(0),
            source: UnsafeCell::new(Source::UNSEEDED),
        }
    }

    /// 64 random bits for an id stamped `stamp_ms`; or the argument of [`Stream::next_slowly`], to call
    /// instead.
    #[inline(always)]
    pub(crate) fn next_quickly(&self, stamp_ms: i64) -> Result<u64, u64> {
        // SAFETY: a stream is only drawn from without a look at the clock after an earlier look has seeded it.
        self.draw_quickly(Some(stamp_ms), &|source| unsafe { source.rng.next_seeded() })
    }

    /// The rest of [`Stream::next_quickly`], after that has failed.
    #[inline(always)]
    pub(crate) fn next_slowly(&self, seeded_in: u64, stamp_ms: i64) -> u64 {
        look_at_the_clock_and_draw(self, seeded_in, Some(stamp_ms), |source| source.rng.next())
    }

    /// Draws if there is no need to look at the clock. If there is, leaves the stream marked as in use, and returns the
    /// mark it had.
    #[inline(always)]
    fn draw_quickly<T>(&self, stamp_ms: Option<i64>, take: &impl Fn(&mut Source) -> T) -> Result<T, u64> {
        let seeded_in = self.generation.replace(IN_USE);
        compiler_fence(Ordering::SeqCst);
        if seeded_in == generation::read() && self.is_fresh(stamp_ms) {
            // SAFETY: this call alone uses the stream, and it is seeded.
            let drawn = take(unsafe { self.source() });
            compiler_fence(Ordering::SeqCst);
            if seeded_in == generation::read() {
                self.generation.set(seeded_in);
                return Ok(drawn);
            }
        }
        Err(seeded_in)
    }

    /// Calls `draw` with the source, perhaps several times: the last time counts.
    #[inline(never)]
    fn with_a_look_at_the_clock(&self, mut seeded_in: u64, stamp_ms: Option<i64>, draw: &mut dyn FnMut(&mut Source)) {
        if seeded_in == IN_USE {
            let mut of_its_own = Source::UNSEEDED;
            of_its_own.seed();
            return draw(&mut of_its_own);
        }
        loop {
            let generation = generation::get();
            // SAFETY: the stream was not in use, and `draw_quickly` has marked it for this call alone.
            let source = unsafe { self.source() };
            self.look_at_the_clock(stamp_ms, source, seeded_in == generation);
            draw(source);
            compiler_fence(Ordering::SeqCst);
            if generation == generation::get() {
                self.generation.set(generation);
                return;
            }
            seeded_in = generation::NONE;
        }
    }

    /// The generator that draws come from.
    ///
    /// # Safety
    ///
    /// The caller has marked the stream as in use, and has no other reference to it.
    #[allow(clippy::mut_from_ref, reason = "the mark ensures that there is only one at a time")]
    #[inline(always)]
    unsafe fn source(&self) -> &mut Source {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.source.get() }
    }

    /// Whether the stream may be drawn from without reading the clock. If so, this uses up one of the draws before the
    /// next reading.
    #[inline(always)]
    fn is_fresh(&self, stamp_ms: Option<i64>) -> bool {
        let since_seeding = stamp_ms.map_or(0, |stamp_ms| stamp_ms.wrapping_sub(self.seeded_at_stamp.get()) as u64);
        let draws = self.draws_before_look.get();
        self.draws_before_look.set(draws.wrapping_sub(1));
        draws > 0 && since_seeding < RESEED_AFTER_MS
    }

    #[inline(never)]
    fn look_at_the_clock(&self, stamp_ms: Option<i64>, source: &mut Source, is_seeded: bool) {
        let now_ns = clock::uptime_ns();
        // A process that was restored on another machine may find this clock further back: the differences are then huge.
        let mut age_ms = now_ns.wrapping_sub(self.seeded_at_ns.get()) / NS_A_MS;
        if !is_seeded || age_ms >= RESEED_AFTER_MS {
            if is_seeded {
                source.reseed()
            } else {
                source.seed()
            }
            self.seeded_at_ns.set(now_ns);
            age_ms = 0;
        } else {
            source.rng.mix([now_ns, 0, 0, 0]);
        }
        if let Some(stamp_ms) = stamp_ms {
            self.seeded_at_stamp.set(stamp_ms.wrapping_sub(age_ms as i64));
        }
        let is_burst = now_ns.wrapping_sub(self.looked_at_ns.replace(now_ns)) < BURST_NS;
        self.draws_before_look.set(if is_burst { DRAWS_A_LOOK_IN_A_BURST - 1 } else { 0 });
    }
}

impl Source {
    const UNSEEDED: Self = Self { rng: Xoshiro::UNSEEDED, stream_id: StreamId::NONE };

    /// Keeps the inherited state in a child: it is never used before fresh randomness is mixed in.
    fn seed(&mut self) {
        self.rng.mix(fresh_seed());
        self.stream_id = StreamId { stream: self.rng.next(), reseeds: 0 };
    }

    fn reseed(&mut self) {
        self.rng.mix(fresh_seed());
        self.stream_id.reseeds += 1;
    }
}

fn fresh_seed() -> [u64; 4] {
    let mut seed = [0; 32];
    if !ask_the_os(&mut seed) {
        return noise();
    }
    array::from_fn(|word| u64::from_le_bytes(array::from_fn(|byte| seed[8 * word + byte])))
}

/// Fills `bytes` with the OS's randomness, without a system call. Returns whether that worked. Not for seeds, which are
/// too rare to be worth it, and must differ in two copies of a process on one kernel.
fn ask_the_vdso(bytes: &mut [u8]) -> bool {
    let given = vdso::fill(bytes);
    if given {
        DEGRADED.set(false);
    }
    given
}

/// Fills `bytes` with the OS's randomness. Returns whether that worked.
fn ask_the_os(bytes: &mut [u8]) -> bool {
    // /dev/urandom is for sandboxes that forbid the system call.
    let given = cancellation::held_up(|| getrandom::fill(bytes).is_ok() || read_urandom(bytes).is_ok());
    DEGRADED.set(!given);
    given
}

#[cold]
#[inline(never)]
fn read_urandom(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// Differs between any two processes and any two moments, for when the OS has no randomness.
fn noise() -> [u64; 4] {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let on_the_stack = 0_u8;
    let mut hasher = DefaultHasher::new();
    clock::system_ms().hash(&mut hasher);
    std::process::id().hash(&mut hasher);
    CALLS.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    (&raw const on_the_stack).hash(&mut hasher);
    (noise as fn() -> [u64; 4]).hash(&mut hasher);
    array::from_fn(|_| {
        clock::uptime_ns().hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;
    use std::ptr;

    /// This thread's stream as it is now, for a simulated copy of the machine.
    struct Snapshot(MaybeUninit<Stream>);

    impl Snapshot {
        fn take() -> Self {
            let mut bytes = MaybeUninit::uninit();
            // SAFETY: both are whole streams, which are plain data.
            STREAM.with(|stream| unsafe { ptr::copy_nonoverlapping(stream, bytes.as_mut_ptr(), 1) });
            Self(bytes)
        }

        fn resume(&self) {
            // SAFETY: as above; nothing else of this thread refers to the stream now.
            STREAM.with(|stream| unsafe {
                ptr::copy_nonoverlapping(self.0.as_ptr(), ptr::from_ref(stream).cast_mut(), 1)
            });
        }
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
            let snapshot = Snapshot::take();
            let original = numbers(100);
            snapshot.resume();
            let copy = numbers(100);
            let parted = original.iter().zip(&copy).position(|(one, other)| one != other).unwrap();
            assert!(parted < DRAWS_A_LOOK_IN_A_BURST as usize, "{parted} numbers are the same");
            assert!(!original[parted..].iter().any(|number| copy[parted..].contains(number)));
            longest = longest.max(parted);
        }
        assert!(longest > 0, "they were one stream");
    }

    #[test]
    fn a_copy_gets_fresh_randomness_when_a_second_is_over() {
        numbers(1);
        let before = stream_id(0);
        let age = |ns: u64| STREAM.with(|stream| stream.seeded_at_ns.set(clock::uptime_ns() - ns));
        let after_a_burst = || {
            numbers(DRAWS_A_LOOK_IN_A_BURST as usize);
            stream_id(0)
        };
        age(0);
        assert!(after_a_burst() == before);
        let ahead_ns = 3_600_000_000_000;
        STREAM.with(|stream| stream.seeded_at_ns.set(clock::uptime_ns() + ahead_ns));
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
            STREAM.with(|stream| {
                stream.seeded_at_ns.set(clock::uptime_ns() - aged_ms * NS_A_MS);
                stream.draws_before_look.set(0);
                next_u64(stamp_ms);
                stream.seeded_at_stamp.get()
            })
        };
        // A test that was held up for a while has a stream that is older.
        let seeded_at = looks_at(1_000_000, 400);
        assert!((999_001..=999_600).contains(&seeded_at), "{seeded_at}");
        assert_eq!(looks_at(2_000_000, RESEED_AFTER_MS), 2_000_000);
    }

    #[test]
    fn what_is_made_while_the_stream_is_in_use_has_a_generator_of_its_own() {
        numbers(1);
        let snapshot = Snapshot::take();
        let generation = STREAM.with(|stream| stream.generation.replace(IN_USE));
        let nested = numbers(10);
        let stream_ids = [stream_id(0), stream_id(0)];
        assert!(STREAM.with(|stream| stream.generation.get()) == IN_USE);
        STREAM.with(|stream| stream.generation.set(generation));
        let after = numbers(10);
        snapshot.resume();
        assert!(nested.iter().all(|number| !after.contains(number) && !numbers(10).contains(number)));
        assert!(stream_ids[0] != stream_ids[1] && stream_ids[0] != stream_id(0));
    }

    /// Draws, with a fork between the check that the stream is this process's and the draw; returns what the parent and
    /// the child have drawn.
    #[cfg(target_os = "linux")]
    fn drawn_around_a_fork() -> [u64; 2] {
        // SAFETY: a new mapping, which is never unmapped.
        let of_child = unsafe {
            let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
            let page = libc::mmap(ptr::null_mut(), size_of::<AtomicU64>(), access, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            &*page.cast::<AtomicU64>()
        };
        let pid = Cell::new(-1);
        let drawn = draw(Some(0), |source| {
            if pid.get() == -1 {
                // SAFETY: the child calls nothing that takes a lock.
                pid.set(unsafe { libc::fork() });
            }
            source.rng.next()
        });
        if pid.get() == 0 {
            of_child.store(drawn, Ordering::Relaxed);
            // SAFETY: skips what belongs to the parent.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { (libc::waitpid(pid.get(), &mut status, 0), status) }, (pid.get(), 0));
        [drawn, of_child.load(Ordering::Relaxed)]
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_draw_that_a_fork_interrupts_is_made_anew_in_the_child() {
        let [parent, child] = drawn_around_a_fork();
        assert_ne!(parent, child, "in the first draw of the thread");
        numbers(100);
        assert!(STREAM.with(|stream| stream.draws_before_look.get()) > 0);
        let [parent, child] = drawn_around_a_fork();
        assert_ne!(parent, child, "in a burst");
    }

    #[test]
    fn a_generator_that_was_left_in_use_does_not_hold_up_other_threads() {
        STREAM.with(|stream| stream.generation.set(IN_USE));
        assert_ne!(std::thread::spawn(|| numbers(2)).join().unwrap(), numbers(2));
    }

    #[test]
    fn the_clock_is_looked_at_less_often_in_a_burst_alone() {
        numbers(1);
        let draws_after_a_look = |ns_since_the_last: u64| {
            STREAM.with(|stream| {
                stream.looked_at_ns.set(clock::uptime_ns() - ns_since_the_last);
                stream.draws_before_look.set(0);
                numbers(1);
                stream.draws_before_look.get()
            })
        };
        assert_eq!((0..100).map(|_| draws_after_a_look(0)).max(), Some(DRAWS_A_LOOK_IN_A_BURST - 1));
        assert_eq!(draws_after_a_look(BURST_NS), 0);
    }

    #[test]
    fn no_two_words_of_a_seed_share_bytes() {
        let seed = fresh_seed().map(u64::to_le_bytes);
        assert!(seed.windows(2).all(|words| words[0][1..] != words[1][..7]), "{seed:?}");
    }
}
