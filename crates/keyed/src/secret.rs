//! Memory for keys: not in core dumps, not in swap space if the system allows that, and wiped before it is given back.
//! Children inherit it, since nginx's workers need the keys that their master has read. They do not inherit the lock, but
//! the pages stay those of their parent, which nobody writes to.

use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};
use std::io;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// Values in memory of their own.
pub(crate) struct Secret<T> {
    first: NonNull<T>,
    count: usize,
    most: usize,
    lock: Result<(), Errno>,
}

// SAFETY: it owns its values, as a `Box<[T]>` does.
unsafe impl<T: Send> Send for Secret<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Secret<T> {}

impl<T> Secret<T> {
    /// Room for `most` values.
    pub(crate) fn with_room_for(most: usize) -> io::Result<Self> {
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= 4096) };
        let bytes = most * size_of::<T>();
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let mapped = unsafe {
            mm::mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let first = NonNull::new(mapped.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the mapping is ours, and its content stays.
        let lock = unsafe { mm::mlock(mapped, bytes) };
        let secret = Self { first, count: 0, most, lock };
        #[cfg(target_os = "linux")]
        // SAFETY: the mapping is ours, and its content stays.
        unsafe {
            mm::madvise(mapped, bytes, mm::Advice::LinuxDontDump)?;
        }
        Ok(secret)
    }

    pub(crate) fn not_locked(&self) -> Option<io::Error> {
        self.lock.err().map(io::Error::from)
    }

    pub(crate) fn push(&mut self, value: T) {
        assert!(self.count < self.most, "there is room for {}", self.most);
        // SAFETY: there is room for it.
        unsafe { self.first.add(self.count).write(value) };
        self.count += 1;
    }
}

impl Secret<u8> {
    /// Fills it with what `read` reads to its argument, until that is nothing.
    pub(crate) fn fill(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
        while self.count < self.most {
            // SAFETY: the room is ours, and the kernel has filled it with zeros.
            let room =
                unsafe { std::slice::from_raw_parts_mut(self.first.add(self.count).as_ptr(), self.most - self.count) };
            match read(room) {
                Ok(0) => break,
                Ok(count) => self.count += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<T> Deref for Secret<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `count` values were written.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl<T> Drop for Secret<T> {
    fn drop(&mut self) {
        // SAFETY: `count` values were written, and nobody uses them any more.
        unsafe { ptr::drop_in_place(ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count)) };
        let first: *mut u8 = self.first.as_ptr().cast();
        let bytes = self.most * size_of::<T>();
        for place in 0..bytes {
            // SAFETY: it is within the mapping. The compiler must not leave a volatile write out.
            unsafe { ptr::write_volatile(first.add(place), 0) };
        }
        // SAFETY: the mapping is ours, and nobody has a reference to it any more.
        _ = unsafe { mm::munmap(first.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_stands_in_a_row_and_an_interrupted_read_is_tried_again() {
        let mut secret = Secret::with_room_for(5).unwrap();
        let mut rooms = Vec::new();
        let mut answers = [Ok("ab"), Err(io::ErrorKind::Interrupted), Ok("cde")].into_iter();
        secret
            .fill(|room| {
                rooms.push(room.len());
                let text = answers.next().expect("nothing is read to no room")?.as_bytes();
                room[..text.len()].copy_from_slice(text);
                Ok(text.len())
            })
            .unwrap();
        assert_eq!((&*secret, rooms), (&b"abcde"[..], vec![5, 3, 3]));
        assert!(Secret::with_room_for(5).unwrap().fill(|_| Err(io::ErrorKind::IsADirectory.into())).is_err());
    }

    /// In a child, where no other thread takes the memory at once.
    #[test]
    fn all_of_the_memory_is_given_back() {
        const STEP: usize = 1 << 16;
        let is_there = |address: usize| {
            let mut page = 0;
            // SAFETY: it writes a byte about the page of an address, or nothing.
            unsafe { libc::mincore(address as *mut _, 1, &mut page) == 0 }
        };
        // SAFETY: the child takes no lock that another thread may hold.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let gives_all_back = Secret::<u64>::with_room_for(STEP).is_ok_and(|secret| {
                let first = secret.first.as_ptr() as usize;
                let steps = [0, 1, 2, 3, 4, 5, 6, 7].map(|step| first + step * STEP);
                let was_there = steps.into_iter().all(is_there);
                drop(secret);
                was_there && !steps.into_iter().any(is_there)
            });
            // SAFETY: nothing else of the child runs.
            unsafe { libc::_exit(i32::from(!gives_all_back)) };
        }
        let mut status = 0;
        // SAFETY: it writes the status of the child.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        assert_eq!(status, 0);
    }
}
