//! What a test that fails says of its servers and agents.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use crate::wait::last_lines;

/// Lines of one log.
const OF_ONE: usize = 8;

thread_local! {
    /// How many lines this test may still print: somebody has to read them.
    static LEFT: Cell<usize> = const { Cell::new(30) };
}

/// Keeps the log of `who` where it outlives the test, and shows its end.
pub fn show(who: &str, log: &Path) {
    let left = LEFT.get();
    if left == 0 {
        return;
    }
    let said = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
    let test = std::thread::current().name().unwrap_or("a test").replace("::", ".");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failed");
    let kept = kept.join(format!("{test}.{}.log", who.split_whitespace().collect::<Vec<_>>().join("-")));
    let is_kept = fs::create_dir_all(kept.parent().unwrap()).and_then(|()| fs::write(&kept, &said));
    let place = if is_kept.is_ok() { kept.display().to_string() } else { "nowhere".to_owned() };
    let end = last_lines(&said, OF_ONE.min(left - 1));
    LEFT.set(left.saturating_sub(1 + end.lines().count()));
    eprintln!("{who}; its log is in {place}, and ends with:\n{end}");
}
