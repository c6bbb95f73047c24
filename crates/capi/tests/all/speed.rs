//! The cost of an id, in measures that do not depend on the load of the machine.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::ffi::c_char;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;
use test_helpers::library::{self, FUNCTIONS, Fill, Text};
use txid::snowflake::{Layout, LeasePage};

const CALLS: u64 = 10_000;

/// The instructions of `CALLS` calls. The limit is a tenth higher, or an eighth with an older compiler, whose code takes
/// 2 % more. If a change makes ids cheaper, lower these numbers; raise them only for a reason.
const INSTRUCTIONS: [(&str, u64); 2] = [("txid_fill", 1_113_000), ("txid_fill_now", 1_198_000)];

fn call_each(calls: u64) {
    call(FUNCTIONS.fill, calls);
    call(FUNCTIONS.fill_now, calls);
}

fn call(function: Fill, calls: u64) {
    let mut text: [c_char; 20] = [0; 20];
    for _ in 0..calls {
        // SAFETY: the text has the 20 bytes.
        unsafe { function(text.as_mut_ptr(), 1_700_000_000_000) };
    }
}

#[test]
#[ignore = "the_instructions_of_an_id_are_bounded runs it under valgrind"]
fn calls_to_count() {
    call_each(CALLS);
}

/// The instructions of all calls of the function `name` in `test`.
fn instructions_of(name: &str, test: &str, environment: &[(&str, &str)]) -> u64 {
    library::path();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &format!("--toggle-collect={name}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .envs(environment.iter().copied())
        .output()
        .expect("valgrind runs (scripts/need.sh test installs it)");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected =
        said.lines().find_map(|line| line.split_once("Collected : ")).expect("valgrind says what it collected");
    collected.1.trim().parse().unwrap()
}

#[test]
fn the_instructions_of_an_id_are_bounded() {
    let part = if library::rust_minor() >= 95 { 10 } else { 8 };
    for (name, today) in INSTRUCTIONS {
        let counted = instructions_of(name, "speed::calls_to_count", &[]);
        println!("{CALLS} calls of {name}: {counted} instructions");
        assert!(counted > CALLS, "{name} was not seen");
        assert!(counted <= today + today / part, "{CALLS} calls of {name}: {counted} instructions, {today} once");
    }
}

/// Limits for a maker of each format that has no functions of its own. Under valgrind, Nano IDs need a system call, which is
/// not counted.
const OF_MAKERS: [(&str, u64); 4] =
    [("ulid", 3_818_000), ("ksuid", 4_808_000), ("xid", 2_143_000), ("nanoid", 2_572_000)];

#[test]
#[ignore = "the_instructions_of_each_maker_are_bounded runs it under valgrind"]
fn calls_of_a_maker_to_count() {
    let format = Text::of(std::env::var(FORMAT).unwrap().leak());
    let (mut maker, mut text, mut message, mut guessable) = (std::ptr::null_mut(), [0; 90], [0; 1024], false);
    let (open, fill) = (FUNCTIONS.maker_open, FUNCTIONS.maker_fill);
    // SAFETY: all that they write to is as long as include/txid.h wants it.
    unsafe {
        assert_eq!(open(&format, 1, false, &mut maker, message.as_mut_ptr()), 0);
        for _ in 0..CALLS {
            let len = fill(maker, 1_700_000_000_000, text.as_mut_ptr(), &mut guessable, message.as_mut_ptr());
            assert!(len > 0);
        }
    }
}

const FORMAT: &str = "TXID_FORMAT_TO_COUNT";

#[test]
fn the_instructions_of_each_maker_are_bounded() {
    let part = if library::rust_minor() >= 95 { 10 } else { 8 };
    for (format, today) in OF_MAKERS {
        let counted = instructions_of("txid_maker_fill", "speed::calls_of_a_maker_to_count", &[(FORMAT, format)]);
        println!("{CALLS} ids of a maker of {format}: {counted} instructions");
        assert!(counted > CALLS, "{format} was not seen");
        assert!(counted <= today + today / part, "{CALLS} ids of {format}: {counted} instructions, {today} once");
    }
}

/// Makes `CALLS` ids of a snowflake, a hundred a millisecond.
fn make_snowflakes(node: i64, state: &Path) {
    let (layout, state) = ("snowflake", state.to_str().unwrap());
    let (mut generator, mut text, mut message) = (std::ptr::null_mut(), [0; 20], [0; 1024]);
    let (open, fill) = (FUNCTIONS.snowflake_open, FUNCTIONS.snowflake_fill);
    // SAFETY: all that they write to is as long as include/txid.h wants it.
    unsafe {
        let (name, path, to) = (layout.as_ptr().cast(), state.as_ptr().cast(), message.as_mut_ptr());
        let opened = open(name, layout.len(), node, path, state.len(), 10_000, &mut generator, to);
        assert_eq!(opened, 0);
        let start_ms = txid::system_ms();
        for call in 0..CALLS as i64 {
            assert!(fill(generator, start_ms + call / 100, text.as_mut_ptr(), message.as_mut_ptr()) > 0);
        }
    }
}

fn in_directory(name: &str, make: impl FnOnce(&Path)) {
    let directory = std::env::temp_dir().canonicalize().unwrap().join(format!("txid-{name}-{}", std::process::id()));
    make(&directory.join("orders"));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
#[ignore = "a_lease_costs_a_tenth_at_most runs it under valgrind"]
fn ids_of_a_node_of_its_own() {
    in_directory("own", |state| make_snowflakes(17, state));
}

#[test]
#[ignore = "a_lease_costs_a_tenth_at_most runs it under valgrind"]
fn ids_of_a_leased_node() {
    in_directory("leased", |state| {
        let page = LeasePage::open_or_make(state, &Layout::SNOWFLAKE).unwrap();
        page.open(17, txid::system_ms());
        page.set_limit(17, txid::system_ms() + 3_600_000);
        make_snowflakes(-1, state);
    });
}

#[test]
fn a_lease_costs_a_tenth_at_most() {
    let [own, leased] = ["speed::ids_of_a_node_of_its_own", "speed::ids_of_a_leased_node"]
        .map(|test| instructions_of("txid_snowflake_fill", test, &[]));
    println!("{CALLS} calls of txid_snowflake_fill: {own} instructions, {leased} with a lease");
    assert!(own > CALLS, "the function was not seen");
    assert!(leased <= own + own / 10, "{CALLS} ids: {own} instructions, {leased} with a lease");
}

/// Sets the protection of the memory that the library can write to, except what belongs to threads.
fn protect_the_librarys_memory(protection: i32) {
    unsafe extern "C" fn protect(object: *mut libc::dl_phdr_info, _: usize, protection: *mut libc::c_void) -> i32 {
        // SAFETY: the loader describes an object that is loaded, and `protection` is the caller's.
        unsafe {
            let object = &*object;
            if !std::ffi::CStr::from_ptr(object.dlpi_name).to_bytes().ends_with(b"/libtxid.so") {
                return 0;
            }
            for header in std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) {
                if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                    let begin = (object.dlpi_addr + header.p_vaddr) as usize;
                    let end = begin + header.p_memsz as usize;
                    let page = begin & !4095;
                    assert_eq!(libc::mprotect(page as *mut libc::c_void, end - page, *protection.cast()), 0);
                }
            }
            1
        }
    }
    let mut protection = protection;
    // SAFETY: the callback only uses what it gets.
    assert_eq!(unsafe { libc::dl_iterate_phdr(Some(protect), (&raw mut protection).cast()) }, 1);
}

#[test]
#[ignore = "threads_write_to_nothing_they_share runs it as a program of its own"]
fn calls_with_the_librarys_memory_protected() {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                call_each(1);
                if barrier.wait().is_leader() {
                    protect_the_librarys_memory(libc::PROT_READ);
                }
                barrier.wait();
                call_each(CALLS);
                // Long enough for fresh randomness to be due.
                std::thread::sleep(Duration::from_millis(1100));
                call_each(CALLS);
            });
        }
    });
    // The end of a thread may write.
    protect_the_librarys_memory(libc::PROT_READ | libc::PROT_WRITE);
}

/// Threads wait for each other only if they write to the same memory. They do not, so two threads make twice as many ids
/// as one. bench/RESULTS.md has the measured rate, which other programs would disturb here.
#[test]
fn threads_write_to_nothing_they_share() {
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "speed::calls_with_the_librarys_memory_protected", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&program.stdout);
    assert!(program.status.success(), "a call wrote to what threads share, or failed: {}\n{said}", program.status);
}
