//! Which process this is.

use super::entropy::StreamId;
use super::pid::pid;
use std::cell::Cell;
#[cfg(target_os = "linux")]
use std::ptr;

/// The process id. It is requested once for each stream, which no two processes share, because a request costs as much as
/// an id.
///
/// The child of a vfork has its parent's memory, and would leave its own id there, which the parent would go on with. So
/// it is stored only where this is surely not such a child.
#[inline]
pub(crate) fn id(StreamId { stream, .. }: StreamId) -> u32 {
    thread_local! {
        static KNOWN: Cell<Option<(u64, u32)>> = const { Cell::new(None) };
    }
    match KNOWN.get() {
        Some((of, id)) if of == stream => id,
        _ => {
            let id = pid();
            if has_memory_of_its_own() {
                KNOWN.set(Some((stream, id)));
            }
            id
        }
    }
}

/// The C library tells the kernel its list of robust locks when a thread begins, and in the child of a fork. The child of
/// a vfork has none, nor has one that was made without the C library, which is then asked each time.
#[cold]
#[cfg(target_os = "linux")]
fn has_memory_of_its_own() -> bool {
    let (mut list, mut length) = (ptr::null_mut::<libc::c_void>(), 0_usize);
    // SAFETY: the kernel writes to our own variables. 0 is the calling thread.
    let is_known = unsafe { libc::syscall(libc::SYS_get_robust_list, 0, &raw mut list, &raw mut length) } == 0;
    is_known && !list.is_null()
}

#[cfg(not(target_os = "linux"))]
fn has_memory_of_its_own() -> bool {
    false
}
