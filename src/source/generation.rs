//! Detects whether this is still the same process: a number that differs in every child, however the child was made.
//!
//! The kernel wipes the number's page in every child (Linux 4.14 and later). Elsewhere, each call asks for the number in
//! a timer of this process, or for the process id. Nothing here locks or allocates: a signal handler may fork anywhere.

use super::pid::pid;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use super::timer;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Never the number of a generation.
pub(crate) const NONE: u64 = 0;

/// The last number that was given out. Outside the page, so that a child's number is greater than that of every process
/// it descends from.
static LAST: AtomicU64 = AtomicU64::new(NONE);

/// What [`PAGE`] points to until the kernel was asked, and permanently where the kernel does not wipe. Both stay
/// [`NONE`].
static NOT_ASKED: AtomicU64 = AtomicU64::new(NONE);
static NOT_WIPED: AtomicU64 = AtomicU64::new(NONE);

static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const NOT_ASKED).cast_mut());

/// The generation's number if it can be read, or [`NONE`].
#[inline(always)]
pub(crate) fn read() -> u64 {
    // SAFETY: it points to one of the two statics or to a page that stays mapped, and only atomic operations touch
    // those. Relaxed, because there is nothing in the page but the one word.
    unsafe { &*PAGE.load(Ordering::Relaxed) }.load(Ordering::Relaxed)
}

/// The generation's number.
#[inline]
pub(crate) fn get() -> u64 {
    match read() {
        NONE => begin(),
        number => number,
    }
}

#[cold]
#[inline(never)]
fn begin() -> u64 {
    let mut page = PAGE.load(Ordering::Relaxed);
    if ptr::eq(page, &NOT_ASKED) {
        page = choose(map().unwrap_or((&raw const NOT_WIPED).cast_mut()));
    }
    if ptr::eq(page, &NOT_WIPED) {
        return where_nothing_is_wiped();
    }
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: as in `read`.
    let page = unsafe { &*page };
    // Another thread may have been first. Release, so that nobody sees this number, and forks, before `LAST` has it: the
    // child would count to the same number again.
    page.compare_exchange(NONE, number, Ordering::Release, Ordering::Relaxed).map_or_else(|other| other, |_| number)
}

/// Above all numbers that are counted.
fn by_process_id() -> u64 {
    1 << 32 | u64::from(pid())
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn where_nothing_is_wiped() -> u64 {
    timer::number(&LAST).unwrap_or_else(by_process_id)
}

// Elsewhere, the kernel's structs are not those of the C library, or there are no such timers.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn where_nothing_is_wiped() -> u64 {
    by_process_id()
}

/// Makes `page` the page of the process, unless another thread was first; returns the one in use.
fn choose(page: *mut AtomicU64) -> *mut AtomicU64 {
    let not_asked = (&raw const NOT_ASKED).cast_mut();
    match PAGE.compare_exchange(not_asked, page, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => page,
        Err(chosen) => {
            if !ptr::eq(page, &NOT_WIPED) {
                // SAFETY: mapped by `map`, and not shared with anyone yet.
                unsafe { libc::munmap(page.cast(), size_of::<AtomicU64>()) };
            }
            chosen
        }
    }
}

/// A page of zeros that the kernel wipes in children; null if the kernel does not wipe or has no memory.
#[cfg(target_os = "linux")]
fn map() -> Option<*mut AtomicU64> {
    /// Linux has never had this advice.
    const NO_ADVICE: libc::c_int = -1;
    const LENGTH: usize = size_of::<AtomicU64>();

    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists, and the advice
    // concerns this mapping alone.
    unsafe {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let page = libc::mmap(ptr::null_mut(), LENGTH, access, flags, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        // Some emulators accept any advice and ignore it. Trust only a kernel that rejects an invalid one.
        if libc::madvise(page, LENGTH, NO_ADVICE) == 0 || libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, LENGTH);
            return None;
        }
        Some(page.cast())
    }
}

#[cfg(not(target_os = "linux"))]
fn map() -> Option<*mut AtomicU64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_keeps_its_number() {
        let number = get();
        assert_ne!(number, NONE);
        assert_eq!((0..100).map(|_| get()).find(|&other| other != number), None);
        std::thread::spawn(move || assert_eq!(get(), number)).join().unwrap();
    }
}
