//! No child continues with its parent's stream, and ids are made even if the OS gives no randomness.

use crate::clock::{self, Clocks};
use crate::made::{makers, makers_that_stamp};
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, CString, OsStr, c_void};
use std::io::Seek;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::panic::catch_unwind;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use test_helpers::attack::{
    Child, Shared, end, ended_well, forbid, fork, handle, mappings, raw_clone, refuse, trap, vfork, wiped_on_fork,
};
use test_helpers::one_by_one::{self, Test};
use test_helpers::{Directory, skipped};
use txid::{LocalGenerator, Maker, Txid, UniqueIdProcess};

type Text = [u8; Txid::LEN];

fn ids(count: usize) -> Vec<Text> {
    (0..count).map(|_| Txid::wrapping_at(0).to_text()).collect()
}

fn texts(child: Child) -> Vec<Text> {
    child.output().chunks_exact(Txid::LEN).map(|text| text.try_into().unwrap()).collect()
}

fn assert_no_id_twice(groups: &[Vec<Text>]) {
    let ids = groups.concat();
    assert!(ids.len() > groups.len());
    assert_none_repeats(ids.iter().map(|id| &id[..]), "ids");
}

/// Fails with the ids that are there again.
fn assert_none_repeats<'a>(ids: impl IntoIterator<Item = &'a [u8]>, what: &str) {
    let mut seen = HashSet::new();
    let again: Vec<_> = ids.into_iter().filter(|id| !seen.insert(*id)).map(String::from_utf8_lossy).collect();
    assert!(
        again.is_empty(),
        "{what}: {} of {} repeat: {:?} ...",
        again.len(),
        again.len() + seen.len(),
        &again[..again.len().min(3)]
    );
}

fn child_and_grandchild_make_ids_of_their_own(start: fn() -> i32, ids: impl Fn(usize) -> Vec<Text>) {
    // In a burst, so that the child would continue without reading the clock.
    ids(100);
    let child = Child::start(start, || {
        let grandchild = Child::start(start, || ids(1000).concat());
        [ids(1000).concat(), grandchild.output()].concat()
    });
    let sibling = Child::start(start, || ids(1000).concat());
    assert_no_id_twice(&[ids(1000), texts(child), texts(sibling)]);
}

type Padded = [u8; Maker::MAX_LEN];
type Make = Box<dyn Fn() -> Padded>;

/// Functions that make ids of each format, of this moment and of a given one, padded to the same length.
fn makes() -> impl Iterator<Item = Make> {
    let by = makers().map(|(format, maker)| -> Make {
        // Nothing but the time tells SOFATracer ids of two processes with one process id apart.
        let clock_ms = move || if format.name == "sofa" { txid::system_ms() } else { 7 };
        Box::new(move || pad(|text| _ = maker.write_by(clock_ms(), text).unwrap()))
    });
    let stamped = makers_that_stamp()
        .map(|(_, maker)| -> Make { Box::new(move || pad(|text| _ = maker.write_wrapping_at(7, text).unwrap())) });
    by.chain(stamped)
}

fn pad(write: impl Fn(&mut Padded)) -> Padded {
    let mut text = [b' '; Maker::MAX_LEN];
    write(&mut text);
    text
}

fn no_format_continues_its_parents_state(start: fn() -> i32) {
    // All formats, also after one that fails.
    let mut failed = Vec::new();
    for make in makes() {
        let ids = || (0..2000).map(|_| make()).collect::<Vec<_>>().concat();
        let before = ids();
        let child = Child::start(start, || {
            let grandchild = Child::start(start, ids);
            [ids(), grandchild.output()].concat()
        });
        let sibling = Child::start(start, ids);
        let all = [before, ids(), child.output(), sibling.output()].concat();
        assert_eq!(all.len(), 5 * 2000 * Maker::MAX_LEN);
        let such_as = String::from_utf8_lossy(&make()).trim_end().to_owned();
        let check = || assert_none_repeats(all.chunks_exact(Maker::MAX_LEN), &format!("such as {such_as}"));
        if catch_unwind(check).is_err() {
            failed.push(such_as);
        }
    }
    assert!(failed.is_empty(), "ids of these formats repeat: {failed:?}");
}

fn formats_begin_anew_in_a_fork() {
    no_format_continues_its_parents_state(fork);
}

fn formats_begin_anew_in_a_raw_clone() {
    no_format_continues_its_parents_state(raw_clone);
}

/// Within a millisecond, each version 7 is greater than the last one by a random number of 32 bits. If a child's first
/// one continued its parent's, the ids of two children would be too close together.
fn a_childs_version_7_does_not_follow_its_parents() {
    let last = txid::uuid::wrapping_v7_at(7).as_u128();
    let child = Child::start(fork, || txid::uuid::wrapping_v7_at(7).as_u128().to_be_bytes().to_vec());
    let of_child = u128::from_be_bytes(child.output().try_into().unwrap());
    assert!(last.abs_diff(of_child) > 1 << 40);
    assert!(last.abs_diff(txid::uuid::wrapping_v7_at(7).as_u128()) < 1 << 40);
}

fn strong(count: usize) -> Vec<Text> {
    (0..count).map(|_| Txid::strong_wrapping_at(0).unwrap().to_text()).collect()
}

fn no_child_has_its_parents_strong_ids() {
    strong(1);
    for start in [fork, raw_clone] {
        let child = Child::start(start, || strong(1000).concat());
        let sibling = Child::start(start, || strong(1000).concat());
        assert_no_id_twice(&[strong(1000), texts(child), texts(sibling)]);
    }
}

/// The mappings that the kernel drops when it needs their memory: the state of its getrandom in the vDSO.
fn droppable() -> Vec<Range<usize>> {
    mappings(|flags| flags.contains(&"dp"))
}

fn where_the_kernel_wipes_there_is_one_page_for_a_thread() {
    ids(1);
    assert_eq!(wiped_on_fork(), 1);
}

/// Whether the kernel has a getrandom without a system call. If not, says that a test is skipped.
fn vdso_has_getrandom() -> bool {
    let name = if cfg!(target_arch = "aarch64") { c"__kernel_getrandom" } else { c"__vdso_getrandom" };
    // SAFETY: the kernel's code has no initializers, and the symbol is not called.
    let found = unsafe {
        let vdso = libc::dlopen(c"linux-vdso.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        !vdso.is_null() && !libc::dlsym(vdso, name.as_ptr()).is_null()
    };
    if !found {
        skipped("the vDSO of this kernel has no getrandom");
    }
    found
}

fn strong_ids_need_no_system_call_if_the_kernel_can_do_without() {
    if !vdso_has_getrandom() {
        return;
    }
    let made_without_a_system_call = || {
        let child = Child::start(fork, || {
            strong(1);
            refuse(NO_RANDOMNESS, libc::EIO);
            let made = (0..1000).map_while(|_| Some(Txid::strong_wrapping_at(0).ok()?.to_text()));
            made.collect::<Vec<_>>().concat()
        });
        texts(child)
    };
    // Once a minute, the kernel's code makes one.
    let made = (0..3).map(|_| made_without_a_system_call()).find(|made| made.len() == 1000);
    assert_no_id_twice(&[made.expect("the kernel's code was not used")]);
}

/// Randomness that was given ahead of time would also be in a copy of the memory. Only the kernel keeps some, which it
/// drops when the machine was copied, in memory that it can take away at any time.
fn no_strong_randomness_is_kept() {
    let child = Child::start(fork, || {
        strong(1);
        let of_the_kernel = droppable();
        assert!(!of_the_kernel.is_empty() || !vdso_has_getrandom());
        refuse(NO_RANDOMNESS, libc::EIO);
        for range in of_the_kernel {
            // SAFETY: the kernel may do the same at any time.
            assert_eq!(unsafe { libc::madvise(range.start as *mut _, range.len(), libc::MADV_DONTNEED) }, 0);
        }
        vec![u8::from(Txid::strong_wrapping_at(0).is_err())]
    });
    assert_eq!(child.output(), [1]);
}

/// In a process of its own, because the first strong id maps memory that stays mapped.
fn without_memory_for_the_kernels_state_strong_ids_are_made_by_system_calls() {
    let child = Child::start(fork, || {
        let mut texts = Vec::with_capacity(100);
        refuse(&[libc::SYS_mmap], libc::ENOMEM);
        texts.extend((0..100).map(|_| Txid::strong_wrapping_at(0).unwrap().to_text()));
        assert!(droppable().is_empty());
        refuse(NO_RANDOMNESS, libc::EIO);
        assert!(Txid::strong_wrapping_at(0).is_err());
        texts.concat()
    });
    assert_no_id_twice(&[texts(child)]);
}

fn threads_leave_nothing_behind() {
    let in_threads = |threads: usize| {
        for _ in 0..threads / 100 {
            let begun: Vec<_> = (0..100).map(|_| std::thread::spawn(|| [ids(1), strong(1)])).collect();
            begun.into_iter().for_each(|thread| _ = thread.join().unwrap());
        }
    };
    let child = Child::start(fork, || {
        in_threads(100);
        let mapped = || {
            let mappings = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
            (droppable(), wiped_on_fork(), mappings)
        };
        let (states, wiped, mappings) = mapped();
        in_threads(10_000);
        let (states_after, wiped_after, mappings_after) = mapped();
        assert!(states_after == states, "{} states' mappings, {} once", states_after.len(), states.len());
        assert_eq!(wiped_after, wiped, "pages that are wiped on fork");
        assert!(mappings_after < mappings + 100, "{mappings_after} mappings, {mappings} after the first 100 threads");
        Vec::new()
    });
    assert_eq!(child.output(), b"");
}

/// A destructor of the program's that runs after the library's, and one that runs before.
fn ids_are_made_at_the_end_of_a_thread() {
    struct Last(Shared<Text>);

    impl Drop for Last {
        fn drop(&mut self) {
            ids(1000).into_iter().for_each(|id| self.0.push(id));
        }
    }

    thread_local! {
        static FIRST: Cell<Option<Last>> = const { Cell::new(None) };
        static SECOND: Cell<Option<Last>> = const { Cell::new(None) };
    }
    let made = Shared::new(4000);
    std::thread::spawn(move || {
        FIRST.set(Some(Last(made)));
        ids(1000).into_iter().for_each(|id| made.push(id));
        SECOND.set(Some(Last(made)));
    })
    .join()
    .unwrap();
    assert_eq!(made.count(), 3000);
    assert_no_id_twice(&[made.items()]);
}

fn ids_that_could_be_guessed_are_reported() {
    let child = Child::start(fork, || {
        refuse(NO_RANDOMNESS, libc::EIO);
        let ids: Vec<_> = (0..1000).map(|_| Txid::strong_wrapping_at(0).unwrap_err().0.to_text()).collect();
        assert!(txid::entropy_degraded());
        for (format, options) in [("strong", &[][..]), ("nanoid", &[]), ("nanoid", &["alphabet=01"])] {
            let made = Maker::builder(format)
                .options(options.iter().copied())
                .build()
                .unwrap()
                .write_by(0, &mut [0; Maker::MAX_LEN]);
            assert!(made.unwrap().guessable, "{format} {options:?}");
        }
        let nanoid = Maker::builder("nanoid").build().unwrap();
        let nanoids: Vec<_> = (0..1000).map(|_| pad(|text| _ = nanoid.write_by(0, text).unwrap())).collect();
        let random = |at: &usize| nanoids.iter().map(|text| text[*at]).collect::<BTreeSet<_>>().len() > 32;
        assert_eq!((0..64).filter(random).count(), 21, "each character is random");
        ids.concat()
    });
    assert_no_id_twice(&[texts(child)]);
}

fn fork_makes_a_new_stream() {
    child_and_grandchild_make_ids_of_their_own(fork, ids);
}

fn raw_clone_makes_a_new_stream() {
    child_and_grandchild_make_ids_of_their_own(raw_clone, ids);
}

fn a_generator_begins_anew_in_a_child() {
    for start in [fork, raw_clone] {
        let generator = LocalGenerator::new();
        child_and_grandchild_make_ids_of_their_own(start, |count| {
            let mut texts = vec![[0; Txid::LEN]; count];
            texts.iter_mut().for_each(|text| generator.write_by(0, text));
            texts
        });
    }
}

/// The child of a vfork runs in its parent's memory while the parent waits, so they take turns on one stream.
fn vfork_takes_turns() {
    let before = ids(1000);
    let mut in_child = Vec::new();
    vfork(|| in_child = ids(1000));
    assert_no_id_twice(&[before, in_child, ids(1000)]);
}

/// The child of a vfork makes the first ids, and ends. The parent continues. Then a child of the parent gets the process
/// id of the first one, and has its memory. Returns how many ids of each say that they are another process's.
fn what_a_vfork_began_is_not_its_own(format: &str, maker: &Maker, ids: Shared<Padded>) -> Vec<u8> {
    const PID: u32 = 4242;
    // SAFETY: it has no arguments and cannot fail.
    let pid = || unsafe { libc::syscall(libc::SYS_getpid) } as u32;
    let make = || {
        let id = pad(|text| _ = maker.write_by(7, text).unwrap());
        ids.push(id);
        let text = id.trim_ascii_end();
        let of_id = match format {
            "sofa" => txid::trace::Sofa::from_text(text).unwrap().pid,
            "unique_id_short" => match txid::UniqueId::from_text(text).unwrap().process {
                UniqueIdProcess::Short { pid, .. } => pid,
                UniqueIdProcess::Long { .. } => panic!("made with an address"),
            },
            _ => return false,
        };
        of_id != pid()
    };
    let make = || u8::from((0..1000).filter(|_| make()).count() > 0);
    next_pid_is(PID);
    assert_eq!(vfork(|| _ = make()), PID as i32);
    next_pid_is(PID);
    let child = Child::start(fork, || {
        assert_eq!(pid(), PID);
        vec![make()]
    });
    [vec![make()], child.output()].concat()
}

/// It would cost as much as an id.
fn the_process_id_is_asked_for_once() {
    let child = Child::start(fork, || {
        let makes: Vec<_> = makes().collect();
        makes.iter().for_each(|make| _ = make());
        forbid(&[libc::SYS_getpid]);
        makes.iter().for_each(|make| (0..100).for_each(|_| _ = make()));
        Vec::new()
    });
    assert_eq!(child.output(), b"");
}

fn no_format_repeats_what_a_vfork_began() {
    let hidden = HIDDEN.into_iter().chain([(|| ()) as fn()]);
    for (place, hide) in hidden.enumerate() {
        for (format, maker) in makers() {
            let ids = Shared::new(3000);
            let child = Child::start(fork, || {
                if may_choose_pids() {
                    let first = Child::start(fork, || {
                        hide();
                        what_a_vfork_began_is_not_its_own(format.name, &maker, ids)
                    });
                    assert_eq!(first.output(), [0, 0], "{} has the process id of another, hidden {place}", format.name);
                }
                Vec::new()
            });
            child.output();
            let all = ids.items();
            assert!(all.is_empty() || all.len() == 3000, "{} ids", all.len());
            assert_none_repeats(all.iter().map(|id| &id[..]), &format!("{}, where {place} is hidden", format.name));
        }
    }
}

/// The system calls for randomness: direct, and from a file of that name.
const NO_RANDOMNESS: &[libc::c_long] = &[
    libc::SYS_getrandom,
    libc::SYS_openat,
    // Newer architectures do not have it.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
];

fn without_randomness_from_the_os_ids_are_made_and_it_shows() {
    let starved = || {
        Child::start(fork, || {
            refuse(NO_RANDOMNESS, libc::EIO);
            let ids = ids(1000);
            if txid::entropy_degraded() { ids.concat() } else { Vec::new() }
        })
    };
    let (one, two) = (starved(), starved());
    assert_no_id_twice(&[texts(one), texts(two)]);
    ids(1);
    assert!(!txid::entropy_degraded());
}

fn a_refusal_after_a_good_start_shows_at_the_next_reseed() {
    let child = Child::start(fork, || {
        ids(1);
        refuse(NO_RANDOMNESS, libc::EIO);
        let before = txid::entropy_degraded();
        clock::pass(2);
        ids(100);
        vec![u8::from(before), u8::from(txid::entropy_degraded())]
    });
    assert_eq!(child.output(), [0, 1]);
}

fn where_getrandom_is_refused_later_there_is_dev_urandom() {
    let child = Child::start(fork, || {
        ids(1);
        refuse(&[libc::SYS_getrandom], libc::EPERM);
        clock::pass(2);
        ids(100);
        // SAFETY: it is refused before it writes anything.
        assert_eq!(unsafe { libc::syscall(libc::SYS_getrandom, std::ptr::null_mut::<u8>(), 0, 0) }, -1);
        let is_degraded = txid::entropy_degraded();
        let strong = (0..100).filter(|_| Txid::strong_wrapping_at(0).is_ok()).count();
        vec![u8::from(is_degraded), strong as u8]
    });
    assert_eq!(child.output(), [0, 100]);
}

/// The descriptors that are open.
fn open_descriptors() -> Vec<i32> {
    // SAFETY: it asks only whether the descriptor is open.
    (0..1024).filter(|&descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0).collect()
}

/// A sandbox refuses the system call with EPERM, and an old kernel with ENOSYS.
const REFUSALS: [i32; 2] = [libc::EPERM, libc::ENOSYS];

/// What a program does that becomes a daemon: it closes all descriptors that it does not know, and opens others. To read
/// those would take from its files, wait for ever, or make ids of what a client sends.
fn where_getrandom_is_refused_from_the_start_no_file_of_somebody_else_is_read() {
    for errno in REFUSALS {
        let child = Child::start(fork, || {
            // SAFETY: ends the process if it hangs.
            unsafe { libc::alarm(20) };
            refuse(&[libc::SYS_getrandom], errno);
            let before = open_descriptors();
            let mut all = [ids(100), strong(100)].concat();
            assert!(!txid::entropy_degraded());
            assert_eq!(open_descriptors(), before, "one is kept");

            let zeros = tempfile::tempfile().unwrap();
            zeros.set_len(1 << 20).unwrap();
            let (mut sockets, mut pipe) = ([0; 2], [0; 2]);
            // SAFETY: both have room for two descriptors. Those that are overwritten belong to nobody here.
            unsafe {
                assert_eq!(libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, sockets.as_mut_ptr()), 0);
                assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
                assert_eq!(libc::write(sockets[1], [b'x'; 4096].as_ptr().cast(), 4096), 4096);
                let others = [zeros.as_raw_fd(), sockets[0], pipe[0]];
                let taken = open_descriptors();
                (3..100).filter(|place| !taken.contains(place)).for_each(|place| {
                    assert_eq!(libc::dup2(others[place as usize % 3], place), place);
                });
            }
            let workers = [(); 3].map(|()| Child::start(fork, || [ids(100), strong(100)].concat().concat()));
            all.extend(workers.into_iter().flat_map(texts));
            // The state of a new thread.
            all.extend(std::thread::spawn(|| [ids(100), strong(100)].concat()).join().unwrap());
            let mut left = 0;
            // SAFETY: the kernel writes to our own variable.
            assert_eq!(unsafe { libc::ioctl(sockets[0], libc::FIONREAD, &raw mut left) }, 0);
            assert_eq!((left, (&zeros).stream_position().unwrap()), (4096, 0), "something was read");
            all.concat()
        });
        assert_no_id_twice(&[texts(child)]);
    }
}

fn where_all_is_refused_from_the_start_ids_are_made_and_it_shows() {
    for errno in REFUSALS {
        let child = Child::start(fork, || {
            refuse(NO_RANDOMNESS, errno);
            let work = || {
                let made = ids(100);
                assert!(txid::entropy_degraded() && Txid::strong_wrapping_at(0).is_err());
                made.concat()
            };
            let workers = [(); 3].map(|()| Child::start(fork, work));
            [work(), workers.map(Child::output).concat()].concat()
        });
        assert_no_id_twice(&[texts(child)]);
    }
}

/// A container may have any file there.
fn a_dev_urandom_that_is_not_the_kernels_is_not_read() {
    type Make = fn(&CStr) -> i32;
    // SAFETY: the paths end with a NUL.
    let makes: [Make; 3] = [
        |path| std::fs::write(OsStr::from_bytes(path.to_bytes()), [7; 4096]).map_or(-1, |()| 0),
        |path| unsafe { libc::mkfifo(path.as_ptr(), 0o600) },
        |path| unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 5)) },
    ];
    for make in makes {
        let directory = Directory::new("urandom");
        std::fs::create_dir(directory.0.join("dev")).unwrap();
        let root = CString::new(directory.0.as_os_str().as_bytes()).unwrap();
        let child = Child::start(fork, || {
            // SAFETY: ends the process if it hangs; and the path ends with a NUL.
            let is_elsewhere = unsafe {
                libc::alarm(20);
                libc::chroot(root.as_ptr()) == 0 && libc::chdir(c"/".as_ptr()) == 0
            };
            if !is_elsewhere || make(c"/dev/urandom") != 0 {
                skipped("another /dev/urandom takes root");
                return Vec::new();
            }
            refuse(&[libc::SYS_getrandom], libc::EPERM);
            let before = open_descriptors();
            let made = ids(100);
            assert!(txid::entropy_degraded() && Txid::strong_wrapping_at(0).is_err());
            assert_eq!(open_descriptors(), before, "one is kept");
            made.concat()
        });
        texts(child);
    }
}

/// A getrandom that gives everybody the same.
extern "C" fn give_sevens(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passed the registers of a system call that it did not make: the arguments, and where its result is
    // expected.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        {
            let registers = &mut registers.gregs;
            let (bytes, count) = (registers[libc::REG_RDI as usize], registers[libc::REG_RSI as usize]);
            ptr::write_bytes(bytes as *mut u8, 7, count as usize);
            registers[libc::REG_RAX as usize] = count;
        }
        #[cfg(target_arch = "aarch64")]
        {
            ptr::write_bytes(registers.regs[0] as *mut u8, 7, registers.regs[1] as usize);
            registers.regs[0] = registers.regs[1];
        }
    }
}

fn where_the_system_gives_everybody_the_same_ids_differ_all_the_same() {
    let groups: Vec<_> = (0..3)
        .map(|_| {
            let child = Child::start(fork, || {
                handle(libc::SIGSYS, give_sevens);
                trap(&[libc::SYS_getrandom]);
                let worker = Child::start(fork, || ids(100).concat());
                [ids(100).concat(), worker.output()].concat()
            });
            texts(child)
        })
        .collect();
    assert_no_id_twice(&groups);
}

fn where_the_kernel_does_not_wipe(hide: fn(), start: fn() -> i32) {
    let child = Child::start(fork, || {
        hide();
        ids(1);
        let before = [ids(100), strong(100)].concat();
        let grandchild = Child::start(start, || [ids(1000), strong(1000)].concat().concat());
        assert_eq!(wiped_on_fork(), 0);
        [before.concat(), ids(1000).concat(), grandchild.output()].concat()
    });
    assert_no_id_twice(&[texts(child)]);

    // There, the clock is read for each id, which would hide that a child continues its parent's stream. The state
    // between two ids shows it.
    let child = Child::start(fork, || {
        hide();
        no_format_continues_its_parents_state(start);
        assert_eq!(wiped_on_fork(), 0);
        Vec::new()
    });
    assert_eq!(child.output(), b"");
}

fn no_wiping() {
    refuse(&[libc::SYS_madvise], libc::EINVAL);
}

fn any_advice_is_accepted() {
    // An errno of 0 means success.
    refuse(&[libc::SYS_madvise], 0);
}

const HIDDEN: [fn(); 2] = [no_wiping, any_advice_is_accepted];

fn where_the_kernel_does_not_wipe_a_fork_makes_a_new_stream() {
    HIDDEN.iter().for_each(|&hide| where_the_kernel_does_not_wipe(hide, fork));
}

fn where_the_kernel_does_not_wipe_a_raw_clone_makes_a_new_stream() {
    HIDDEN.iter().for_each(|&hide| where_the_kernel_does_not_wipe(hide, raw_clone));
}

/// Sets which process id the next child gets. The process must be of a PID namespace that nobody else is in.
fn next_pid_is(pid: u32) {
    std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
}

/// Whether this process may give its children a namespace of process ids. If not, says that a test is skipped.
fn may_choose_pids() -> bool {
    // SAFETY: it concerns only children of this thread.
    let has_namespace = unsafe { libc::unshare(libc::CLONE_NEWPID) } == 0;
    let may = has_namespace && std::fs::OpenOptions::new().write(true).open("/proc/sys/kernel/ns_last_pid").is_ok();
    if !may {
        skipped("choosing process ids takes root, and a kernel with ns_last_pid");
    }
    may
}

fn without_memory_for_a_stream_ids_are_made() {
    let child = Child::start(fork, || {
        let mut texts = Vec::with_capacity(100);
        refuse(&[libc::SYS_mmap], libc::ENOMEM);
        texts.extend((0..100).map(|_| Txid::wrapping_at(0).to_text()));
        assert_eq!(wiped_on_fork(), 0);
        texts.concat()
    });
    assert_no_id_twice(&[texts(child)]);
}

fn ids_open_no_file_and_no_socket() {
    let no_file_and_no_socket =
        || forbid(&[libc::SYS_openat, libc::SYS_openat2, libc::SYS_socket, libc::SYS_connect, libc::SYS_execve]);
    let opens_a_file = fork();
    if opens_a_file == 0 {
        no_file_and_no_socket();
        _ = std::fs::File::open("/");
        end(0);
    }
    assert!(!ended_well(opens_a_file), "nothing is forbidden");
    let child = Child::start(fork, || {
        let makes: Vec<_> = makes().collect();
        assert!(makes.len() > 20);
        no_file_and_no_socket();
        for make in &makes {
            (0..100).for_each(|_| _ = make());
        }
        Vec::new()
    });
    assert_eq!(child.output(), b"");
}

/// The C library's process id, as glibc before 2.25 has it: stored, and not renewed in a child made by a raw clone.
#[unsafe(no_mangle)]
extern "C" fn getpid() -> i32 {
    static KEPT: AtomicI32 = AtomicI32::new(0);
    if KEPT.load(Ordering::Relaxed) == 0 {
        // SAFETY: it has no arguments and cannot fail.
        KEPT.store(unsafe { libc::syscall(libc::SYS_getpid) as i32 }, Ordering::Relaxed);
    }
    KEPT.load(Ordering::Relaxed)
}

fn whatever_the_clock_says_ids_are_made() {
    let last_ms = 4_000_000_000_000;
    // The library's time is the last one of the thread, which is a new one here.
    clock::set(Clocks::Refused);
    assert_eq!((txid::system_ms(), txid::system::coarse_ms()), (0, 0));
    clock::set(Clocks::AsTheyAre);
    assert_eq!(Txid::now_by(last_ms).timestamp_ms(), last_ms % (1 << 42));
    for (clocks, ms) in
        [(Clocks::Refused, Some(last_ms)), (Clocks::Before1970, Some(-1001)), (Clocks::ASecondOfNanoseconds, None)]
    {
        clock::set(clocks);
        for read in [txid::system_ms(), txid::system::coarse_ms()] {
            assert!(ms.map_or(read > 1_700_000_000_000, |ms| read == ms), "{read} ms in mode {}", clocks as i32);
        }
        assert_no_id_twice(&[ids(1000)]);
        makes().for_each(|make| _ = make());
        // A thread's first ids, without randomness either.
        let made = std::thread::spawn(|| {
            refuse(NO_RANDOMNESS, libc::EIO);
            let made = ids(1000);
            assert!(txid::entropy_degraded());
            made
        });
        assert_no_id_twice(&[made.join().unwrap()]);
    }
}

/// A child never finishes the work of another thread. So this process must have made no id before.
fn a_fork_in_the_midst_of_another_threads_first_id_does_not_hang() {
    let child = Child::start(fork, || {
        let mut all = Vec::new();
        for _ in 0..200 {
            let other = std::thread::spawn(|| ids(10));
            let child = Child::start(fork, || {
                // SAFETY: ends the child if it hangs.
                unsafe { libc::alarm(60) };
                ids(10).concat()
            });
            all.extend([texts(child), other.join().unwrap(), ids(10)].concat());
        }
        all.concat()
    });
    assert_no_id_twice(&[texts(child)]);
}

pub const TESTS: &[Test] = one_by_one::tests![
    a_fork_in_the_midst_of_another_threads_first_id_does_not_hang,
    fork_makes_a_new_stream,
    raw_clone_makes_a_new_stream,
    a_generator_begins_anew_in_a_child,
    vfork_takes_turns,
    the_process_id_is_asked_for_once,
    no_format_repeats_what_a_vfork_began,
    where_the_kernel_wipes_there_is_one_page_for_a_thread,
    without_randomness_from_the_os_ids_are_made_and_it_shows,
    a_refusal_after_a_good_start_shows_at_the_next_reseed,
    where_getrandom_is_refused_later_there_is_dev_urandom,
    where_getrandom_is_refused_from_the_start_no_file_of_somebody_else_is_read,
    where_all_is_refused_from_the_start_ids_are_made_and_it_shows,
    a_dev_urandom_that_is_not_the_kernels_is_not_read,
    where_the_system_gives_everybody_the_same_ids_differ_all_the_same,
    where_the_kernel_does_not_wipe_a_fork_makes_a_new_stream,
    where_the_kernel_does_not_wipe_a_raw_clone_makes_a_new_stream,
    without_memory_for_a_stream_ids_are_made,
    without_memory_for_the_kernels_state_strong_ids_are_made_by_system_calls,
    strong_ids_need_no_system_call_if_the_kernel_can_do_without,
    threads_leave_nothing_behind,
    ids_are_made_at_the_end_of_a_thread,
    ids_open_no_file_and_no_socket,
    formats_begin_anew_in_a_fork,
    formats_begin_anew_in_a_raw_clone,
    a_childs_version_7_does_not_follow_its_parents,
    no_child_has_its_parents_strong_ids,
    no_strong_randomness_is_kept,
    ids_that_could_be_guessed_are_reported,
    whatever_the_clock_says_ids_are_made,
];
