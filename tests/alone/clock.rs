//! The clocks of a test's process, which it can move: this function stands in front of the C library's.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, Ordering};

/// What all clocks say.
#[allow(dead_code, reason = "most tests only move them")]
#[derive(Clone, Copy)]
pub enum Clocks {
    AsTheyAre,
    Refused,
    Before1970,
    ASecondOfNanoseconds,
}

static CLOCKS: AtomicI32 = AtomicI32::new(Clocks::AsTheyAre as i32);

thread_local! {
    static AHEAD_SECONDS: Cell<i64> = const { Cell::new(0) };
}

/// For all threads.
#[allow(dead_code, reason = "most tests only move them")]
pub fn set(clocks: Clocks) {
    CLOCKS.store(clocks as i32, Ordering::Relaxed);
}

/// From now on, clocks are ahead by so much more in this thread, and in the children that it forks.
#[allow(dead_code, reason = "not every test moves them")]
pub fn pass(seconds: i64) {
    AHEAD_SECONDS.set(AHEAD_SECONDS.get() + seconds);
}

#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> i32 {
    let clocks = CLOCKS.load(Ordering::Relaxed);
    if clocks == Clocks::Refused as i32 {
        return -1;
    }
    // SAFETY: the caller's promise about `time`.
    unsafe {
        let result = libc::syscall(libc::SYS_clock_gettime, clock, time) as i32;
        if clocks == Clocks::Before1970 as i32 && clock != libc::CLOCK_MONOTONIC {
            *time = libc::timespec { tv_sec: -2, tv_nsec: 999_999_999 };
        }
        if clocks == Clocks::ASecondOfNanoseconds as i32 {
            (*time).tv_nsec = 1_000_000_000;
        }
        if result == 0 {
            (*time).tv_sec += AHEAD_SECONDS.get();
        }
        result
    }
}
