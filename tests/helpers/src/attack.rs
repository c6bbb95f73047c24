//! Tools for attacks: children made in every way, refused system calls, and memory that a family of processes shares.

use std::ffi::c_void;
use std::io::Read;
use std::ops::Range;
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn fork() -> i32 {
    // SAFETY: the tests' children need no lock that another thread could have held.
    unsafe { libc::fork() }
}

/// A fork that the C library does not notice, so that no fork handler runs.
pub fn raw_clone() -> i32 {
    // SAFETY: as for `fork`; no flags but the signal, so the child has its own memory and continues here.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32 }
}

/// Runs `work` in a child that shares this process's memory, while this thread waits for its end. Returns the child's
/// process id.
pub fn vfork(mut work: impl FnMut()) -> i32 {
    extern "C" fn run<W: FnMut()>(work: *mut c_void) -> i32 {
        // SAFETY: the parent passed its own closure and is suspended.
        let work = unsafe { &mut *work.cast::<W>() };
        i32::from(catch_unwind(AssertUnwindSafe(work)).is_err())
    }
    fn entry<W: FnMut()>(_: &W) -> extern "C" fn(*mut c_void) -> i32 {
        run::<W>
    }
    let mut stack = vec![0_u128; 64 * 1024];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is large, aligned and outlives the child, which ends before clone returns (CLONE_VFORK).
    let pid = unsafe { libc::clone(entry(&work), stack.as_mut_ptr_range().end.cast(), flags, (&raw mut work).cast()) };
    assert!(pid > 0 && ended_well(pid), "the child failed");
    pid
}

/// Ends this process at once, without the exit handlers that it inherited.
pub fn end(status: i32) -> ! {
    // SAFETY: always allowed.
    unsafe { libc::_exit(status) }
}

/// Whether the child `pid`, or any child if that is -1, ended successfully.
pub fn ended_well(pid: i32) -> bool {
    let mut status = 0;
    // SAFETY: `status` is our own.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    (ended == pid || pid == -1 && ended > 0) && status == 0
}

/// A child, and its output.
pub struct Child {
    pid: i32,
    output: std::fs::File,
}

impl Child {
    /// Runs `work` in a child made by `start`.
    pub fn start(start: fn() -> i32, work: impl FnOnce() -> Vec<u8>) -> Self {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for the two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let pid = start();
        assert!(pid >= 0);
        if pid == 0 {
            // A panic would end this thread, the child's only one, and with that the child, successfully.
            let output = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| end(1));
            let mut rest = &output[..];
            while !rest.is_empty() {
                // SAFETY: the descriptor is open, and the bytes are ours.
                let written = unsafe { libc::write(ends[1], rest.as_ptr().cast(), rest.len()) };
                if written <= 0 {
                    end(1);
                }
                rest = &rest[written as usize..];
            }
            end(0);
        }
        // SAFETY: both descriptors are open and not owned by anything else.
        unsafe {
            libc::close(ends[1]);
            Self { pid, output: std::fs::File::from_raw_fd(ends[0]) }
        }
    }

    /// Its output. It must have ended successfully.
    pub fn output(mut self) -> Vec<u8> {
        let mut output = Vec::new();
        self.output.read_to_end(&mut output).unwrap();
        assert!(ended_well(self.pid), "the child failed");
        output
    }
}

/// From now on, the calling thread's `syscalls` fail with `errno`.
pub fn refuse(syscalls: &[libc::c_long], errno: i32) {
    refuse_where(syscalls, &[], errno);
}

/// From now on, the calling thread's `syscalls` whose third argument is one of `third` fail with `errno`.
pub fn refuse_where(syscalls: &[libc::c_long], third: &[u32], errno: i32) {
    filter(syscalls, third, libc::SECCOMP_RET_ERRNO | errno as u32);
}

/// From now on, the process ends when the calling thread calls one of `syscalls`.
pub fn forbid(syscalls: &[libc::c_long]) {
    filter(syscalls, &[], libc::SECCOMP_RET_KILL_PROCESS);
}

/// From now on, the calling thread gets a SIGSYS instead of the effect of `syscalls`.
pub fn trap(syscalls: &[libc::c_long]) {
    filter(syscalls, &[], libc::SECCOMP_RET_TRAP);
}

fn filter(syscalls: &[libc::c_long], third: &[u32], action: u32) {
    let op = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, equal) = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    let refuse = op(libc::BPF_RET | libc::BPF_K, action, 0, 0);
    let allow = op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0);
    // Offset 0 of seccomp_data is the number of the call, 32 the lower half of its third argument.
    let mut filter = vec![op(load, 0, 0, 0)];
    let more = if third.is_empty() { 0 } else { third.len() + 2 };
    for (place, &syscall) in syscalls.iter().enumerate() {
        let last = place + 1 == syscalls.len();
        let past_the_refusal = (more + 1) as u8;
        filter.push(op(
            equal,
            syscall as u32,
            (syscalls.len() - 1 - place) as u8,
            if last { past_the_refusal } else { 0 },
        ));
    }
    if !third.is_empty() {
        filter.push(op(load, 32, 0, 0));
        for (place, &value) in third.iter().enumerate() {
            filter.push(op(equal, value, (third.len() - place) as u8, 0));
        }
        filter.push(allow);
    }
    filter.extend([refuse, allow]);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is well-formed and outlives the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

/// This process's mappings whose flags are wanted; `man 5 proc_pid_smaps` has their names.
pub fn mappings(is_wanted: impl Fn(&[&str]) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut last = 0..0;
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let Some((begin, end)) = words[0].split_once('-') {
            last = usize::from_str_radix(begin, 16).unwrap()..usize::from_str_radix(end, 16).unwrap();
        } else if words[0] == "VmFlags:" && is_wanted(&words[1..]) {
            found.push(last.clone());
        }
    }
    found
}

/// How many pages the kernel wipes in a child of this process, without the states of the vDSO's getrandom.
pub fn wiped_on_fork() -> usize {
    let wiped = mappings(|flags| flags.contains(&"wf") && !flags.contains(&"dp"));
    // SAFETY: it only asks.
    wiped.iter().map(Range::len).sum::<usize>() / unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize
}

/// A list that a process and all that it forks write to, also in signal handlers.
#[derive(Clone, Copy)]
pub struct Shared<T: 'static> {
    length: &'static AtomicU64,
    items: *mut T,
    room: usize,
}

// SAFETY: only the process that took an entry writes to it, and it is read after all have ended.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy + 'static> Shared<T> {
    /// Makes a list with room for this many items.
    pub fn new(room: usize) -> Self {
        const HEAD: usize = 64;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists. It is never unmapped.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                HEAD + room * size_of::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the mapping is longer than both, and aligned to a page.
        unsafe { Self { length: &*page.cast(), items: page.cast::<u8>().add(HEAD).cast(), room } }
    }

    pub fn push(&self, item: T) {
        let place = self.length.fetch_add(1, Ordering::Relaxed) as usize;
        if place < self.room {
            // SAFETY: in the mapping, and nothing else has this entry.
            unsafe { self.items.add(place).write(item) };
        }
    }

    pub fn count(&self) -> usize {
        self.length.load(Ordering::Relaxed) as usize
    }

    /// All items. The processes that wrote must have ended.
    pub fn items(&self) -> Vec<T> {
        assert!(self.count() <= self.room, "more than there was room for");
        // SAFETY: this many have been written.
        (0..self.count()).map(|place| unsafe { self.items.add(place).read() }).collect()
    }
}

/// Calls `handler` at each `signal`, with the registers of the interrupted code.
pub fn handle(signal: i32, handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void)) {
    // SAFETY: the action is complete, and the handlers of these tests only do what a handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
    }
}
