//! Waits for what happens, however long that takes on a busy machine.

use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take. Only what never happens takes longer.
pub const WATCHDOG: Duration = Duration::from_secs(180);

/// What a look shows: what was waited for, or what there is in its place.
pub trait Look {
    type Found;

    fn found(self) -> Result<Self::Found, String>;
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(String::new()) }
    }
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

impl<T, E: Display> Look for Result<T, E> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.map_err(|seen| format!("; seen: {seen}"))
    }
}

/// Looks again and again until what is waited for is there. `what` is the complaint if it never is.
pub fn until<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let seen = match look().found() {
            Ok(found) => return found,
            Err(seen) => seen,
        };
        assert!(begin.elapsed() < WATCHDOG, "{what}, for {} s{seen}", WATCHDOG.as_secs());
        sleep(pause);
        // Looks of many tests must not be what keeps the machine busy.
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}

/// What goes on in steps, however many there are and however long all of them take.
pub struct Steps<T> {
    last: T,
    since: Instant,
}

impl<T: PartialEq> Steps<T> {
    pub fn begin(first: T) -> Self {
        Self { last: first, since: Instant::now() }
    }

    /// Fails if there was no step for as long as one may take.
    pub fn look(&mut self, now: T, what: &str) {
        if now != self.last {
            *self = Self::begin(now);
        }
        assert!(self.since.elapsed() < WATCHDOG, "{what}, for {} s", WATCHDOG.as_secs());
    }
}

/// Checks all cases, also after one that fails, and names those that do.
pub fn each<C, N: Debug>(cases: impl IntoIterator<Item = C>, name: impl Fn(&C) -> N, mut check: impl FnMut(C)) {
    let fails = |case| {
        let name = name(&case);
        catch_unwind(AssertUnwindSafe(|| check(case))).is_err().then_some(name)
    };
    let failed: Vec<N> = cases.into_iter().filter_map(fails).collect();
    assert!(failed.is_empty(), "these failed: {failed:?}");
}

/// The exit status of a process, once it has ended.
pub fn ended(what: &str, process: &mut Child) -> ExitStatus {
    until(what, || process.try_wait().unwrap())
}

/// Waits until a log contains a text.
pub fn says(log: &Path, text: &str) {
    says_again(log, 0, text);
}

/// Waits until a log contains a text after so many bytes.
pub fn says_again(log: &Path, from: usize, text: &str) {
    until(&format!("{} does not say '{text}'", log.display()), || {
        let said = std::fs::read_to_string(log).unwrap_or_default();
        if said[from..].contains(text) { Ok(()) } else { Err(last_lines(&said, 5)) }
    });
}

/// The end of a log.
pub fn last_lines(log: &str, most: usize) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let cut = |line: &str| line.chars().take(300).collect::<String>();
    lines[lines.len().saturating_sub(most)..].iter().map(|line| cut(line)).collect::<Vec<_>>().join("\n")
}
