//! Runs the tests of a separate program one at a time, each in a process of its own, and reports each. The next test
//! finds nothing that one has mapped, stored or was refused: the library asks the system once in each process.

use crate::attack::{end, ended_well, fork};
use std::io::Write;
use std::sync::Mutex;

/// A name and a function.
pub type Test = (&'static str, fn());

/// The functions with their names, for [`run`].
#[macro_export]
macro_rules! tests {
    ($($test:ident),* $(,)?) => { &[$((concat!(module_path!(), "::", stringify!($test)), $test as fn())),*] };
}
pub use tests;

static CURRENT: Mutex<Option<&str>> = Mutex::new(None);

/// The name of the test that runs, if [`run`] runs it.
pub(crate) fn current() -> Option<&'static str> {
    *CURRENT.lock().unwrap()
}

/// Runs all `tests`, or those whose names contain an argument, and ends the program.
pub fn run(tests: &[Test]) -> ! {
    let wanted: Vec<_> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-') && argument != "soak").collect();
    // As libtest's names, without the program's.
    let tests = tests.iter().map(|(name, test)| (name.split_once("::").unwrap().1, test));
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let (mut passed, mut failed) = (0, Vec::new());
    for (name, test) in tests.filter(|(name, _)| is_wanted(name)) {
        *CURRENT.lock().unwrap() = Some(name);
        // The child would write the text in the buffer as well.
        std::io::stdout().flush().unwrap();
        let pid = fork();
        if pid == 0 {
            end(i32::from(std::panic::catch_unwind(test).is_err()));
        }
        if ended_well(pid) {
            println!("test {name} ... ok");
            passed += 1;
        } else {
            println!("test {name} ... FAILED");
            failed.push(name);
        }
    }
    let outcome = if failed.is_empty() { "ok" } else { "FAILED" };
    failed.iter().for_each(|name| println!("failed: {name}"));
    println!("\ntest result: {outcome}. {passed} passed; {} failed", failed.len());
    std::process::exit(i32::from(!failed.is_empty()));
}
