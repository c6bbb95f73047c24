//! The per-thread, fork-safe generator: the only file that asks the OS for randomness.
//!
//! Each thread has one stream (xoshiro256++), in a page of its own that the kernel wipes in every child process, however
//! the child is made: a child finds zeros, which mean "not seeded", and seeds itself. Where the kernel cannot wipe, a fork
//! handler marks the page. Once a second of use fresh OS randomness is mixed in, so that two copies of one machine
//! image part ways.

use crate::clock;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::{Cell, OnceCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const RESEED_AFTER_MS: u64 = 1000;

/// In a burst the clock is looked at every so many draws; while it ticks between two looks, at every draw.
const DRAWS_A_LOOK_IN_A_BURST: u32 = 32;

/// One thread's generator. All zeros is a valid value, and means "not seeded".
struct Stream {
    rng: Xoshiro256PlusPlus,
    seeded: bool,
    seeded_at_ms: u64,
    /// The stamp that belongs to the moment of seeding: a stamp a second or more away from it says "look at the clock".
    seeded_at_stamp: i64,
    looked_at_ms: u64,
    draws_before_look: u32,
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
#[inline]
pub(crate) fn next_u64(stamp_ms: i64) -> u64 {
    let stream = STREAM.get();
    if !stream.is_null() {
        // SAFETY: not null, so it is this thread's mapped page; no other thread knows it, and no reference to it
        // outlives a call.
        let stream = unsafe { &mut *stream };
        let since_seeding = stamp_ms.wrapping_sub(stream.seeded_at_stamp) as u64;
        if stream.draws_before_look > 0 && since_seeding < RESEED_AFTER_MS {
            stream.draws_before_look -= 1;
            return stream.rng.next_u64();
        }
    }
    look_at_the_clock_and_draw(stamp_ms)
}

#[cold]
#[inline(never)]
fn look_at_the_clock_and_draw(stamp_ms: i64) -> u64 {
    let Some(stream) = this_threads_stream() else {
        return Xoshiro256PlusPlus::from_seed(fresh_seed()).next_u64();
    };
    // SAFETY: as in `next_u64`.
    let stream = unsafe { &mut *stream };
    stream.look_at(clock::uptime_ms(), stamp_ms);
    stream.rng.next_u64()
}

impl Stream {
    fn look_at(&mut self, now_ms: u64, stamp_ms: i64) {
        let mut age_ms = now_ms.saturating_sub(self.seeded_at_ms);
        if !self.seeded || age_ms >= RESEED_AFTER_MS {
            self.reseed();
            self.seeded_at_ms = now_ms;
            age_ms = 0;
        }
        self.seeded_at_stamp = stamp_ms.wrapping_sub(age_ms as i64);
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
        self.seeded = true;
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
            // SAFETY: as in `next_u64`.
            let stream = unsafe { &mut *stream };
            stream.seeded = false;
            stream.draws_before_look = 0;
        }
    }
    static REGISTER: Once = Once::new();
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    REGISTER.call_once(|| {
        // SAFETY: the handler only touches thread-local plain data; the library is never unloaded (-z nodelete).
        let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        REGISTERED.store(code == 0, Ordering::Relaxed);
    });
    REGISTERED.load(Ordering::Relaxed)
}
