//! The system's randomness. No file stays open, and no lock is held, so that a child that is forked meanwhile can ask as well.

use super::clock;
use super::pid::pid;
use std::array;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// Fills `bytes` with the system's randomness. Returns whether there was enough.
pub(super) fn fill(bytes: &mut [u8]) -> bool {
    #[cfg(target_os = "linux")]
    return by_call(bytes) || by_file(bytes);
    #[cfg(not(target_os = "linux"))]
    return getrandom::fill(bytes).is_ok();
}

/// Not through the C library, which has the function since glibc 2.25 only.
#[cfg(target_os = "linux")]
fn by_call(bytes: &mut [u8]) -> bool {
    fill_by(bytes, |rest| {
        // SAFETY: the kernel writes no more bytes than `rest` has.
        unsafe { libc::syscall(libc::SYS_getrandom, rest.as_mut_ptr(), rest.len(), 0) as isize }
    })
}

/// For sandboxes that forbid the call, and for Linux before 3.17.
#[cfg(target_os = "linux")]
#[cold]
fn by_file(bytes: &mut [u8]) -> bool {
    // Without waiting, in case it is a pipe.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path ends with a NUL, and the descriptor is closed by nobody else.
    unsafe {
        let file = libc::open(c"/dev/urandom".as_ptr(), flags);
        if file < 0 {
            return false;
        }
        let is_filled =
            is_urandom(file) && fill_by(bytes, |rest| libc::read(file, rest.as_mut_ptr().cast(), rest.len()));
        libc::close(file);
        is_filled
    }
}

/// Whether the file is the kernel's, and not one that somebody has put there.
#[cfg(target_os = "linux")]
fn is_urandom(file: libc::c_int) -> bool {
    const MAJOR_AND_MINOR: (u32, u32) = (1, 9);
    // SAFETY: the kernel writes to our own struct, for which zeros are valid.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        libc::fstat(file, &raw mut status) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFCHR
            && (libc::major(status.st_rdev), libc::minor(status.st_rdev)) == MAJOR_AND_MINOR
    }
}

/// Calls `read` until the bytes are full. It returns how many it has written, or -1 with an errno.
#[cfg(target_os = "linux")]
fn fill_by(mut bytes: &mut [u8], mut read: impl FnMut(&mut [u8]) -> isize) -> bool {
    while !bytes.is_empty() {
        match read(bytes) {
            given @ 1.. => bytes = &mut { bytes }[given as usize..],
            -1 if is_interrupted() => {}
            _ => return false,
        }
    }
    true
}

#[cfg(target_os = "linux")]
fn is_interrupted() -> bool {
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
}

/// Differs between any two processes and any two moments, for when the OS has no randomness.
pub(super) fn noise() -> [u64; 4] {
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_is_given_in_pieces_is_put_together_whatever_interrupts_it() {
        let answers = |answers: &[Result<isize, i32>]| {
            let (mut bytes, mut written, mut next) = ([0; 6], 0, answers.iter());
            let is_filled = fill_by(&mut bytes, |rest| match *next.next().unwrap() {
                Ok(count) => {
                    for byte in &mut rest[..count as usize] {
                        written += 1;
                        *byte = written;
                    }
                    count
                }
                Err(errno) => {
                    // SAFETY: it is this thread's own.
                    unsafe { *libc::__errno_location() = errno };
                    -1
                }
            });
            (is_filled, bytes)
        };
        assert_eq!(answers(&[Ok(1), Err(libc::EINTR), Ok(2), Ok(3)]), (true, [1, 2, 3, 4, 5, 6]));
        assert_eq!(answers(&[Ok(1), Ok(0)]), (false, [1, 0, 0, 0, 0, 0]));
        assert_eq!(answers(&[Ok(1), Err(libc::EIO)]), (false, [1, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn only_the_kernels_file_is_randomness() {
        let is_it = |path: &str| is_urandom(File::open(path).unwrap().as_raw_fd());
        assert!(is_it("/dev/urandom"));
        assert!(!is_it("/dev/null") && !is_it("/dev/zero") && !is_it("/"));
        let mut bytes = [[0; 32]; 2];
        assert!(bytes.iter_mut().all(|bytes| by_file(bytes)));
        assert_ne!(bytes[0], bytes[1]);
    }
}
