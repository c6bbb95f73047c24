//! The per-thread, fork-safe generator: the only file that asks the OS for randomness.
//!
//! Each thread has one stream (xoshiro256++), in a page of its own that the kernel wipes in every child process, however
//! the child is made: a child finds zeros, which mean "not seeded", and seeds itself. Where the kernel cannot wipe, a fork
//! handler marks the page. Once a second of use fresh OS randomness is mixed in, so that two copies of one machine
//! image part ways.
//!
//! In the same page lies a block of the OS's own randomness, for ids that nobody may guess. It is emptied whenever the
//! stream is seeded, so neither a child nor the copy of a machine goes on with it.

use super::clock;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::{Cell, OnceCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const RESEED_AFTER_MS: u64 = 1000;

/// In a burst the clock is looked at every so many draws; while it ticks between two looks, at every draw.
const DRAWS_A_LOOK_IN_A_BURST: u32 = 32;

/// How much of the OS's randomness is fetched at once: little enough to lie in the page, enough that asking for it is a
/// small part of what an id costs.
const STRONG_BYTES: usize = 2048;

/// One thread's generator. All zeros is a valid value, and means "not seeded".
struct Stream {
    rng: Xoshiro256PlusPlus,
    seeded: bool,
    origin: Origin,
    seeded_at_ms: u64,
    /// The stamp that belongs to the moment of seeding: a stamp a second or more away from it says "look at the clock".
    seeded_at_stamp: i64,
    looked_at_ms: u64,
    draws_before_look: u32,
    /// The OS's randomness, of which the first `strong_left` bytes are still to be used; the others are zeros.
    strong: [u8; STRONG_BYTES],
    strong_left: usize,
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
    static STREAM: Cell<*mut Stream> = const { Cell::new(ptr::null_mut()) };
    static DEGRADED: Cell<bool> = const { Cell::new(false) };
    static PAGE: OnceCell<Option<Page>> = const { OnceCell::new() };
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
    draw(Some(stamp_ms), |stream| stream.rng.next_u64(), || of_its_own().next_u64())
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
    draw(None, |stream| stream.rng.next_u64(), || of_its_own().next_u64())
}

/// 64 bits of the OS's own randomness for an id stamped `stamp_ms`, or an `Err` with 64 others where the OS has none.
#[inline]
pub(crate) fn strong_u64(stamp_ms: i64) -> Result<u64, u64> {
    draw(Some(stamp_ms), Stream::strong_u64, || {
        let mut bytes = [0; 8];
        match getrandom::fill(&mut bytes) {
            Ok(()) => Ok(u64::from_le_bytes(bytes)),
            Err(_) => Err(of_its_own().next_u64()),
        }
    })
}

/// The origin of the randomness for an id stamped `stamp_ms`. Where there is no stream, no two are the same.
#[inline(always)]
pub(crate) fn origin(stamp_ms: i64) -> Origin {
    draw(Some(stamp_ms), |stream| stream.origin, || Origin { stream: of_its_own().next_u64(), reseeds: 0 })
}

#[inline(always)]
fn draw<T>(stamp_ms: Option<i64>, take: impl FnOnce(&mut Stream) -> T, without_a_stream: impl FnOnce() -> T) -> T {
    let stream = STREAM.get();
    if !stream.is_null() {
        // SAFETY: not null, so it is this thread's mapped page; no other thread knows it, and no reference to it
        // outlives a call.
        let stream = unsafe { &mut *stream };
        if stream.is_fresh(stamp_ms) {
            return take(stream);
        }
    }
    look_at_the_clock_and_draw(stamp_ms, take, without_a_stream)
}

#[cold]
#[inline(never)]
fn look_at_the_clock_and_draw<T>(
    stamp_ms: Option<i64>,
    take: impl FnOnce(&mut Stream) -> T,
    without_a_stream: impl FnOnce() -> T,
) -> T {
    let Some(stream) = this_threads_stream() else {
        return without_a_stream();
    };
    // SAFETY: as in `draw`.
    let stream = unsafe { &mut *stream };
    stream.look_at(clock::uptime_ms(), stamp_ms);
    take(stream)
}

/// A generator for one id alone.
#[cold]
#[inline(never)]
fn of_its_own() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::from_seed(fresh_seed())
}

impl Stream {
    /// Whether the stream may be drawn from without a look at the clock; if so, that is one draw less before the next look.
    #[inline(always)]
    fn is_fresh(&mut self, stamp_ms: Option<i64>) -> bool {
        let since_seeding = stamp_ms.map_or(0, |stamp_ms| stamp_ms.wrapping_sub(self.seeded_at_stamp) as u64);
        if self.draws_before_look > 0 && since_seeding < RESEED_AFTER_MS {
            self.draws_before_look -= 1;
            return true;
        }
        false
    }

    #[inline]
    fn strong_u64(&mut self) -> Result<u64, u64> {
        if let Some((_, bytes)) = self.strong[..self.strong_left].split_last_chunk_mut() {
            self.strong_left -= bytes.len();
            return Ok(u64::from_le_bytes(mem::take(bytes)));
        }
        self.fetch_strong_and_take()
    }

    #[cold]
    #[inline(never)]
    fn fetch_strong_and_take(&mut self) -> Result<u64, u64> {
        if getrandom::fill(&mut self.strong).is_err() {
            DEGRADED.set(true);
            self.strong = [0; STRONG_BYTES];
            return Err(self.rng.next_u64());
        }
        self.strong_left = STRONG_BYTES;
        self.strong_u64()
    }

    #[inline(never)]
    fn look_at(&mut self, now_ms: u64, stamp_ms: Option<i64>) {
        let mut age_ms = now_ms.saturating_sub(self.seeded_at_ms);
        if !self.seeded || age_ms >= RESEED_AFTER_MS {
            self.reseed();
            self.seeded_at_ms = now_ms;
            age_ms = 0;
        }
        if let Some(stamp_ms) = stamp_ms {
            self.seeded_at_stamp = stamp_ms.wrapping_sub(age_ms as i64);
        }
        self.draws_before_look = if now_ms == self.looked_at_ms { DRAWS_A_LOOK_IN_A_BURST - 1 } else { 0 };
        self.looked_at_ms = now_ms;
    }

    /// Mixes fresh randomness into what there is, so that a reseed that the OS refuses takes nothing away.
    fn reseed(&mut self) {
        let mut seed = fresh_seed();
        if self.seeded {
            let mut kept = [0; 32];
            self.rng.fill_bytes(&mut kept);
            seed.iter_mut().zip(kept).for_each(|(new, old)| *new ^= old);
        }
        self.rng = Xoshiro256PlusPlus::from_seed(seed);
        if self.seeded {
            self.origin.reseeds += 1;
        } else {
            self.origin = Origin { stream: self.rng.next_u64(), reseeds: 0 };
        }
        self.seeded = true;
        self.strong = [0; STRONG_BYTES];
        self.strong_left = 0;
    }
}

fn fresh_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    let refused = getrandom::fill(&mut seed).is_err();
    DEGRADED.set(refused);
    if refused { noise() } else { seed }
}

/// What differs between any two processes and any two moments, for when the OS has no randomness to give.
fn noise() -> [u8; 32] {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let on_the_stack = 0_u8;
    let mut hasher = DefaultHasher::new();
    std::time::SystemTime::now().hash(&mut hasher);
    std::time::Instant::now().hash(&mut hasher);
    std::process::id().hash(&mut hasher);
    CALLS.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    (&raw const on_the_stack).hash(&mut hasher);
    (noise as fn() -> [u8; 32]).hash(&mut hasher);

    let mut seed = [0; 32];
    for word in seed.chunks_exact_mut(8) {
        std::time::Instant::now().hash(&mut hasher);
        word.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    seed
}

const _: () = assert!(size_of::<Stream>() <= 4096, "a stream fits into the smallest page");

/// The memory of one thread's stream, given back when the thread ends.
struct Page(*mut Stream);

impl Drop for Page {
    fn drop(&mut self) {
        STREAM.set(ptr::null_mut());
        // SAFETY: mapped in `Page::map` with this size, and with `STREAM` cleared nothing points to it.
        unsafe { libc::munmap(self.0.cast(), size_of::<Stream>()) };
    }
}

/// This thread's stream, mapped on first use. None in a thread that is already being torn down, and where memory can not
/// be had or not be kept from children: then each id gets a generator of its own.
fn this_threads_stream() -> Option<*mut Stream> {
    PAGE.try_with(|page| page.get_or_init(Page::map).as_ref().map(|page| page.0)).ok().flatten()
}

impl Page {
    fn map() -> Option<Self> {
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<Stream>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let page = Self(address.cast());
        // Both, where both are to be had: emulators are known to accept the advice and ignore it.
        if !(wiped_in_children(address) | marked_in_children()) {
            return None;
        }
        STREAM.set(page.0);
        Some(page)
    }
}

/// Has the kernel wipe the page in children (Linux 4.14 and later).
fn wiped_in_children(page: *mut libc::c_void) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: `page` was just mapped, with this size.
    return unsafe { libc::madvise(page, size_of::<Stream>(), libc::MADV_WIPEONFORK) } == 0;
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Has every fork mark the stream of the one thread that a child goes on with.
fn marked_in_children() -> bool {
    extern "C" fn in_child() {
        let stream = STREAM.get();
        if !stream.is_null() {
            // SAFETY: as in `draw`.
            let stream = unsafe { &mut *stream };
            stream.seeded = false;
            stream.draws_before_look = 0;
        }
    }
    // No Once: where one thread forks while another is in it, the child would wait for ever. Twice does no harm.
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.load(Ordering::Relaxed) {
        // SAFETY: the handler only touches thread-local plain data; the library is never unloaded (-z nodelete).
        let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        REGISTERED.store(code == 0, Ordering::Relaxed);
    }
    REGISTERED.load(Ordering::Relaxed)
}
