//! A number of this process that no child has: the interval of a timer that never fires, because timers are not inherited.
//!
//! A process id is not enough: it is used again, and a child in a new namespace may have its parent's. Nothing here locks
//! or allocates.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// Never the id of a timer: there is none yet, or there cannot be one.
const NOT_MADE: i32 = -1;
const REFUSED: i32 = -2;

/// The timer of this process, or of the one that it was forked from.
static TIMER: AtomicI32 = AtomicI32::new(NOT_MADE);

/// In how many seconds it would fire: more than a hundred years.
const NEVER_S: i64 = 1 << 32;

/// The number of this process. The first call in each takes it from `numbers`. None if the kernel gives no timers.
#[cold]
pub(super) fn number(numbers: &AtomicU64) -> Option<u64> {
    let timer = TIMER.load(Ordering::Relaxed);
    if timer == REFUSED {
        return None;
    }
    number_in(timer).or_else(|| make(timer, numbers))
}

fn make(before: i32, numbers: &AtomicU64) -> Option<u64> {
    let number = numbers.fetch_add(1, Ordering::Relaxed) + 1;
    let made = timer_of(number, mark()).filter(|&timer| number_in(timer) == Some(number));
    // Threads that are here at once may have a timer each, but agree on one of them. A child's timer may have the id that
    // its parent's has. Release, so that nobody sees this number, and forks, before `numbers` has it.
    let timer = made.unwrap_or(REFUSED);
    match TIMER.compare_exchange(before, timer, Ordering::Release, Ordering::Relaxed) {
        Ok(_) => made.map(|_| number),
        Err(other) => number_in(other),
    }
}

/// Tells this timer from those of the program, and of other copies of the library.
fn mark() -> i64 {
    mark_of(&raw const TIMER as usize)
}

fn mark_of(address: usize) -> i64 {
    1 + (address % 999_999_999) as i64
}

fn timer_of(number: u64, mark: i64) -> Option<i32> {
    let mut timer = NOT_MADE;
    // SAFETY: plain data, for which zeros are valid.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_NONE;
    let interval = libc::timespec { tv_sec: number as _, tv_nsec: mark };
    let setting = libc::itimerspec { it_interval: interval, it_value: libc::timespec { tv_sec: NEVER_S, tv_nsec: 0 } };
    // SAFETY: the kernel reads and writes our own structs. Not through the C library, whose ids of timers may be
    // pointers to what it allocates.
    unsafe {
        let is_made = libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) == 0;
        let no_old = ptr::null_mut::<libc::itimerspec>();
        (is_made && libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const setting, no_old) == 0).then_some(timer)
    }
}

/// The number in this timer, if this process has it.
fn number_in(timer: i32) -> Option<u64> {
    // SAFETY: plain data, for which zeros are valid; and the kernel writes to our own struct.
    let (setting, is_read) = unsafe {
        let mut setting: libc::itimerspec = mem::zeroed();
        let is_read = libc::syscall(libc::SYS_timer_gettime, timer, &raw mut setting) == 0;
        (setting, is_read)
    };
    (is_read && setting.it_interval.tv_nsec == mark()).then_some(setting.it_interval.tv_sec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_keeps_its_number_and_a_timer_of_somebody_else_has_none() {
        let numbers = AtomicU64::new(6);
        assert_eq!([number(&numbers), number(&numbers)], [Some(7); 2]);
        std::thread::scope(|scope| scope.spawn(|| assert_eq!(number(&numbers), Some(7))).join().unwrap());
        assert_eq!(number_in(NOT_MADE), None);
        // Another copy of the library has a mark of its own.
        assert_ne!(mark_of(&raw const TIMER as usize), mark_of(&raw const TIMER as usize + (1 << 12)));
        // Most programs' timers are of whole seconds.
        assert_ne!(mark_of(999_999_999), 0);
        for mark in [0, 1, mark() + 1] {
            let timer = timer_of(8, mark).unwrap();
            assert_eq!(number_in(timer), None, "{mark}");
        }
    }
}
