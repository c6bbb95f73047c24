//! The trap flag of x86-64 sends a signal after each instruction, so that none is missed.

use super::first_call::a_fork_in_the_midst_of_another_threads_first_call;
use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;
use test_helpers::attack::{
    Child, Shared, block, end, ended_well, fork, handle, instruction, raw_clone, refuse, step_no_further, step_through,
    wiped_on_fork,
};
use test_helpers::library::{self, FUNCTIONS};
use test_helpers::{Directory, one_by_one};
use txid::formats;

/// Room for the longest id.
pub type Text = [u8; 90];

/// The addresses of the instructions of `libtxid.so` as it is shipped: a debug build has a hundred times as many.
pub static CODE: LazyLock<Range<usize>> = LazyLock::new(|| {
    LazyLock::force(&FUNCTIONS);
    code_named(library::path().canonicalize().unwrap().to_str().unwrap()).unwrap()
});

fn code_named(name: &str) -> Option<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains(" r-xp ") && line.ends_with(name))?;
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    Some(usize::from_str_radix(begin, 16).unwrap()..usize::from_str_radix(end, 16).unwrap())
}

/// The kernel's code in this process, which a strong id calls.
static VDSO: LazyLock<Range<usize>> = LazyLock::new(|| code_named("[vdso]").unwrap_or_default());

/// What the handler does, and where all processes put their ids.
struct Attack {
    make: fn(i64) -> Text,
    start: Option<fn() -> i32>,
    makes_ids: bool,
    ids: Shared<Text>,
    every: u64,
    /// The interrupted id as each child made it, and after how many instructions it was forked.
    interrupted: Shared<(u64, Text)>,
    /// At how many of the last instructions a fork may give the interrupted id to both.
    last: u64,
}

/// After the last look at the generation, a txid is written from registers. 108 instructions, and room for other compilers.
const AFTER_THE_LAST_LOOK: u64 = 150;

impl Attack {
    fn make_some(&self, count: usize) {
        (0..count).for_each(|_| self.ids.push((self.make)(FROZEN_MS)));
    }
}

/// How many ids a handler makes.
const IN_HANDLER: usize = 4;

const FROZEN_MS: i64 = 1_700_000_000_000;

static ATTACK: OnceLock<Attack> = OnceLock::new();
static IS_CHILD: AtomicBool = AtomicBool::new(false);
static ALSO_VDSO: AtomicBool = AtomicBool::new(false);
static CANNOT_WIPE: AtomicBool = AtomicBool::new(false);
static ONLY_COUNTS: AtomicBool = AtomicBool::new(false);
static STEPS: AtomicU64 = AtomicU64::new(0);
static FORKED_AT: AtomicU64 = AtomicU64::new(0);

fn text(write: impl FnOnce(*mut c_char)) -> Text {
    let mut text = [0; size_of::<Text>()];
    write(text.as_mut_ptr().cast());
    text
}

/// The random bits of an id. The ninth character also holds two bits of the time.
pub fn random_of_id(ms: i64) -> Text {
    // SAFETY: here and below, the text has room for the longest id.
    let mut text = text(|text| unsafe { (FUNCTIONS.fill)(text, ms) });
    text[..9].fill(0);
    text
}

/// The same of a strong id.
fn random_by_maker(ms: i64) -> Text {
    let mut text = by_maker(ms);
    text[..9].fill(0);
    text
}

/// The maker of the attack that is started.
static MAKER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn by_maker(ms: i64) -> Text {
    let (maker, mut guessable, mut message) = (MAKER.load(Ordering::Relaxed), false, [0; 1024]);
    text(|text| {
        // SAFETY: as above; a message has at most 1024 bytes.
        let len = unsafe { (FUNCTIONS.maker_fill)(maker, ms, text, &mut guessable, message.as_mut_ptr()) };
        assert!(len > 0 && !guessable);
    })
}

/// With an address where the format takes one: not every machine has its own.
fn open_maker(format: &'static str) {
    let takes_address =
        formats::named(format).and_then(|it| it.make).is_some_and(|make| make.options.contains(&"address"));
    open_maker_with(format, takes_address);
}

fn open_maker_with(format: &'static str, is_address_given: bool) {
    let words = [format, "address=10.0.0.7"].map(library::Text::of);
    let (count, mut maker, mut message) = (1 + usize::from(is_address_given), ptr::null_mut(), [0; 1024]);
    // SAFETY: as many texts, and a message has at most 1024 bytes.
    let code = unsafe { (FUNCTIONS.maker_open)(words.as_ptr(), count, false, &mut maker, message.as_mut_ptr()) };
    assert_eq!(code, 0, "{format}");
    MAKER.store(maker, Ordering::Relaxed);
}

/// An id of a maker that is opened for it.
pub fn made_by(format: &'static str) -> Text {
    open_maker(format);
    by_maker(FROZEN_MS)
}

/// The same, with the address that the library finds for the host.
pub fn made_by_host(format: &'static str) -> Text {
    open_maker_with(format, false);
    by_maker(FROZEN_MS)
}

extern "C" fn on_step(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    let attack = ATTACK.get().unwrap();
    // Not in all code that it calls: the kernel's code that reads the clock would start over forever, because each try takes
    // longer than a tick.
    let at = instruction(context);
    let is_attacked = CODE.contains(&at) || ALSO_VDSO.load(Ordering::Relaxed) && VDSO.contains(&at);
    if !is_attacked {
        return;
    }
    let step = STEPS.fetch_add(1, Ordering::Relaxed);
    if step % attack.every != 0 || ONLY_COUNTS.load(Ordering::Relaxed) {
        return;
    }
    if let Some(start) = attack.start {
        FORKED_AT.store(step, Ordering::Relaxed);
        let pid = start();
        if pid > 0 {
            assert!(ended_well(pid));
            return;
        }
        // SAFETY: ends the child if it hangs.
        unsafe { libc::alarm(60) };
        IS_CHILD.store(true, Ordering::Relaxed);
        step_no_further(context);
    }
    if attack.makes_ids {
        attack.make_some(IN_HANDLER);
    }
}

/// Makes an id with the attack between its instructions, and some ids after it. Parent and child may both have the id that
/// a fork interrupted, if it was complete but for its text.
fn strike(stamp_ms: i64, first_step: u64) {
    let attack = ATTACK.get().unwrap();
    STEPS.store(first_step, Ordering::Relaxed);
    let mut struck = None;
    step_through(|| struck = Some((attack.make)(stamp_ms)));
    let (struck, steps) = (struck.unwrap(), STEPS.load(Ordering::Relaxed));
    if IS_CHILD.load(Ordering::Relaxed) {
        attack.interrupted.push((FORKED_AT.load(Ordering::Relaxed), struck));
        attack.make_some(64);
        end(0);
    }
    assert!(steps > 50, "the instructions were not seen");
    let in_children = attack.interrupted.items();
    let first = in_children.iter().filter(|(_, id)| *id == struck).map(|(step, _)| *step).min().unwrap_or(steps);
    let last = steps - first;
    assert!(last <= attack.last, "a fork at the last {last} of {steps} instructions gives an id to both");
    attack.interrupted.clear();
    attack.ids.push(struck);
    attack.make_some(64);
}

/// The instructions of an id that nothing interrupts.
fn steps_of_one() -> u64 {
    let attack = ATTACK.get().unwrap();
    ONLY_COUNTS.store(true, Ordering::Relaxed);
    STEPS.store(0, Ordering::Relaxed);
    step_through(|| attack.make_some(1));
    ONLY_COUNTS.store(false, Ordering::Relaxed);
    STEPS.load(Ordering::Relaxed)
}

/// Attacks a thread's first id, an ordinary one, and one that mixes in fresh randomness.
fn attacked(attack: Attack) -> Vec<u8> {
    // SAFETY: ends the process if it hangs.
    unsafe { libc::alarm(600) };
    let attack = ATTACK.get_or_init(|| attack);
    handle(libc::SIGTRAP, on_step);
    // The first strong id maps memory. A thread's first getrandom of glibc 2.41 blocks all signals for a moment, and the
    // trap flag's, which cannot wait, would then end the process.
    if MAKER.load(Ordering::Relaxed).is_null() {
        open_maker("strong");
    }
    by_maker(0);
    // SAFETY: the array has the 20 bytes.
    assert_eq!(unsafe { libc::getrandom([0_u8; 20].as_mut_ptr().cast(), 20, 0) }, 20);
    strike(FROZEN_MS, 0);
    (0..attack.every).for_each(|first_step| strike(FROZEN_MS, first_step));
    if ALSO_VDSO.load(Ordering::Relaxed) {
        // The kernel's code makes the randomness of twelve ids at a time. The strike meets that: it is the most that an id does.
        let counts = [(); 12].map(|()| steps_of_one());
        let most = (0..12).max_by_key(|&at| counts[at]).unwrap();
        // The handler makes some before the id's first instruction.
        let by_handler = if attack.start.is_none() { IN_HANDLER } else { 0 };
        attack.make_some((most + 12 - by_handler) % 12);
        strike(FROZEN_MS, 0);
        let steps = STEPS.load(Ordering::Relaxed);
        assert!(steps > counts[(most + 1) % 12] * 2, "{steps} instructions, where ids have {counts:?}");
    }
    std::thread::sleep(Duration::from_millis(1100));
    // A different second than before, so that the stamp shows that a second has passed.
    strike(FROZEN_MS + 8192, 0);

    assert!(wiped_on_fork() == 0 || !CANNOT_WIPE.load(Ordering::Relaxed), "it could");
    let ids = attack.ids.items();
    let distinct = ids.iter().collect::<HashSet<_>>().len();
    format!("{} repeats in {} ids", ids.len() - distinct, ids.len()).into_bytes()
}

fn assert_no_repeats(prepare: fn(), start: Option<fn() -> i32>, makes_ids: bool) {
    assert_no_repeats_of(random_of_id, prepare, start, makes_ids);
}

fn assert_no_repeats_of(make: fn(i64) -> Text, prepare: fn(), start: Option<fn() -> i32>, makes_ids: bool) {
    assert_says_no_repeats(start_attack(make, prepare, start, makes_ids));
}

fn start_attack(make: fn(i64) -> Text, prepare: fn(), start: Option<fn() -> i32>, makes_ids: bool) -> Child {
    // A child can be started at every instruction. A handler that makes ids cannot run so often: it would use up all
    // that the interrupted call could take its id from.
    let every = if start.is_some() { 1 } else { 61 };
    Child::start(fork, || {
        prepare();
        // Other formats have more to do after it.
        let last = if MAKER.load(Ordering::Relaxed).is_null() { AFTER_THE_LAST_LOOK } else { u64::MAX };
        let interrupted = Shared::new(1_000_000);
        attacked(Attack { make, start, makes_ids, ids: Shared::new(10_000_000), every, interrupted, last })
    })
}

fn assert_says_no_repeats(attack: Child) {
    let said = String::from_utf8(attack.output()).unwrap();
    println!("{said}");
    assert!(said.starts_with("0 repeats in "), "{said}");
}

fn as_it_is() {}

fn also_in_the_kernels_code() {
    ALSO_VDSO.store(true, Ordering::Relaxed);
}

fn where_the_kernel_cannot_wipe() {
    refuse(&[libc::SYS_madvise], libc::EINVAL);
    CANNOT_WIPE.store(true, Ordering::Relaxed);
}

fn a_fork_at_any_instruction() {
    assert_no_repeats(as_it_is, Some(fork), false);
}

fn a_fork_at_any_instruction_whose_handler_makes_ids() {
    assert_no_repeats(as_it_is, Some(fork), true);
}

fn a_raw_clone_at_any_instruction() {
    assert_no_repeats(as_it_is, Some(raw_clone), true);
}

fn a_fork_at_any_instruction_where_the_kernel_cannot_wipe() {
    assert_no_repeats(where_the_kernel_cannot_wipe, Some(fork), true);
}

fn a_raw_clone_at_any_instruction_where_the_kernel_cannot_wipe() {
    assert_no_repeats(where_the_kernel_cannot_wipe, Some(raw_clone), true);
}

fn ids_made_in_a_handler_at_any_instruction() {
    assert_no_repeats(as_it_is, None, true);
}

fn ids_made_in_a_handler_at_any_instruction_where_the_kernel_cannot_wipe() {
    assert_no_repeats(where_the_kernel_cannot_wipe, None, true);
}

fn strong_ids() {
    open_maker("strong");
    assert_no_repeats_of(random_by_maker, also_in_the_kernels_code, None, true);
    for (start, makes_ids) in [(fork as fn() -> i32, true), (fork, false), (raw_clone, true)] {
        assert_no_repeats_of(random_by_maker, also_in_the_kernels_code, Some(start), makes_ids);
    }
}

/// Formats with attacks of their own.
const FORMATS: [(&str, fn()); 2] = [("txid", ids_made_in_a_handler_at_any_instruction), ("strong", strong_ids)];

/// Made of randomness alone, or beside 64 bits of it, from where a txid's comes; or of a word that processes share, whose
/// orders of events are in src/snowflake/ and src/segment/.
const NOTHING_KEPT: [&str; 8] =
    ["uuid_v4", "trace_id", "otel_trace_id", "span_id", "traceparent", "b3", "snowflake", "segment"];

/// What a thread keeps from one id of a format to the next.
fn every_other_format() {
    let is_attacked_above = |name: &&str| FORMATS.iter().any(|(other, _)| other == name);
    let others = formats::ALL.iter().filter(|format| format.make.is_some()).map(|format| format.name);
    let others: Vec<_> = others.filter(|name| !is_attacked_above(name) && !NOTHING_KEPT.contains(name)).collect();
    assert!(others.len() > 10);
    // Some at once, because each waits for more than a second.
    for names in others.chunks(4) {
        let attacks: Vec<_> = names
            .iter()
            .flat_map(|name| {
                println!("{name}");
                open_maker(name);
                [None, Some(fork as fn() -> i32)].map(|start| start_attack(by_maker, as_it_is, start, true))
            })
            .collect();
        attacks.into_iter().for_each(assert_says_no_repeats);
    }
}

/// All 54 random bits of an id.
fn random_bits() -> u64 {
    let mut text = [0_u8; 20];
    // SAFETY: the text has the 20 bytes.
    unsafe { (FUNCTIONS.fill)(text.as_mut_ptr().cast(), 0) };
    let bits = text.iter().fold(0_u128, |bits, byte| {
        bits << 5 | u128::from(if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 })
    });
    (bits >> 4) as u64 & ((1 << 54) - 1)
}

static STORM: OnceLock<Shared<u64>> = OnceLock::new();
static CHILDREN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether an id is being made. Only then may a fork happen: otherwise, parent and child could both add an id that
    /// is made but not in the list yet.
    static IS_MAKING: Cell<bool> = const { Cell::new(false) };
}

fn make(count: usize) {
    let ids = STORM.get().unwrap();
    (0..count).for_each(|_| ids.push(random_bits()));
}

/// Makes ids. Also starts a child that makes some more, alternately by fork and raw clone.
extern "C" fn on_alarm(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
    static ALARMS: AtomicU64 = AtomicU64::new(0);
    let starts = [None, Some(fork as fn() -> i32), None, Some(raw_clone)];
    let start = starts[ALARMS.fetch_add(1, Ordering::Relaxed) as usize % starts.len()];
    if let Some(start) = start.filter(|_| IS_MAKING.get() && !IS_CHILD.load(Ordering::Relaxed)) {
        match start() {
            0 => IS_CHILD.store(true, Ordering::Relaxed),
            pid => _ = CHILDREN.fetch_add(u64::from(pid > 0), Ordering::Relaxed),
        }
    }
    make(2);
}

/// Sends SIGALRM every `tv_usec` microseconds; 0 turns it off.
fn alarm_every(tv_usec: i64) {
    let every = libc::timeval { tv_sec: 0, tv_usec };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is our own.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut()) }, 0);
}

/// Makes this many ids in several threads, under a storm of signals.
fn storm(wanted: usize) {
    let ids = STORM.get().unwrap();
    let run = || {
        block(libc::SIGALRM, false);
        while ids.count() < wanted {
            IS_MAKING.set(true);
            let id = random_bits();
            IS_MAKING.set(false);
            if IS_CHILD.load(Ordering::Relaxed) {
                // The interrupted id belongs to the parent as well.
                make(64);
                end(0);
            }
            ids.push(id);
        }
        block(libc::SIGALRM, true);
    };
    alarm_every(150);
    std::thread::scope(|scope| (0..3).for_each(|_| _ = scope.spawn(run)));
    alarm_every(0);
    // Children leave no status, so this returns when the last one has ended.
    // SAFETY: a plain system call.
    while unsafe { libc::waitpid(-1, ptr::null_mut(), 0) } > 0 {}
}

/// Among the ids of one millisecond, made by threads, forks, raw clones and handlers, there are as many equal pairs as
/// chance predicts.
///
/// A billion ids need 8 GB. So they are made in storms of 50 million, and written to files by their first four bits.
/// Equal ids are in the same file.
fn a_billion_ids_in_storms_of_signals_and_forks() {
    const FILES: usize = 16;
    let wanted = std::env::var("SOAK_IDS").map_or(1_000_000_000, |ids| ids.parse::<usize>().unwrap());
    let at_once = wanted.min(50_000_000);
    let directory = Directory::new("storm");
    let paths: Vec<_> = (0..FILES).map(|file| directory.0.join(file.to_string())).collect();
    let mut files: Vec<_> = paths.iter().map(|path| BufWriter::new(File::create_new(path).unwrap())).collect();

    let ids = STORM.get_or_init(|| Shared::new(at_once + at_once / 10 + 1_000_000));
    handle(libc::SIGALRM, on_alarm);
    // SAFETY: children are not waited for.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let mut made = 0;
    while made < wanted {
        storm(at_once.min(wanted - made));
        for id in ids.items() {
            files[(id >> 50) as usize].write_all(&id.to_ne_bytes()).unwrap();
        }
        made += ids.count();
        ids.clear();
    }
    files.into_iter().for_each(|file| drop(file.into_inner().unwrap()));

    let pairs: usize = paths.iter().map(|path| equal_pairs(&std::fs::read(path).unwrap())).sum();
    let by_chance = (made as f64).powi(2) / 2_f64.powi(55);
    let children = CHILDREN.load(Ordering::Relaxed);
    println!("{made} ids, {children} forks: {pairs} equal pairs, {by_chance:.1} expected by chance");
    assert!(children > 0);
    assert!((pairs as f64 - by_chance).abs() <= 5.0 * by_chance.sqrt() + 1.0);
}

fn equal_pairs(ids: &[u8]) -> usize {
    let mut ids: Vec<_> = ids.chunks_exact(8).map(|id| u64::from_ne_bytes(id.try_into().unwrap())).collect();
    ids.sort_unstable();
    ids.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

pub fn run() {
    LazyLock::force(&CODE);
    LazyLock::force(&VDSO);
    if std::env::args().any(|argument| argument == "soak") {
        // Only threads that make ids get the signal: a child of a thread that waits for another one would wait forever.
        block(libc::SIGALRM, true);
        one_by_one::run(one_by_one::tests![a_billion_ids_in_storms_of_signals_and_forks]);
    }
    let tests: &[(&str, fn())] = one_by_one::tests![
        a_fork_in_the_midst_of_another_threads_first_call,
        every_other_format,
        a_fork_at_any_instruction,
        a_fork_at_any_instruction_whose_handler_makes_ids,
        a_raw_clone_at_any_instruction,
        a_fork_at_any_instruction_where_the_kernel_cannot_wipe,
        a_raw_clone_at_any_instruction_where_the_kernel_cannot_wipe,
        ids_made_in_a_handler_at_any_instruction_where_the_kernel_cannot_wipe,
    ];
    one_by_one::run(&[tests, &FORMATS].concat());
}
