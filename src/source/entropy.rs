//! The random words of each thread, safe in forks and signals.
//!
//! A stream is a key that the system's randomness is mixed into, and a [`Batch`] made from it. Both are in a page that the
//! kernel wipes in children, so that no child can tell its parent's next ids. A child mixes fresh randomness in before it
//! draws, also where the kernel does not wipe. While a stream is in use, a signal handler gets words of its own. If the handler forks,
//! the draw is not used in the child. For copies of a machine's memory, each look at the clock makes a new batch from the
//! key and the nanoseconds, and each second of use mixes in fresh randomness.

use super::batch::{self, Batch};
use super::pid::pid;
use super::{clock, generation, memory, system, vdso};
use std::array;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};

const RESEED_AFTER_MS: u64 = 1000;

/// Two looks at the clock this close are a burst, in which a look makes a whole batch. Otherwise it makes the words of one
/// draw.
const BURST_NS: u64 = NS_A_MS;

const NS_A_MS: u64 = 1_000_000;

/// Stands in for a generation's number while the stream is in use by code that a signal interrupted, and when its thread has
/// ended.
const IN_USE: u64 = u64::MAX;

/// Stands in for a generation's number before the first one. No page need be there.
const UNSEEDED: u64 = u64::MAX - 1;

/// The stream of one thread or of one series.
pub(crate) struct Stream {
    /// The generation of the process that seeded it. Not in the page: a mark that a child's copy had lost would let a
    /// handler use what it interrupts.
    generation: Cell<u64>,
    seeded_at_ns: Cell<u64>,
    /// The stamp at the moment of seeding. A stamp a second or more away from it means that it is time to read the
    /// clock.
    seeded_at_stamp: Cell<i64>,
    looked_at_ns: Cell<u64>,
    /// Null before the first draw. Only touched by the call that marked the stream as in use.
    page: AtomicPtr<Page>,
}

/// In memory of its own.
#[repr(C)]
struct Page {
    /// A processor takes a write for one to any other address with these low bits, and most things begin where pages do. Without
    /// it, a UUID takes up to a twentieth longer.
    _distance: MaybeUninit<[u8; 1056]>,
    source: Source,
}

/// What draws come from.
struct Source {
    batch: Batch,
    stream_id: StreamId,
}

/// Identifies the source of a thread's randomness. The state of a format between ids belongs to one stream; after a fork,
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
    static AT_THE_END: AtTheEnd = const { AtTheEnd };
}

/// Gives the page of a thread's stream back. Each later id of the thread has words of its own.
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

/// As [`next_u128`], with the id of the stream that they come from.
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

/// 64 bits of the OS's own randomness; if the OS has none, `Err` with 64 other bits, for an id stamped `stamp_ms`. Drawn on
/// demand: a stored bit would survive in a copied memory image. The kernel drops what the vDSO stores when the machine
/// was copied.
#[inline]
pub(crate) fn strong_u64(stamp_ms: i64) -> Result<u64, u64> {
    strong().map(|[word]| word).ok_or_else(|| next_u64(stamp_ms))
}

/// As [`strong_u64`], 128 bits for an id without a time.
#[inline]
pub(crate) fn strong_u128_without_stamp() -> Result<u128, u128> {
    strong().map(wide).ok_or_else(next_u128_without_stamp)
}

#[inline(always)]
fn strong<const COUNT: usize>() -> Option<[u64; COUNT]> {
    let mut is_given = false;
    let (_, words) = erased(|words| {
        // SAFETY: as many bytes, and any bytes are words.
        let bytes = unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) };
        is_given = ask_the_vdso(bytes) || ask_the_os(bytes);
        StreamId::NONE
    });
    is_given.then_some(words)
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

/// Words that are made are taken here as well: they go from the batch to registers, and never to the stack.
#[inline(always)]
fn draw<const COUNT: usize>(stamp_ms: Option<i64>) -> (StreamId, [u64; COUNT]) {
    let mut stream = STREAM.with(ptr::from_ref);
    loop {
        // SAFETY: it is this thread's, and there until that ends.
        match unsafe { &*stream }.draw_quickly(stamp_ms, Batch::take) {
            Ok(drawn) => return drawn,
            Err(seeded_in) => {
                stream = prepare(seeded_in, stamp_ms, COUNT);
                if stream.is_null() {
                    return erased(|words| draw_apart(stamp_ms, words));
                }
            }
        }
    }
}

/// The thread's stream, so that the caller need not keep where it is; or null, if [`Stream::prepare`] has returned false.
#[cold]
#[inline(never)]
fn prepare(seeded_in: u64, stamp_ms: Option<i64>, count: usize) -> *const Stream {
    if seeded_in == UNSEEDED {
        AT_THE_END.with(|_| ());
    }
    STREAM.with(|stream| if stream.prepare(seeded_in, stamp_ms, count) { stream } else { ptr::null() })
}

#[cold]
#[inline(never)]
fn draw_apart(stamp_ms: Option<i64>, words: &mut [u64]) -> StreamId {
    STREAM.with(|stream| stream.draw_apart(stamp_ms, words))
}

/// What `draw` has written, in registers. It is erased where it was written.
#[inline(always)]
fn erased<const COUNT: usize>(draw: impl FnOnce(&mut [u64]) -> StreamId) -> (StreamId, [u64; COUNT]) {
    let mut place = [0; COUNT];
    let stream_id = draw(&mut place);
    let words = array::from_fn(|at| {
        // SAFETY: it is our own. The compiler must not leave a volatile write out; and to read two words at once that were
        // written one by one would stall the processor.
        unsafe {
            let word = ptr::read_volatile(&place[at]);
            ptr::write_volatile(&mut place[at], 0);
            word
        }
    });
    (stream_id, words)
}

impl Stream {
    pub(crate) const fn unseeded() -> Self {
        Self {
            generation: Cell::new(UNSEEDED),
            seeded_at_ns: Cell::new(0),
            seeded_at_stamp: Cell::new(0),
            looked_at_ns: Cell::new(0),
            page: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Gives its page back. Its words are then drawn apart.
    pub(crate) fn end(&self) {
        self.generation.set(IN_USE);
        compiler_fence(Ordering::SeqCst);
        if let Some(page) = NonNull::new(self.page.swap(ptr::null_mut(), Ordering::Relaxed)) {
            // SAFETY: from `source`, and whoever interrupts this finds the mark.
            unsafe { memory::unmap(page) };
        }
    }

    /// 64 random bits for an id stamped `stamp_ms`; or the argument of [`Stream::next_slowly`], to call
    /// instead.
    #[inline(always)]
    pub(crate) fn next_quickly(&self, stamp_ms: i64) -> Result<u64, u64> {
        self.draw_quickly(Some(stamp_ms), Batch::take).map(|(_, [word])| word)
    }

    /// The rest of [`Stream::next_quickly`], after that has failed.
    pub(crate) fn next_slowly(&self, mut seeded_in: u64, stamp_ms: i64) -> u64 {
        while self.prepare(seeded_in, Some(stamp_ms), 1) {
            match self.next_quickly(stamp_ms) {
                Ok(word) => return word,
                Err(mark) => seeded_in = mark,
            }
        }
        let (_, [word]) = erased(|words| self.draw_apart(Some(stamp_ms), words));
        word
    }

    /// Draws if there is no need to look at the clock. If there is, leaves the stream marked as in use, and returns the
    /// mark it had.
    #[inline(always)]
    fn draw_quickly<const COUNT: usize>(
        &self,
        stamp_ms: Option<i64>,
        take: impl FnOnce(&mut Batch) -> Option<[u64; COUNT]>,
    ) -> Result<(StreamId, [u64; COUNT]), u64> {
        let seeded_in = self.generation.replace(IN_USE);
        compiler_fence(Ordering::SeqCst);
        if seeded_in == generation::read() && self.is_expected(stamp_ms) {
            // SAFETY: this call alone uses the stream, and what was seeded has its page.
            let source = unsafe { &mut (*self.page.load(Ordering::Relaxed)).source };
            let (stream_id, taken) = (source.stream_id, take(&mut source.batch));
            compiler_fence(Ordering::SeqCst);
            if let Some(words) = taken.filter(|_| seeded_in == generation::read()) {
                self.generation.set(seeded_in);
                return Ok((stream_id, words));
            }
        }
        Err(seeded_in)
    }

    /// Makes at least `count` words, to draw quickly from. Does nothing, and returns false, if that cannot be: while
    /// something that this interrupts uses the stream, where the generation cannot be read, and without memory.
    fn prepare(&self, seeded_in: u64, stamp_ms: Option<i64>, count: usize) -> bool {
        let generation = generation::get();
        let may_use = seeded_in != IN_USE && generation == generation::read();
        // SAFETY: the stream was not in use, and `draw_quickly` has marked it for this call alone.
        let Some(source) = may_use.then(|| unsafe { self.source() }).flatten() else {
            self.generation.set(seeded_in);
            return false;
        };
        self.look_at_the_clock(stamp_ms, source, seeded_in == generation, count);
        compiler_fence(Ordering::SeqCst);
        self.generation.set(generation);
        true
    }

    /// Draws where [`Stream::prepare`] has returned false.
    fn draw_apart(&self, stamp_ms: Option<i64>, words: &mut [u64]) -> StreamId {
        let mut seeded_in = self.generation.replace(IN_USE);
        // SAFETY: the stream was not in use, and is marked for this call alone.
        let Some(source) = (seeded_in != IN_USE).then(|| unsafe { self.source() }).flatten() else {
            self.generation.set(seeded_in);
            return draw_once(words);
        };
        loop {
            let generation = generation::get();
            self.look_at_the_clock(stamp_ms, source, seeded_in == generation, words.len());
            source.take_made(words);
            let stream_id = source.stream_id;
            compiler_fence(Ordering::SeqCst);
            if generation == generation::get() {
                self.generation.set(generation);
                return stream_id;
            }
            seeded_in = generation::NONE;
        }
    }

    /// What draws come from; None if there is no memory for it.
    ///
    /// # Safety
    ///
    /// The caller has marked the stream as in use, and has no other reference to it.
    #[allow(clippy::mut_from_ref, reason = "the mark ensures that there is only one at a time")]
    unsafe fn source(&self) -> Option<&mut Source> {
        let mut page = self.page.load(Ordering::Relaxed);
        if page.is_null() {
            let mapped = memory::map()?;
            // SAFETY: it was just mapped.
            unsafe { memory::wipe_in_children(mapped) };
            page = mapped.as_ptr();
            self.page.store(page, Ordering::Relaxed);
        }
        // SAFETY: zeros are a source without words, and the caller has the only reference.
        Some(unsafe { &mut (*page).source })
    }

    /// Whether the stamp shows that less than a second has passed since the seeding.
    #[inline(always)]
    fn is_expected(&self, stamp_ms: Option<i64>) -> bool {
        let since_seeding = stamp_ms.map_or(0, |stamp_ms| stamp_ms.wrapping_sub(self.seeded_at_stamp.get()) as u64);
        since_seeding < RESEED_AFTER_MS
    }

    /// Makes at least `count` words.
    #[inline(never)]
    fn look_at_the_clock(&self, stamp_ms: Option<i64>, source: &mut Source, is_seeded: bool, count: usize) {
        let now_ns = clock::uptime_ns();
        // A process that was restored on another machine may find this clock further back: the differences are then huge.
        let mut age_ms = now_ns.wrapping_sub(self.seeded_at_ns.get()) / NS_A_MS;
        let is_expected = self.is_expected(stamp_ms);
        if !is_seeded || age_ms >= RESEED_AFTER_MS {
            if is_seeded {
                source.reseed(now_ns)
            } else {
                source.seed(now_ns)
            }
            self.seeded_at_ns.set(now_ns);
            age_ms = 0;
        }
        if let Some(stamp_ms) = stamp_ms {
            self.seeded_at_stamp.set(stamp_ms.wrapping_sub(age_ms as i64));
        }
        let is_burst = now_ns.wrapping_sub(self.looked_at_ns.replace(now_ns)) < BURST_NS;
        // A stamp that was not expected may be followed by others, which would take one word of each batch.
        source.batch.renew(now_ns, if is_burst && is_expected { batch::WORDS } else { count });
        batch::clear_traces();
    }
}

impl Source {
    const UNSEEDED: Self = Self { batch: Batch::EMPTY, stream_id: StreamId::NONE };

    /// Keeps what the key has, in a child where nothing is wiped: it is never used before fresh randomness is mixed in.
    #[inline(never)]
    fn seed(&mut self, now_ns: u64) {
        self.batch.mix(fresh_seed(now_ns));
        self.batch.renew(now_ns, 1);
        let mut stream = 0;
        self.take_made(slice::from_mut(&mut stream));
        self.stream_id = StreamId { stream, reseeds: 0 };
    }

    #[inline(never)]
    fn reseed(&mut self, now_ns: u64) {
        self.batch.mix(fresh_seed(now_ns));
        self.stream_id.reseeds += 1;
    }

    /// Takes words that have just been made. None are there if a fork in a signal handler has wiped them: then this draw is
    /// not used.
    fn take_made(&mut self, words: &mut [u64]) {
        for word in words {
            [*word] = self.batch.take().unwrap_or_default();
        }
    }
}

/// Words of a source of their own, for what interrupts a draw.
#[inline(never)]
fn draw_once(words: &mut [u64]) -> StreamId {
    let (mut source, now_ns) = (Source::UNSEEDED, clock::uptime_ns());
    source.seed(now_ns);
    source.batch.renew(now_ns, words.len());
    source.take_made(words);
    batch::clear_traces();
    source.stream_id
}

/// Process id and nanoseconds are in each seed, so that it differs from others even if what the OS gives does not.
#[inline(never)]
fn fresh_seed(now_ns: u64) -> [u64; 4] {
    let mut bytes = [0; 32];
    let mut seed = if ask_the_os(&mut bytes) {
        array::from_fn(|word| u64::from_le_bytes(array::from_fn(|byte| bytes[8 * word + byte])))
    } else {
        noise()
    };
    seed[0] ^= now_ns;
    seed[1] ^= u64::from(pid());
    seed
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
    let given = system::fill(bytes);
    DEGRADED.set(!given);
    given
}

/// Differs between any two processes and any two moments, for when the OS has no randomness.
fn noise() -> [u64; 4] {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let on_the_stack = 0_u8;
    let mut hasher = DefaultHasher::new();
    clock::system_ms().hash(&mut hasher);
    pid().hash(&mut hasher);
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

    /// This thread's stream as it is now, for a simulated copy of the machine.
    struct Snapshot(MaybeUninit<(Stream, Source)>);

    impl Snapshot {
        fn take() -> Self {
            let mut bytes: MaybeUninit<(Stream, Source)> = MaybeUninit::uninit();
            let (to_stream, to_source) = Self::parts(bytes.as_mut_ptr());
            // SAFETY: all are whole, and plain data.
            STREAM.with(|stream| unsafe {
                ptr::copy_nonoverlapping(stream, to_stream, 1);
                ptr::copy_nonoverlapping(source(stream), to_source, 1);
            });
            Self(bytes)
        }

        fn resume(&self) {
            let (from_stream, from_source) = Self::parts(self.0.as_ptr().cast_mut());
            // SAFETY: as above; nothing else of this thread refers to the stream now.
            STREAM.with(|stream| unsafe {
                ptr::copy_nonoverlapping(from_stream, ptr::from_ref(stream).cast_mut(), 1);
                ptr::copy_nonoverlapping(from_source, source(stream), 1);
            });
        }

        fn parts(all: *mut (Stream, Source)) -> (*mut Stream, *mut Source) {
            // SAFETY: they are in one place.
            unsafe { (&raw mut (*all).0, &raw mut (*all).1) }
        }
    }

    #[allow(clippy::mut_from_ref, reason = "a test has one at a time")]
    fn source(stream: &Stream) -> &mut Source {
        // SAFETY: nothing draws meanwhile.
        unsafe { stream.source() }.unwrap()
    }

    fn words_left(stream: &Stream) -> usize {
        source(stream).batch.left()
    }

    /// The next draw looks at the clock.
    fn drop_words(stream: &Stream) {
        while source(stream).batch.take::<1>().is_some() {}
    }

    fn numbers(count: usize) -> Vec<u64> {
        (0..count).map(|_| next_u64(0)).collect()
    }

    /// Earlier words cannot be computed from what is in memory later.
    #[cfg(target_os = "linux")]
    #[test]
    fn no_used_key_of_a_stream_stays_on_the_stack() {
        numbers(1);
        STREAM.with(|stream| {
            let key = source(stream).batch.key();
            drop_words(stream);
            batch::tests::erase_all();
            numbers(1);
            let below = batch::tests::stack_below();
            let is_part = |bytes: &[u8]| key.iter().any(|word| bytes == word.to_ne_bytes());
            assert!(!below.windows(8).any(is_part));
        });
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
        let age = |ns: u64| STREAM.with(|stream| stream.seeded_at_ns.set(clock::uptime_ns() - ns));
        let after_a_burst = || {
            numbers(batch::WORDS + 1);
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
                drop_words(stream);
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
        let fork_and_take = |batch: &mut Batch| {
            // SAFETY: the child calls nothing that takes a lock.
            pid.set(unsafe { libc::fork() });
            batch.take()
        };
        let drawn = STREAM.with(|stream| match stream.draw_quickly(Some(0), fork_and_take) {
            Ok((_, [word])) => word,
            Err(seeded_in) => stream.next_slowly(seeded_in, 0),
        });
        assert_ne!(pid.get(), -1, "nothing was taken quickly");
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
        numbers(100);
        assert!(STREAM.with(words_left) > 0);
        let [parent, child] = drawn_around_a_fork();
        assert_ne!(parent, child);
    }

    #[test]
    fn a_generator_that_was_left_in_use_does_not_hold_up_other_threads() {
        STREAM.with(|stream| stream.generation.set(IN_USE));
        assert_ne!(std::thread::spawn(|| numbers(2)).join().unwrap(), numbers(2));
    }

    #[test]
    fn a_whole_batch_is_made_in_a_burst_alone() {
        numbers(1);
        let left_after_a_look = |ns_since_the_last: u64, stamp_ms| {
            STREAM.with(|stream| {
                stream.looked_at_ns.set(clock::uptime_ns() - ns_since_the_last);
                drop_words(stream);
                next_u64(stamp_ms);
                words_left(stream)
            })
        };
        assert_eq!((0..100).map(|_| left_after_a_look(0, 0)).max(), Some(batch::WORDS - 1));
        assert_eq!(left_after_a_look(BURST_NS, 0), 0);
        // Nor for stamps of any time.
        assert_eq!((1..100).map(|stamp_s| left_after_a_look(0, stamp_s * 1000)).max(), Some(0));
    }

    /// How many of 400 calls, two milliseconds apart, look at the clock, when no words are left.
    fn looks_of(make: impl Fn()) -> usize {
        numbers(1);
        STREAM.with(drop_words);
        looks(400, make)
    }

    /// How many of these calls, two milliseconds apart, look at the clock.
    fn looks(calls: usize, make: impl Fn()) -> usize {
        let looks = |_: &usize| {
            STREAM.with(|stream| {
                let before = clock::uptime_ns() - 2 * NS_A_MS;
                stream.looked_at_ns.set(before);
                make();
                stream.looked_at_ns.get() != before
            })
        };
        (0..calls).filter(looks).count()
    }

    #[test]
    fn what_a_burst_has_made_ahead_is_taken_without_a_look_at_the_clock() {
        let burst = || {
            STREAM.with(drop_words);
            while STREAM.with(words_left) < 10 {
                numbers(1);
            }
            STREAM.with(words_left)
        };
        // Ids with a time, unless that is a second later.
        assert_eq!(looks(burst() + 10, || _ = next_u64(0)), 10);
        burst();
        assert_eq!(looks(1, || _ = next_u64(RESEED_AFTER_MS as i64)), 1);
        // Those without one, however late it is.
        let pairs = burst() / 2;
        STREAM.with(|stream| stream.seeded_at_ns.set(clock::uptime_ns() - 10 * RESEED_AFTER_MS * NS_A_MS));
        assert_eq!(looks(pairs + 10, || _ = crate::uuid::v4()), 10);
    }

    #[test]
    fn where_no_words_are_left_each_id_looks_at_the_clock() {
        let names = "txid uuid_v4 uuid_v7 ksuid ulid trace_id otel_trace_id traceparent";
        for name in names.split(' ') {
            let maker = crate::Maker::parse(name, []).unwrap();
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
