//! One state and many processes, which are killed at any moment. `make soak` runs this for longer, and measures.
//!
//! A separate program (see Cargo.toml) that runs one test at a time, so that no child inherits a lock of another thread.

use std::fs;
use std::hint::black_box;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use test_helpers::attack::refuse;
use test_helpers::{Directory, one_by_one};
use txid::segment::{Segment, SegmentError, SegmentPage};
use txid::snowflake::{Generator, Layout, LeasePage, Order, Refusal, State, StateError};

const EPOCH_MS: i64 = 1_577_836_800_000;

fn generator(path: &Path, layout: &Layout) -> Generator {
    Generator::new(State::open(path, layout, 1).unwrap())
}

/// Runs `work` in a child, and returns its process id.
fn start(work: impl FnOnce()) -> i32 {
    // SAFETY: the program's other thread only waits for this one.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        // SAFETY: ends the child, without the parent's cleanup.
        unsafe { libc::_exit(i32::from(failed)) };
    }
    pid
}

/// Waits for a child, and returns its status.
fn end_of(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

fn kill(pid: i32) {
    // SAFETY: the child is ours, and has not been waited for.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    end_of(pid);
}

/// This many numbers, initially zero, shared by this process and its children.
fn shared(numbers: usize) -> &'static [AtomicU64] {
    // SAFETY: a new mapping of this size, which is never unmapped.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let address = libc::mmap(std::ptr::null_mut(), numbers * 8, protection, flags, -1, 0);
        assert_ne!(address, libc::MAP_FAILED);
        std::slice::from_raw_parts(address.cast(), numbers)
    }
}

/// Eight processes make `ids` ids in total, and every `pause` one of them is killed and replaced.
fn processes_that_are_killed_repeat_nothing(ids: usize, pause: Duration) {
    const PROCESSES: usize = 8;
    let directory = Directory::new("killed");
    let counts = shared(PROCESSES);
    let room = ids;
    let made = shared(PROCESSES * room);
    let run = |slot: usize| {
        start(|| {
            let generator = generator(&directory.file(), &Layout::SNOWFLAKE);
            // If the process is killed between these two stores, nobody sees the id.
            for place in counts[slot].load(Ordering::Relaxed) as usize..room {
                let id = loop {
                    match generator.generate() {
                        Ok(id) => break id,
                        Err(Refusal::Exhausted { .. }) => std::thread::sleep(Duration::from_millis(1)),
                        Err(refusal) => panic!("{refusal}"),
                    }
                };
                made[slot * room + place].store(id, Ordering::Relaxed);
                counts[slot].store(place as u64 + 1, Ordering::Release);
            }
        })
    };
    let total = || counts.iter().map(|count| count.load(Ordering::Acquire) as usize).sum::<usize>();

    let mut pids: Vec<i32> = (0..PROCESSES).map(run).collect();
    let (mut killed, begin) = (0, Instant::now());
    loop {
        std::thread::sleep(pause);
        let victim = txid::Txid::now().to_text()[18] as usize % PROCESSES;
        kill(pids[victim]);
        pids[victim] = run(victim);
        killed += 1;
        if total() >= ids {
            break;
        }
    }
    pids.into_iter().for_each(kill);
    let seconds = begin.elapsed().as_secs_f64();

    let mut all = Vec::with_capacity(total());
    for (slot, count) in counts.iter().enumerate() {
        let of_slot: Vec<u64> = made[slot * room..][..count.load(Ordering::Acquire) as usize]
            .iter()
            .map(|id| id.load(Ordering::Relaxed))
            .collect();
        assert!(of_slot.is_sorted_by(|earlier, later| earlier < later), "out of order in one process");
        all.extend(of_slot);
    }
    all.sort_unstable();
    assert!(all.is_sorted_by(|one, other| one < other), "an id twice");
    assert!(all.len() >= ids);
    println!("{} ids by {PROCESSES} processes in {seconds:.1} s, {killed} killed: no id twice", all.len());
}

fn killed_often() {
    processes_that_are_killed_repeat_nothing(2_000_000, Duration::from_millis(5));
}

fn killed_every_hundredth_of_a_second() {
    processes_that_are_killed_repeat_nothing(100_000_000, Duration::from_millis(10));
}

fn processes_that_make_it_at_once_share_it() {
    const PROCESSES: usize = 8;
    const IDS: usize = 100;
    for round in 0..50 {
        let directory = Directory::new(&format!("at-once-{round}"));
        let path = directory.0.join("made/orders");
        let (ready, made) = (&shared(1)[0], shared(PROCESSES * IDS));
        let run = |slot: usize| {
            start(|| {
                ready.fetch_add(1, Ordering::Relaxed);
                while ready.load(Ordering::Relaxed) < PROCESSES as u64 {
                    std::thread::yield_now();
                }
                let generator = generator(&path, &Layout::SNOWFLAKE);
                for place in made.chunks(IDS).nth(slot).unwrap() {
                    place.store(generator.generate().unwrap(), Ordering::Relaxed);
                }
            })
        };
        let pids: Vec<i32> = (0..PROCESSES).map(run).collect();
        assert!(pids.into_iter().all(|pid| end_of(pid) == 0));
        let mut ids: Vec<_> = made.iter().map(|id| id.load(Ordering::Relaxed)).collect();
        ids.sort_unstable();
        assert!(ids.is_sorted_by(|one, other| one < other), "an id twice in round {round}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "something else is left");
    }
}

fn children_share_what_their_parent_opened() {
    let directory = Directory::new("inherited");
    let layout = Layout::new([41, 0, 2], 1, EPOCH_MS, Order::NodeThenSequence).unwrap();
    for state in [State::open(&directory.file(), &layout, 0).unwrap(), State::in_memory(&layout, 0).unwrap()] {
        let generator = Generator::new(state).with_max_drift_ms(1 << 40);
        let made = shared(4000);
        let make = |part: usize| {
            for place in made.chunks(1000).nth(part).unwrap() {
                place.store(generator.generate().unwrap(), Ordering::Relaxed);
            }
        };
        let pids = [0, 1, 2].map(|part| start(|| make(part)));
        make(3);
        assert_eq!(pids.map(end_of), [0; 3]);
        let mut ids: Vec<_> = made.iter().map(|id| id.load(Ordering::Relaxed)).collect();
        ids.sort_unstable();
        assert!(ids.is_sorted_by(|one, other| one < other), "an id twice");
    }
}

fn without_permission_the_error_names_user_and_file() {
    let directory = Directory::new("who");
    let (path, opened_before) = (directory.file(), directory.0.join("opened-before"));
    let open = |path: &Path| State::open(path, &Layout::SNOWFLAKE, 1);
    let made_elsewhere = start(|| assert!(open(&path).is_ok()));
    assert_eq!(end_of(made_elsewhere), 0);
    open(&opened_before).unwrap();
    let leased = directory.0.join("leased");
    LeasePage::open_or_make(&leased, &Layout::SNOWFLAKE).unwrap();
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o755)).unwrap();

    let child = start(|| {
        // SAFETY: plain system calls.
        let is_nobody = unsafe { libc::setgid(65534) == 0 && libc::setuid(65534) == 0 };
        if !is_nobody {
            println!("(not root, so nobody else can be tried)");
            return;
        }
        let who = "Permission denied (os error 13), as user nobody (uid 65534)";
        assert_eq!(open(&path).unwrap_err().to_string(), format!("cannot open {}: {who}", path.display()));
        let other = directory.0.join("other");
        assert_eq!(open(&other).unwrap_err().to_string(), format!("cannot make {}: {who}", other.display()));
        let below = directory.0.join("below/orders");
        let below_at = directory.0.join("below");
        let expected = format!("cannot make directory {}: {who}", below_at.display());
        assert_eq!(open(&below).unwrap_err().to_string(), expected);
        open(&opened_before).expect("it is inherited");
        State::leased(&leased, &Layout::SNOWFLAKE).expect("it is inherited");
        let expected = format!("cannot open {}: {who}", leased.display());
        assert_eq!(State::leased(&leased, &wide()).unwrap_err().to_string(), expected);
        assert_eq!(Segment::attach(&leased).unwrap_err().to_string(), expected);
        assert_eq!(LeasePage::open_or_make(&leased, &wide()).unwrap_err().to_string(), expected);
    });
    assert_eq!(end_of(child), 0);
}

/// Each test has a process of its own, and so its own umask.
fn the_mode_of_what_is_made_does_not_depend_on_the_umask() {
    for umask in [0o000, 0o077] {
        let directory = Directory::new(&format!("umask-{umask:o}"));
        let (state, lease) = (directory.0.join("made/state"), directory.0.join("made/lease"));
        // SAFETY: it cannot fail.
        unsafe { libc::umask(umask) };
        State::open(&state, &Layout::SNOWFLAKE, 1).unwrap();
        LeasePage::open_or_make(&lease, &Layout::SNOWFLAKE).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!([mode(&state), mode(&lease), mode(state.parent().unwrap())], [0o640, 0o640, 0o750], "{umask:o}");
    }
}

/// Otherwise, ids would be made that a loss of power forgets.
fn what_does_not_get_to_the_disk_is_refused() {
    let directory = Directory::new("disk");
    refuse(&[libc::SYS_fsync, libc::SYS_fdatasync], libc::EIO);
    let (file, below) = (directory.file(), directory.0.join("below"));
    for (path, failed) in [
        (&file, format!("make {}", file.display())),
        (&below.join("orders"), format!("make directory {}", below.display())),
    ] {
        let error = State::open(path, &Layout::SNOWFLAKE, 1).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot {failed}: Input/output error (os error 5)"));
        assert!(!path.exists());
    }
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "only the directory below is left");
}

/// It could be taken for one of this boot after the next.
fn where_the_boot_is_unknown_no_page_is_made() {
    let directory = Directory::new("boot");
    let is_hidden = [libc::CLONE_NEWNS, libc::CLONE_NEWNS | libc::CLONE_NEWUSER].into_iter().any(|namespaces| {
        let (none, over) = (std::ptr::null(), c"/proc/sys/kernel/random".as_ptr());
        // SAFETY: the texts end with a NUL, and only this process has the namespace.
        unsafe {
            libc::unshare(namespaces) == 0
                && libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()) == 0
                && libc::mount(c"tmpfs".as_ptr(), over, c"tmpfs".as_ptr(), 0, none.cast()) == 0
        }
    });
    if !is_hidden {
        test_helpers::skipped("this user may not mount");
        return;
    }
    let lease = LeasePage::open_or_make(&directory.file(), &Layout::SNOWFLAKE);
    assert!(matches!(lease, Err(StateError::UnknownBoot(_))), "{lease:?}");
    let segment = SegmentPage::open_or_make(&directory.file());
    assert!(matches!(segment, Err(SegmentError::UnknownBoot(_))));
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 0);
}

/// 4096 ids of this millisecond, and of each of the 10,000 that may be borrowed.
fn nothing_is_left_when_the_drift_is_used_up() {
    let directory = Directory::new("drift");
    let generator = generator(&directory.file(), &Layout::SNOWFLAKE);
    let now_ms = 1_700_000_000_000;
    let begin = Instant::now();
    let made = (0..).find(|_| generator.generate_at(now_ms).is_err()).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!(made, 10_001 * 4096);
    assert_eq!((0..).find(|_| generator.generate_at(now_ms + 2).is_err()), Some(2 * 4096));
    println!("{made} ids in {seconds:.1} s, then nothing, and {} two milliseconds later", 2 * 4096);
}

/// A layout with 4 million ids a millisecond, so that only speed limits their number.
fn wide() -> Layout {
    Layout::new([40, 1, 22], 1, EPOCH_MS, Order::NodeThenSequence).unwrap()
}

/// The processor time of this thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is our own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn one_thread_is_fast() {
    const CALLS: u32 = 5_000_000;
    let directory = Directory::new("fast");
    let generator = generator(&directory.file(), &wide());
    let mut rates: Vec<f64> = (0..21)
        .map(|_| {
            let begin = cpu_time();
            for _ in 0..CALLS {
                black_box(generator.generate().unwrap());
            }
            f64::from(CALLS) / (cpu_time() - begin).as_secs_f64() / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!("one thread: {:.1} million a second of its own time ({:.1} to {:.1})", rates[10], rates[5], rates[15]);
    assert!(rates[10] >= 50.0);
}

/// Measures processor time, because other programs may use the processors as well.
fn four_processes_on_one_word_are_fast() {
    const PROCESSES: usize = 4;
    let directory = Directory::new("four");
    let (counts, times_ns) = (shared(PROCESSES), shared(PROCESSES));
    let begin = Instant::now();
    let pids: Vec<i32> = (0..PROCESSES)
        .map(|slot| {
            start(|| {
                let generator = generator(&directory.file(), &wide());
                let begin_cpu = cpu_time();
                while begin.elapsed() < Duration::from_secs(2) {
                    for _ in 0..1000 {
                        black_box(generator.generate().unwrap());
                    }
                    counts[slot].fetch_add(1000, Ordering::Relaxed);
                }
                times_ns[slot].store((cpu_time() - begin_cpu).as_nanos() as u64, Ordering::Relaxed);
            })
        })
        .collect();
    assert!(pids.into_iter().all(|pid| end_of(pid) == 0));
    let sum = |of: &[AtomicU64]| of.iter().map(|number| number.load(Ordering::Relaxed)).sum::<u64>() as f64;
    let at_once = std::thread::available_parallelism().unwrap().get().min(PROCESSES);
    let rate = sum(counts) / (sum(times_ns) / at_once as f64) * 1e3;
    println!("four processes: {rate:.1} million a second together, {at_once} at a time");
    assert!(rate >= 5.0);
}

const CHILDREN: usize = 300;
const SECONDS_BEFORE_A_CHILD_HANGS: u32 = 60;

/// Opens the state in a child, and returns its status: a child that hangs is killed by SIGALRM.
fn open_in_a_child(path: &Path) -> i32 {
    // SAFETY: the child of a threaded program; the functions it calls are under test.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: these end the child, and nothing else.
        unsafe {
            libc::alarm(SECONDS_BEFORE_A_CHILD_HANGS);
            let opened = State::open(path, &Layout::SNOWFLAKE, 1).is_ok();
            let in_memory = State::in_memory(&Layout::SNOWFLAKE, 2).is_ok();
            libc::_exit(i32::from(!(opened && in_memory)));
        }
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

/// It does not wait for the lock of a thread that it does not have.
fn a_child_opens_a_state_while_its_parent_opens_others() {
    let directory = Directory::new("forks");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                State::open(&directory.0.join(format!("other-{number}")), &Layout::SNOWFLAKE, 1).unwrap();
            }
        });
        let path = directory.file();
        let failed: Vec<_> =
            (0..CHILDREN).map(|_| open_in_a_child(&path)).filter(|status| *status != 0).take(1).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(failed.is_empty(), "a child ended with status {failed:?}; {} is SIGALRM", libc::SIGALRM);
    });
}

fn main() {
    if std::env::args().any(|argument| argument == "soak") {
        one_by_one::run(one_by_one::tests![
            killed_every_hundredth_of_a_second,
            nothing_is_left_when_the_drift_is_used_up,
            one_thread_is_fast,
            four_processes_on_one_word_are_fast,
        ]);
    }
    one_by_one::run(one_by_one::tests![
        processes_that_make_it_at_once_share_it,
        killed_often,
        a_child_opens_a_state_while_its_parent_opens_others,
        children_share_what_their_parent_opened,
        without_permission_the_error_names_user_and_file,
        the_mode_of_what_is_made_does_not_depend_on_the_umask,
        what_does_not_get_to_the_disk_is_refused,
        where_the_boot_is_unknown_no_page_is_made,
    ]);
}
