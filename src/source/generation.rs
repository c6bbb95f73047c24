//! Detects whether this is still the same process: a number that differs in every child, however the child was made.
//!
//! The kernel wipes the number's page in every child (Linux 4.14 and later). Elsewhere, each call asks for the number in
//! a timer of this process, or for the process id. Nothing here locks or allocates: a signal handler may fork anywhere.

use super::memory;
use super::pid::pid;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use super::timer;
use std::ptr::{self, NonNull};
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
fn begin() -> u64 {
    let mut page = PAGE.load(Ordering::Relaxed);
    if ptr::eq(page, &NOT_ASKED) {
        page = choose(map());
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
fn choose(page: Option<NonNull<AtomicU64>>) -> *mut AtomicU64 {
    let (not_asked, not_wiped) = ((&raw const NOT_ASKED).cast_mut(), (&raw const NOT_WIPED).cast_mut());
    let wanted = page.map_or(not_wiped, NonNull::as_ptr);
    match PAGE.compare_exchange(not_asked, wanted, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => wanted,
        Err(chosen) => {
            if let Some(page) = page {
                // SAFETY: mapped by `map`, and not shared with anyone yet.
                unsafe { memory::unmap(page) };
            }
            chosen
        }
    }
}

/// A page that the kernel wipes in children; None if it does not wipe or has no memory.
fn map() -> Option<NonNull<AtomicU64>> {
    let page = memory::map()?;
    // SAFETY: it was just mapped, and nobody else has it.
    unsafe {
        if accepts_any_advice(page) || !memory::wipe_in_children(page) {
            memory::unmap(page);
            return None;
        }
    }
    Some(page)
}

/// Some emulators accept any advice and ignore it. Only a kernel that rejects an invalid one is trusted.
#[cfg(target_os = "linux")]
fn accepts_any_advice(page: NonNull<AtomicU64>) -> bool {
    /// Linux has never had this advice.
    const NO_ADVICE: libc::c_int = -1;
    // SAFETY: if it has an effect, it is on a page that holds nothing.
    unsafe { libc::madvise(page.as_ptr().cast(), size_of::<AtomicU64>(), NO_ADVICE) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn accepts_any_advice(_: NonNull<AtomicU64>) -> bool {
    false
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
