//! The per-thread, fork-safe generator: the only file that asks the OS for randomness.
//!
//! Each thread has one stream (xoshiro256++), which belongs to one generation of the process: a child, however it is made,
//! is another generation, and seeds the stream anew. Because a signal may strike between any two instructions, and its
//! handler may fork or make ids itself, a stream is marked while it is in use, and what was drawn counts only if the
//! generation is still the same afterwards. An id that is made while the stream is in use gets a generator of its own.
//!
//! Two copies of one machine's memory have the same stream and the same generation. So whenever the clock is looked at, its
//! nanoseconds are stirred in, which differ between copies; and once a second of use fresh randomness of the OS.

use super::xoshiro::Xoshiro;
use super::{clock, generation};
use std::array;
use std::cell::{Cell, UnsafeCell};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

const RESEED_AFTER_MS: u64 = 1000;

/// In a burst the clock is looked at every so many draws, else at every draw: a burst is when two looks are this close.
const DRAWS_A_LOOK_IN_A_BURST: u32 = 64;
const BURST_NS: u64 = NS_A_MS;

const NS_A_MS: u64 = 1_000_000;

/// In place of a generation's number: the stream is in use, by what a signal has interrupted.
const IN_USE: u64 = u64::MAX;

/// One thread's stream.
struct Stream {
    /// The generation of the process that it was seeded in.
    generation: Cell<u64>,
    seeded_at_ns: Cell<u64>,
    /// The stamp that belongs to the moment of seeding: a stamp a second or more away from it says "look at the clock".
    seeded_at_stamp: Cell<i64>,
    looked_at_ns: Cell<u64>,
    draws_before_look: Cell<u32>,
    /// Touched only by the call that has marked the stream as in use.
    source: UnsafeCell<Source>,
}

/// What is drawn from.
struct Source {
    rng: Xoshiro,
    origin: Origin,
}

/// Where a thread's randomness comes from. What a format keeps from one id to the next belongs to an origin: a child of a
/// fork has another than its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The same as long as the stream is.
    pub(crate) stream: u64,
    /// Grows whenever fresh randomness is mixed in, which may be what parts two copies of a machine image.
    pub(crate) reseeds: u64,
}

impl Origin {
    /// What no randomness comes from.
    pub(crate) const NONE: Self = Self { stream: 0, reseeds: u64::MAX };
}

thread_local! {
    static STREAM: Stream = const {
        Stream {
            generation: Cell::new(generation::NONE),
            seeded_at_ns: Cell::new(0),
            seeded_at_stamp: Cell::new(0),
            looked_at_ns: Cell::new(0),
            draws_before_look: Cell::new(0),
            source: UnsafeCell::new(Source::UNSEEDED),
        }
    };
    static DEGRADED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread's ids are made without the OS's randomness, because it had none to give when last asked.
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
/// The stamp is mostly the time, so it serves to see that a second is over without asking for the time. Since a caller may
/// stamp what it likes, the clock is looked at all the same, only less often while draws come faster than it ticks.
#[inline(always)]
pub(crate) fn next_u64(stamp_ms: i64) -> u64 {
    draw(Some(stamp_ms), |source| source.rng.next())
}

/// 128 random bits for what an id stamped `stamp_ms` has in common with others.
#[cold]
#[inline(never)]
pub(crate) fn next_u128(stamp_ms: i64) -> u128 {
    u128::from(next_u64(stamp_ms)) << 64 | u128::from(next_u64(stamp_ms))
}

/// 64 random bits for an id that has no time in it.
#[inline(never)]
pub(crate) fn next_u64_without_stamp() -> u64 {
    draw(None, |source| source.rng.next())
}

/// 64 bits of the OS's own randomness, or an `Err` with 64 others for an id stamped `stamp_ms` where the OS has none. They
/// are asked for when they are needed: what is kept, a copy of the memory has as well.
#[inline]
pub(crate) fn strong_u64(stamp_ms: i64) -> Result<u64, u64> {
    let mut bytes = [0; 8];
    if ask_the_os(&mut bytes) { Ok(u64::from_le_bytes(bytes)) } else { Err(next_u64(stamp_ms)) }
}

/// The origin of the randomness for an id stamped `stamp_ms`.
#[inline(always)]
pub(crate) fn origin(stamp_ms: i64) -> Origin {
    draw(Some(stamp_ms), |source| source.origin)
}

#[inline(always)]
fn draw<T>(stamp_ms: Option<i64>, take: impl Fn(&mut Source) -> T) -> T {
    STREAM.with(|stream| {
        let seeded_in = stream.generation.replace(IN_USE);
        compiler_fence(Ordering::SeqCst);
        if seeded_in == generation::read() && stream.is_fresh(stamp_ms) {
            // SAFETY: the stream is in use by this call alone, and it is seeded.
            let drawn = take(unsafe { stream.source() });
            compiler_fence(Ordering::SeqCst);
            if seeded_in == generation::read() {
                stream.generation.set(seeded_in);
                return drawn;
            }
        }
        look_at_the_clock_and_draw(stream, seeded_in, stamp_ms, take)
    })
}

#[cold]
#[inline(never)]
fn look_at_the_clock_and_draw<T>(
    stream: &Stream,
    mut seeded_in: u64,
    stamp_ms: Option<i64>,
    take: impl Fn(&mut Source) -> T,
) -> T {
    if seeded_in == IN_USE {
        let mut of_its_own = Source::UNSEEDED;
        of_its_own.seed();
        return take(&mut of_its_own);
    }
    loop {
        let generation = generation::get();
        // SAFETY: `draw` has marked the stream for this call alone.
        let source = unsafe { stream.source() };
        stream.look_at_the_clock(stamp_ms, source, seeded_in == generation);
        let drawn = take(source);
        compiler_fence(Ordering::SeqCst);
        if generation == generation::get() {
            stream.generation.set(generation);
            return drawn;
        }
        seeded_in = generation::NONE;
    }
}

impl Stream {
    /// What is drawn from.
    ///
    /// # Safety
    ///
    /// The caller has marked the stream as in use, and has no other reference to it.
    #[allow(clippy::mut_from_ref, reason = "the mark sees to it that there is one at a time")]
    #[inline(always)]
    unsafe fn source(&self) -> &mut Source {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.source.get() }
    }

    /// Whether the stream may be drawn from without a look at the clock; if so, that is one draw less before the next look.
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
        let mut age_ms = now_ns.saturating_sub(self.seeded_at_ns.get()) / NS_A_MS;
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
        let is_burst = now_ns.saturating_sub(self.looked_at_ns.replace(now_ns)) < BURST_NS;
        self.draws_before_look.set(if is_burst { DRAWS_A_LOOK_IN_A_BURST - 1 } else { 0 });
    }
}

impl Source {
    const UNSEEDED: Self = Self { rng: Xoshiro::UNSEEDED, origin: Origin::NONE };

    /// What there may be of a parent's is not drawn from without fresh randomness, so it can stay.
    fn seed(&mut self) {
        self.rng.mix(fresh_seed());
        self.origin = Origin { stream: self.rng.next(), reseeds: 0 };
    }

    fn reseed(&mut self) {
        self.rng.mix(fresh_seed());
        self.origin.reseeds += 1;
    }
}

fn fresh_seed() -> [u64; 4] {
    let mut seed = [0; 32];
    if !ask_the_os(&mut seed) {
        return noise();
    }
    array::from_fn(|word| u64::from_le_bytes(array::from_fn(|byte| seed[8 * word + byte])))
}

/// Fills `bytes` with the OS's randomness, or says that it has none to give.
fn ask_the_os(bytes: &mut [u8]) -> bool {
    // The second way is for a sandbox that has closed the first.
    let given = getrandom::fill(bytes).is_ok() || read_urandom(bytes).is_ok();
    DEGRADED.set(!given);
    given
}

#[cold]
#[inline(never)]
fn read_urandom(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

/// What differs between any two processes and any two moments, for when the OS has no randomness to give.
fn noise() -> [u64; 4] {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let on_the_stack = 0_u8;
    let mut hasher = DefaultHasher::new();
    std::time::SystemTime::now().hash(&mut hasher);
    std::time::Instant::now().hash(&mut hasher);
    std::process::id().hash(&mut hasher);
    CALLS.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    (&raw const on_the_stack).hash(&mut hasher);
    (noise as fn() -> [u64; 4]).hash(&mut hasher);
    array::from_fn(|_| {
        std::time::Instant::now().hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;
    use std::ptr;

    /// This thread's stream as it is now, for a copy of the machine to go on with.
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
            // A copy in the midst of a burst, anywhere between two looks.
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
        let before = origin(0);
        let age = |ns: u64| STREAM.with(|stream| stream.seeded_at_ns.set(clock::uptime_ns() - ns));
        let after_a_burst = || {
            numbers(DRAWS_A_LOOK_IN_A_BURST as usize);
            origin(0)
        };
        age(0);
        assert!(after_a_burst() == before);
        age(RESEED_AFTER_MS * NS_A_MS);
        assert!(after_a_burst() == Origin { reseeds: before.reseeds + 1, ..before });
        assert!(origin(RESEED_AFTER_MS as i64) == Origin { reseeds: before.reseeds + 1, ..before });
    }

    #[test]
    fn what_is_made_while_the_stream_is_in_use_has_a_generator_of_its_own() {
        numbers(1);
        let snapshot = Snapshot::take();
        let generation = STREAM.with(|stream| stream.generation.replace(IN_USE));
        let nested = numbers(10);
        let origins = [origin(0), origin(0)];
        assert!(STREAM.with(|stream| stream.generation.get()) == IN_USE);
        STREAM.with(|stream| stream.generation.set(generation));
        let after = numbers(10);
        snapshot.resume();
        assert!(nested.iter().all(|number| !after.contains(number) && !numbers(10).contains(number)));
        assert!(origins[0] != origins[1] && origins[0] != origin(0));
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
