//! Which process this is.

use super::generation;
use super::kept::Kept;

/// The process id. It is requested once for each thread and process, because a request costs as much as an id.
#[inline]
pub(crate) fn id() -> u32 {
    const UNKNOWN: (u64, u32) = (generation::NONE, 0);
    thread_local! {
        static KNOWN: Kept<(u64, u32)> = const { Kept::new(UNKNOWN) };
    }
    let generation = generation::get();
    KNOWN.with(|kept| {
        kept.step(UNKNOWN, |known| {
            if known.0 != generation {
                *known = (generation, requested_id());
            }
            known.1
        })
    })
}

/// Not through the C library: glibc before 2.25 caches it, and does not notice a raw clone.
#[cfg(target_os = "linux")]
pub(super) fn requested_id() -> u32 {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn requested_id() -> u32 {
    std::process::id()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_id_is_this_processs() {
        assert_eq!(super::requested_id(), std::process::id());
    }
}
