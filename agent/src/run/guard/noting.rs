//! A thread that notes in the pages which times the child uses. On a disk that is frozen for a snapshot, such a write waits
//! until the end of that, and the guard must not.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, Thread};
use txid::snowflake::Generator;

/// How far ahead of the clock the page says that times are used while the child runs. An agent that finds the page
/// after all of this was killed starts no child before that, also if the clock was stepped back.
const LEAD_MS: i64 = 2_000;

/// Notes that all times until this one are used, unless that is noted already.
pub fn note(generators: &[Generator], used_ms: i64) {
    for generator in generators {
        if generator.state().lease().is_some_and(|view| view.free_ms < used_ms + LEAD_MS / 2) {
            // An id that nobody gets. Near the limit, there may be none that far ahead.
            let _ = generator.generate_at(used_ms + LEAD_MS).or_else(|_| generator.generate_at(used_ms));
        }
    }
}

/// The thread.
pub struct Noting {
    wanted_ms: Arc<AtomicI64>,
    thread: Thread,
}

impl Noting {
    pub fn start(generators: Vec<Generator>) -> std::io::Result<Self> {
        let wanted_ms = Arc::new(AtomicI64::new(i64::MIN));
        let wanted = wanted_ms.clone();
        let thread = thread::Builder::new().name("txid-note".to_owned()).stack_size(64 << 10).spawn(move || {
            let mut noted_ms = i64::MIN;
            loop {
                match wanted.load(Ordering::Acquire) {
                    used_ms if used_ms > noted_ms => {
                        note(&generators, used_ms);
                        noted_ms = used_ms;
                    }
                    _ => thread::park(),
                }
            }
        })?;
        Ok(Self { wanted_ms, thread: thread.thread().clone() })
    }

    /// Has these times noted soon.
    pub fn note(&self, used_ms: i64) {
        self.wanted_ms.fetch_max(used_ms, Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txid::snowflake::{Layout, LeasePage};

    #[test]
    fn the_page_is_two_seconds_ahead_and_written_once_a_second() {
        let now_ms = txid::system_ms();
        let page = |number, limit_ms| {
            let page = LeasePage::in_memory(&Layout::SNOWFLAKE, number).unwrap();
            page.open(7, now_ms - 1_000);
            page.set_limit(7, now_ms + limit_ms);
            let generators = [Generator::new(page.state())];
            move |used_ms: i64| {
                note(&generators, now_ms + used_ms);
                page.view().free_ms - now_ms
            }
        };
        let used = page(101, 60_000);
        assert_eq!([0, 1_001, 1_002, 500, 9_000].map(used), [2_001, 2_001, 3_003, 3_003, 11_001]);
        let near_its_limit = page(102, 1_500);
        assert_eq!([500, 1_499, 1_500].map(near_its_limit), [501, 1_500, 1_500]);
    }
}
