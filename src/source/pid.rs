//! The process id, as the kernel gives it at each call.

/// Not through the C library: glibc before 2.25 caches it, and does not notice a raw clone.
#[cfg(target_os = "linux")]
pub(super) fn pid() -> u32 {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pid() -> u32 {
    std::process::id()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_id_is_this_processs() {
        assert_eq!(super::pid(), std::process::id());
    }
}
