//! Pages of the kernel's own, which it can wipe in children: what a fork would copy is zero there (Linux 4.14 and later).

use std::ptr::{self, NonNull};

/// A page of zeros; None if there is no memory.
pub(super) fn map<T>() -> Option<NonNull<T>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<T>(), access, flags, -1, 0) };
    if page == libc::MAP_FAILED { None } else { NonNull::new(page.cast()) }
}

/// Gives a page back.
///
/// # Safety
///
/// The page must be from [`map`], and nobody may use it any more.
pub(super) unsafe fn unmap<T>(page: NonNull<T>) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(page.as_ptr().cast(), size_of::<T>()) };
}

/// Lets the kernel wipe the page in children. Returns whether it said that it will.
///
/// # Safety
///
/// The page must be from [`map`].
pub(super) unsafe fn wipe_in_children<T>(page: NonNull<T>) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: the advice concerns this mapping alone.
    return unsafe { libc::madvise(page.as_ptr().cast(), size_of::<T>(), libc::MADV_WIPEONFORK) } == 0;
    #[cfg(not(target_os = "linux"))]
    {
        _ = page;
        false
    }
}
