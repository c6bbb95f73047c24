//! WIPEONFORK pages: what a fork would copy is zero in the child (`MADV_WIPEONFORK`, Linux 4.14 and later).

use std::ptr::{self, NonNull};

/// A page of zeros for a `T`; None if the kernel does not wipe it in children, or has no memory.
pub(super) fn map_wiped<T>() -> Option<NonNull<T>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<T>(), access, flags, -1, 0) };
    let page = NonNull::new(page.cast()).filter(|_| page != libc::MAP_FAILED)?;
    if is_wiped_in_children(page) {
        return Some(page);
    }
    // SAFETY: it was just mapped, and nobody else has it.
    unsafe { unmap(page) };
    None
}

/// Gives a page back.
///
/// # Safety
///
/// The page must be from [`map_wiped`], and nobody may use it any more.
pub(super) unsafe fn unmap<T>(page: NonNull<T>) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(page.as_ptr().cast(), size_of::<T>()) };
}

/// Some emulators accept any advice and ignore it. Only a kernel that rejects an invalid one is trusted.
#[cfg(target_os = "linux")]
fn is_wiped_in_children<T>(page: NonNull<T>) -> bool {
    /// Linux has never had this advice.
    const NO_ADVICE: libc::c_int = -1;
    // SAFETY: the advice concerns the new mapping alone, which holds nothing.
    let accepts = |advice| unsafe { libc::madvise(page.as_ptr().cast(), size_of::<T>(), advice) } == 0;
    !accepts(NO_ADVICE) && accepts(libc::MADV_WIPEONFORK)
}

#[cfg(not(target_os = "linux"))]
fn is_wiped_in_children<T>(_: NonNull<T>) -> bool {
    false
}
