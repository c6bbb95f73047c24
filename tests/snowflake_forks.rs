//! A child that is forked while another thread opens states can open one as well. It does not wait for the lock of a
//! thread that it does not have.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use test_helpers::Directory;
use txid::snowflake::{Layout, State};

const CHILDREN: usize = 300;
const SECONDS_BEFORE_A_CHILD_HANGS: u32 = 60;

/// Opens the state in a child, and returns its status: a child that hangs is killed by SIGALRM.
fn open_in_a_child(path: &Path) -> i32 {
    // SAFETY: the child of a threaded program; the functions it calls are under test.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: these end the child, and nothing else.
        unsafe {
            libc::alarm(SECONDS_BEFORE_A_CHILD_HANGS);
            let opened = State::open(path, &Layout::SNOWFLAKE, 1).is_ok();
            let in_memory = State::in_memory(&Layout::SNOWFLAKE, 2).is_ok();
            libc::_exit(i32::from(!(opened && in_memory)));
        }
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

#[test]
fn a_child_opens_a_state_while_its_parent_opens_others() {
    let directory = Directory::new("forks");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                State::open(&directory.0.join(format!("other-{number}")), &Layout::SNOWFLAKE, 1).unwrap();
            }
        });
        let path = directory.file();
        let failed: Vec<_> =
            (0..CHILDREN).map(|_| open_in_a_child(&path)).filter(|status| *status != 0).take(1).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(failed.is_empty(), "a child ended with status {failed:?}; {} is SIGALRM", libc::SIGALRM);
    });
}
