//! A fork between any two instructions of another thread's first call. Nothing that this thread has begun is finished in the
//! child, which would wait for it forever if it were a lock.

use super::every_instruction::{CODE, Text, made_by, made_by_host, random_of_id};
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use test_helpers::attack::{Child, Shared, end, ended_well, fork, handle, instruction, step_through};

/// The instructions that the stepping thread has come to, and those at which a child was made.
static REACHED: AtomicU64 = AtomicU64::new(0);
static FORKED_AT: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

extern "C" fn wait_for_a_fork(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    if !CODE.contains(&instruction(context)) {
        return;
    }
    let reached = REACHED.fetch_add(1, Ordering::AcqRel) + 1;
    while FORKED_AT.load(Ordering::Acquire) < reached {
        thread::yield_now();
    }
}

/// Calls it for the first time in this process. At each instruction, another thread makes a child, which calls it as well.
fn fork_at_each_instruction(call: fn() -> Text) -> String {
    let texts = Shared::new(1_000_000);
    let mut failed = 0;
    handle(libc::SIGTRAP, wait_for_a_fork);
    thread::scope(|scope| {
        scope.spawn(|| {
            step_through(|| texts.push(call()));
            IS_OVER.store(true, Ordering::Release);
        });
        while !IS_OVER.load(Ordering::Acquire) {
            let reached = REACHED.load(Ordering::Acquire);
            if FORKED_AT.load(Ordering::Relaxed) == reached {
                thread::yield_now();
                continue;
            }
            let pid = fork();
            if pid == 0 {
                // SAFETY: ends the child if it hangs.
                unsafe { libc::alarm(60) };
                texts.push(call());
                end(0);
            }
            if !ended_well(pid) {
                failed += 1;
            }
            // If children hang, a few are enough.
            FORKED_AT.store(if failed < 3 { reached } else { u64::MAX }, Ordering::Release);
        }
    });
    let (texts, reached) = (texts.items(), REACHED.load(Ordering::Relaxed));
    assert!(reached > 50, "the instructions were not seen");
    assert!(failed > 0 || texts.len() as u64 == reached + 1, "a child made nothing");
    let repeats = texts.len() - texts.iter().collect::<HashSet<_>>().len();
    format!("{failed} failed and {repeats} repeats in {reached} children")
}

pub fn a_fork_in_the_midst_of_another_threads_first_call() {
    type Call = (&'static str, fn() -> Text);
    let mut calls: Vec<Call> = vec![
        ("txid_fill", || random_of_id(0)),
        ("strong", || made_by("strong")),
        ("uuid_v1", || made_by("uuid_v1")),
        ("flake", || made_by("flake")),
    ];
    if txid::host_ipv4().is_some() {
        calls.push(("unique_id_short", || made_by_host("unique_id_short")));
    }
    for (name, call) in calls {
        let said = Child::start(fork, || fork_at_each_instruction(call).into_bytes()).output();
        println!("{name}: {}", String::from_utf8_lossy(&said));
        assert!(said.starts_with(b"0 failed and 0 repeats"), "{name}");
    }
}
