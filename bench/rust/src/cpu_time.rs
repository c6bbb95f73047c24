//! Reads the processor time of a thread or a process.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::Duration;

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is our own.
    assert_eq!(unsafe { libc::clock_gettime(clock, &mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time of the calling thread so far.
pub fn now() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The time of another process so far.
pub fn of_process(pid: i32) -> Duration {
    let mut clock = 0;
    // SAFETY: `clock` is our own.
    assert_eq!(unsafe { libc::clock_getcpuclockid(pid, &mut clock) }, 0);
    read(clock)
}

/// Lets criterion measure the thread's own time.
pub struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now() - start
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
