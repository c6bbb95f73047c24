//! A thread that is cancelled while it is in the library leaves nothing open there: the cancellation waits.

#![cfg(target_os = "linux")]

use std::ffi::c_void;
use std::ptr;
use test_helpers::Directory;
use txid::snowflake::{Layout, State};

struct Task<'a> {
    work: &'a dyn Fn(),
    is_done: bool,
}

extern "C-unwind" fn cancelled_from_the_start(task: *mut c_void) -> *mut c_void {
    // SAFETY: it is the task of `finishes`, which waits for this thread.
    let task = unsafe { &mut *task.cast::<Task>() };
    // SAFETY: the thread is this one.
    unsafe { libc::pthread_cancel(libc::pthread_self()) };
    (task.work)();
    task.is_done = true;
    ptr::null_mut()
}

/// Whether a new thread finishes `work` that somebody cancels before it begins.
fn finishes(work: &dyn Fn()) -> bool {
    let mut task = Task { work, is_done: false };
    let mut thread = 0;
    // SAFETY: the task is there until the thread has ended.
    unsafe {
        let no_attributes = ptr::null();
        let start: extern "C-unwind" fn(*mut c_void) -> *mut c_void = cancelled_from_the_start;
        #[allow(clippy::missing_transmute_annotations, reason = "the type of `start` without -unwind")]
        let start = std::mem::transmute(start);
        assert_eq!(libc::pthread_create(&raw mut thread, no_attributes, start, (&raw mut task).cast()), 0);
        assert_eq!(libc::pthread_join(thread, ptr::null_mut()), 0);
    }
    task.is_done
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn what_has_begun_is_finished() {
    let directory = Directory::new("cancellation");
    let before = open_descriptors();
    for number in 0..20 {
        let path = directory.0.join(format!("state-{}", number / 2));
        // Made, and opened the next time.
        assert!(finishes(&|| _ = State::open(&path, &Layout::SNOWFLAKE, 1).unwrap()));
    }
    assert!(finishes(&|| assert_eq!(txid::Txid::now().to_text().len(), 20)), "the first id of a thread");
    assert!(finishes(&|| _ = txid::host_ipv6()), "the host's address");
    assert_eq!(open_descriptors(), before);
    // Or the cancellations were none, or lost.
    // SAFETY: it has nothing to do with memory.
    let is_cancelled = || _ = unsafe { libc::usleep(1000) };
    assert!(!finishes(&is_cancelled));
    let path = directory.0.join("another");
    assert!(!finishes(&|| {
        _ = State::open(&path, &Layout::SNOWFLAKE, 1).unwrap();
        is_cancelled();
    }));
}
