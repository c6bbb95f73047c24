//! No child goes on with its parent's stream, and ids are made where the OS gives no randomness.
//!
//! A program of its own (see Cargo.toml); each test has a thread of its own, and with it a stream that is not yet seeded.

use std::collections::HashSet;
use std::ffi::c_void;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use txid::{Txid, trace};

type Text = [u8; Txid::LEN];

fn ids(count: usize) -> Vec<Text> {
    (0..count).map(|_| Txid::at(0).to_text()).collect()
}

fn assert_no_id_twice(groups: &[Vec<Text>]) {
    let ids: Vec<_> = groups.iter().flatten().collect();
    assert!(ids.len() > groups.len());
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

fn fork() -> i32 {
    // SAFETY: what the tests' children do needs no lock that another thread could have held.
    unsafe { libc::fork() }
}

/// A fork that the C library does not know of, so that no fork handler runs.
fn raw_clone() -> i32 {
    // SAFETY: as for `fork`; no flags but the signal, so the child has its own memory and goes on here.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32 }
}

/// Runs `work` in a child made by `start`, and returns what it wrote.
struct Child {
    pid: i32,
    output: std::fs::File,
}

impl Child {
    fn start(start: fn() -> i32, work: impl FnOnce() -> Vec<u8>) -> Self {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for the two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let pid = start();
        assert!(pid >= 0);
        if pid == 0 {
            let output = work();
            // SAFETY: the descriptor is open, the bytes are ours, and _exit skips what belongs to the parent.
            unsafe {
                let mut rest = &output[..];
                while !rest.is_empty() {
                    let written = libc::write(ends[1], rest.as_ptr().cast(), rest.len());
                    if written <= 0 {
                        libc::_exit(1);
                    }
                    rest = &rest[written as usize..];
                }
                libc::_exit(0);
            }
        }
        // SAFETY: both descriptors are open and owned by nobody else.
        unsafe {
            libc::close(ends[1]);
            Self { pid, output: std::fs::File::from_raw_fd(ends[0]) }
        }
    }

    fn output(mut self) -> Vec<u8> {
        let mut output = Vec::new();
        self.output.read_to_end(&mut output).unwrap();
        let mut status = 0;
        // SAFETY: the child is ours.
        unsafe { libc::waitpid(self.pid, &mut status, 0) };
        assert_eq!(status, 0, "the child failed");
        output
    }

    fn texts(self) -> Vec<Text> {
        self.output().chunks_exact(Txid::LEN).map(|text| text.try_into().unwrap()).collect()
    }
}

fn child_and_grandchild_make_their_own_ids(start: fn() -> i32) {
    ids(1);
    let child = Child::start(start, || {
        let grandchild = Child::start(start, || ids(1000).concat());
        [ids(1000).concat(), grandchild.output()].concat()
    });
    let sibling = Child::start(start, || ids(1000).concat());
    assert_no_id_twice(&[ids(1000), child.texts(), sibling.texts()]);
}

/// The formats that keep something from one id to the next, each id filled up to one length.
const KEPT: [fn() -> Padded; 10] = [
    || pad(txid::uuid::v7_at(7)),
    || pad(txid::uuid::v1(None)),
    || pad(trace::id_at(7, 0)),
    || pad(trace::host_id_at(7, 0, 0x0a00_0007)),
    || pad(trace::Sofa::new([10, 0, 0, 7].into())),
    || pad(trace::SkyWalking::new()),
    || pad(txid::Flake::now(None)),
    || pad(txid::Flake::at(7, None)),
    || pad(txid::UniqueId::long_at(7)),
    || pad(txid::UniqueId::short_at(7, [10, 0, 0, 7].into())),
];

type Padded = [u8; 64];

fn pad(id: impl std::fmt::Display) -> Padded {
    format!("{:<64}", id.to_string()).into_bytes().try_into().unwrap()
}

fn no_format_goes_on_with_what_the_parent_kept(start: fn() -> i32) {
    for make in KEPT {
        let ids = || (0..2000).map(|_| make()).collect::<Vec<_>>().concat();
        let before = ids();
        let child = Child::start(start, || {
            let grandchild = Child::start(start, ids);
            [ids(), grandchild.output()].concat()
        });
        let sibling = Child::start(start, ids);
        let all = [before, ids(), child.output(), sibling.output()].concat();
        let distinct: HashSet<_> = all.chunks_exact(64).collect();
        assert_eq!(distinct.len(), 5 * 2000, "{}", String::from_utf8_lossy(&make()));
    }
}

fn formats_begin_anew_in_a_fork() {
    no_format_goes_on_with_what_the_parent_kept(fork);
}

fn formats_begin_anew_in_a_raw_clone() {
    no_format_goes_on_with_what_the_parent_kept(raw_clone);
}

/// Version 7 grows by a random 32 bits within a millisecond. Were a child's first one its parent's next, the ids of two
/// children would lie too close together.
fn a_childs_version_7_does_not_follow_its_parents() {
    let last = txid::uuid::v7_at(7).as_u128();
    let child = Child::start(fork, || txid::uuid::v7_at(7).as_u128().to_be_bytes().to_vec());
    let of_child = u128::from_be_bytes(child.output().try_into().unwrap());
    assert!(last.abs_diff(of_child) > 1 << 40);
    assert!(last.abs_diff(txid::uuid::v7_at(7).as_u128()) < 1 << 40);
}

fn strong(count: usize) -> Vec<Text> {
    (0..count).map(|_| Txid::strong_at(0).unwrap().to_text()).collect()
}

fn no_child_has_its_parents_block_of_strong_randomness() {
    strong(1);
    for start in [fork, raw_clone] {
        let child = Child::start(start, || strong(1000).concat());
        let sibling = Child::start(start, || strong(1000).concat());
        assert_no_id_twice(&[strong(1000), child.texts(), sibling.texts()]);
    }
}

fn where_the_kernel_cannot_wipe_a_fork_handler_empties_the_block() {
    let child = Child::start(fork, || {
        refuse(libc::SYS_madvise, libc::EINVAL);
        strong(1);
        let grandchild = Child::start(fork, || strong(1000).concat());
        [strong(1000).concat(), grandchild.output()].concat()
    });
    assert_no_id_twice(&[child.texts()]);
}

fn a_block_is_not_used_for_longer_than_a_second() {
    let original = Child::start(fork, || {
        refuse(libc::SYS_madvise, libc::EINVAL);
        strong(1);
        // A clone that neither the kernel nor the C library told of, as the copy of a machine is.
        let later = || {
            std::thread::sleep(Duration::from_millis(1100));
            strong(100).concat()
        };
        let copy = Child::start(raw_clone, later);
        [later(), copy.output()].concat()
    });
    assert_no_id_twice(&[original.texts()]);
}

fn what_could_be_guessed_is_said_to_be() {
    let child = Child::start(fork, || {
        refuse(libc::SYS_getrandom, libc::EIO);
        let ids: Vec<_> = (0..1000).map(|_| Txid::strong_at(0).unwrap_err().0.to_text()).collect();
        assert!(txid::entropy_degraded());
        ids.concat()
    });
    assert_no_id_twice(&[child.texts()]);
}

fn fork_makes_a_new_stream() {
    child_and_grandchild_make_their_own_ids(fork);
}

fn raw_clone_makes_a_new_stream() {
    child_and_grandchild_make_their_own_ids(raw_clone);
}

/// The child of a vfork runs in its parent's memory while the parent waits: they take turns on one stream.
fn vfork_takes_turns() {
    extern "C" fn child(ids_out: *mut libc::c_void) -> i32 {
        // SAFETY: the parent passed its own vector and is suspended.
        let ids_out = unsafe { &mut *ids_out.cast::<Vec<Text>>() };
        ids_out.iter_mut().for_each(|text| *text = Txid::at(0).to_text());
        0
    }
    let before = ids(1000);
    let mut in_child = vec![[0; Txid::LEN]; 1000];
    let mut stack = vec![0_u128; 64 * 1024];
    // SAFETY: the stack is large, aligned and outlives the child, which ends before clone returns (CLONE_VFORK).
    unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(child, stack.as_mut_ptr_range().end.cast(), flags, (&raw mut in_child).cast());
        assert!(pid > 0);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
    assert_no_id_twice(&[before, in_child, ids(1000)]);
}

/// From here on the calling thread's `syscall` fails with `errno`.
fn refuse(syscall: libc::c_long, errno: i32) {
    let op = |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut filter = [
        // Offset 0 of seccomp_data is the number of the call.
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, syscall as u32, 1),
        op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32, 0),
        op(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is well-formed and outlives the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

fn without_the_oss_randomness_ids_are_made_and_it_shows() {
    let starved = || {
        Child::start(fork, || {
            refuse(libc::SYS_getrandom, libc::EIO);
            let ids = ids(1000);
            if txid::entropy_degraded() { ids.concat() } else { Vec::new() }
        })
    };
    let (one, two) = (starved(), starved());
    assert_no_id_twice(&[one.texts(), two.texts()]);
    ids(1);
    assert!(!txid::entropy_degraded());
}

fn a_refusal_after_a_good_start_shows_at_the_next_reseed() {
    let child = Child::start(fork, || {
        ids(1);
        refuse(libc::SYS_getrandom, libc::EIO);
        let before = txid::entropy_degraded();
        std::thread::sleep(Duration::from_millis(1100));
        ids(100);
        vec![u8::from(before), u8::from(txid::entropy_degraded())]
    });
    assert_eq!(child.output(), [0, 1]);
}

fn where_the_kernel_cannot_wipe_a_fork_handler_marks() {
    let child = Child::start(fork, || {
        refuse(libc::SYS_madvise, libc::EINVAL);
        ids(1);
        let grandchild = Child::start(fork, || ids(1000).concat());
        [ids(1000).concat(), grandchild.output()].concat()
    });
    assert_no_id_twice(&[child.texts()]);
}

fn without_memory_for_a_stream_ids_are_made() {
    let child = Child::start(fork, || {
        let mut texts = Vec::with_capacity(100);
        refuse(libc::SYS_mmap, libc::ENOMEM);
        texts.extend((0..100).map(|_| Txid::at(0).to_text()));
        texts.concat()
    });
    assert_no_id_twice(&[child.texts()]);
}

/// Two processes with one and the same stream, as two copies of one machine image have: a clone that neither the kernel
/// nor the C library told of.
fn copies_of_a_machine_image_part_ways_within_a_second_of_use() {
    fn one_id_every_ten_ms_for_a_second(start: Instant) -> Vec<Text> {
        let turns = (0..110).map(|turn| start + Duration::from_millis(10 * turn));
        turns
            .map(|turn| {
                std::thread::sleep(turn.saturating_duration_since(Instant::now()));
                Txid::at(0).to_text()
            })
            .collect()
    }
    let original = Child::start(fork, || {
        refuse(libc::SYS_madvise, libc::EINVAL);
        ids(1);
        let start = Instant::now();
        let copy = Child::start(raw_clone, || one_id_every_ten_ms_for_a_second(start).concat());
        [one_id_every_ten_ms_for_a_second(start).concat(), copy.output()].concat()
    });
    let texts = original.texts();
    let (original, copy) = texts.split_at(110);
    assert_eq!(original[..3], copy[..3], "they were one stream");
    assert_ne!(original[109], copy[109]);
}

static IS_SLOW: AtomicBool = AtomicBool::new(false);

/// What pthread_atfork calls, as slow as a machine may be that has other things to do.
#[unsafe(no_mangle)]
extern "C" fn __register_atfork(
    prepare: *mut c_void,
    parent: *mut c_void,
    child: *mut c_void,
    object: *mut c_void,
) -> i32 {
    if IS_SLOW.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(500));
    }
    type Register = extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> i32;
    // SAFETY: glibc's function of this name has this signature.
    let register: Register =
        unsafe { std::mem::transmute(libc::dlsym(libc::RTLD_NEXT, c"__register_atfork".as_ptr())) };
    register(prepare, parent, child, object)
}

/// Has to come before any other id of this process. What the other thread has begun, nobody in the child will end.
fn a_fork_in_the_midst_of_another_threads_first_id_does_not_hang() {
    IS_SLOW.store(true, Ordering::Relaxed);
    let other = std::thread::spawn(|| ids(10));
    std::thread::sleep(Duration::from_millis(100));
    let child = Child::start(fork, || {
        IS_SLOW.store(false, Ordering::Relaxed);
        // SAFETY: ends the child if it does hang.
        unsafe { libc::alarm(5) };
        ids(10).concat()
    });
    assert_no_id_twice(&[child.texts(), other.join().unwrap(), ids(10)]);
    IS_SLOW.store(false, Ordering::Relaxed);
}

fn main() {
    let tests: [(&str, fn()); 16] = [
        (
            "a_fork_in_the_midst_of_another_threads_first_id_does_not_hang",
            a_fork_in_the_midst_of_another_threads_first_id_does_not_hang,
        ),
        ("fork_makes_a_new_stream", fork_makes_a_new_stream),
        ("raw_clone_makes_a_new_stream", raw_clone_makes_a_new_stream),
        ("vfork_takes_turns", vfork_takes_turns),
        ("without_the_oss_randomness_ids_are_made_and_it_shows", without_the_oss_randomness_ids_are_made_and_it_shows),
        (
            "a_refusal_after_a_good_start_shows_at_the_next_reseed",
            a_refusal_after_a_good_start_shows_at_the_next_reseed,
        ),
        ("where_the_kernel_cannot_wipe_a_fork_handler_marks", where_the_kernel_cannot_wipe_a_fork_handler_marks),
        ("without_memory_for_a_stream_ids_are_made", without_memory_for_a_stream_ids_are_made),
        (
            "copies_of_a_machine_image_part_ways_within_a_second_of_use",
            copies_of_a_machine_image_part_ways_within_a_second_of_use,
        ),
        ("formats_begin_anew_in_a_fork", formats_begin_anew_in_a_fork),
        ("formats_begin_anew_in_a_raw_clone", formats_begin_anew_in_a_raw_clone),
        ("a_childs_version_7_does_not_follow_its_parents", a_childs_version_7_does_not_follow_its_parents),
        ("no_child_has_its_parents_block_of_strong_randomness", no_child_has_its_parents_block_of_strong_randomness),
        (
            "where_the_kernel_cannot_wipe_a_fork_handler_empties_the_block",
            where_the_kernel_cannot_wipe_a_fork_handler_empties_the_block,
        ),
        ("a_block_is_not_used_for_longer_than_a_second", a_block_is_not_used_for_longer_than_a_second),
        ("what_could_be_guessed_is_said_to_be", what_could_be_guessed_is_said_to_be),
    ];
    for (name, test) in tests {
        print!("test {name} ... ");
        if std::thread::spawn(test).join().is_err() {
            println!("FAILED");
            std::process::exit(1);
        }
        println!("ok");
    }
    println!("\ntest result: ok. {} passed; 0 failed", tests.len());
}
