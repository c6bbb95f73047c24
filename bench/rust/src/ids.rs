//! The second table: ids as text in a buffer, by the C ABI of libtxid.so and by other crates, measured by criterion.

use crate::cpu_time::{self, CpuTime};
use crate::table::cell;
use criterion::Criterion;
use ferroid::base32::Base32UlidExt;
use ferroid::generator::thread_local::Ulid as FerroidUlid;
use libloading::Library;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ffi::{c_char, c_void};
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;
use svix_ksuid::{Ksuid, KsuidLike};

const ROUNDS: usize = 15;
const ROUNDS_OF_TWO_THREADS: usize = 301;
const MS: i64 = 1_700_000_000_000;

/// Aligned to cache lines, so that no row is slower because of its address.
#[repr(align(64))]
struct Text([u8; txid::Maker::MAX_LEN]);

type Fill = unsafe extern "C" fn(*mut c_char, i64);

#[derive(Clone, Copy)]
struct Txid {
    fill: Fill,
    fill_now: Fill,
    clock_ms: unsafe extern "C" fn() -> i64,
    uuid_v4: unsafe extern "C" fn(*mut c_char),
}

impl Txid {
    fn load(path: &str) -> Self {
        // SAFETY: libtxid's initializers are Rust's own, its functions have these signatures, and it is never unloaded.
        unsafe {
            let library = Library::new(path).unwrap();
            Self {
                fill: *library.get(b"txid_fill").unwrap(),
                fill_now: *library.get(b"txid_fill_now").unwrap(),
                clock_ms: *library.get(b"txid_clock_ms").unwrap(),
                uuid_v4: *library.get(b"txid_uuid_v4").unwrap(),
            }
        }
    }
}

/// A txid_text.
type Word = [usize; 2];
type OpenHidden = unsafe extern "C" fn(*const Word, usize, *mut *mut c_void, *mut c_char) -> i32;
type Hide = unsafe extern "C" fn(*const c_void, u64, *mut c_char, *mut c_char) -> i32;

/// A series of hidden numbers of 10 digits.
#[derive(Clone, Copy)]
struct Hidden {
    series: *const c_void,
    hide: Hide,
}

impl Hidden {
    fn open(library: &str, directory: &Path) -> Self {
        let key_file = directory.join("orders.key");
        let mut file =
            fs::OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&key_file).unwrap();
        file.write_all(b"85962d72415d32da4f2c574c02c44ed9\n").unwrap();
        let key = format!("key={}", key_file.display());
        let words = [&*key, "name=orders", "digits=10"].map(|word| [word.len(), word.as_ptr() as usize]);
        let mut series = std::ptr::null_mut();
        // SAFETY: as for Txid::load; the texts are as long as they say, and a message has at most 1024 bytes.
        unsafe {
            let library = Library::new(library).unwrap();
            let open: OpenHidden = *library.get(b"txid_hidden_open").unwrap();
            let mut message = [0; 1024];
            let code = open(words.as_ptr(), words.len(), &mut series, message.as_mut_ptr());
            assert!(code >= 0);
            let hide = *library.get(b"txid_hidden_hide").unwrap();
            std::mem::forget(library);
            Self { series, hide }
        }
    }

    /// Writes the image of a number, and adds one to it.
    fn hide(self, number: &mut u64, text: &mut [u8; txid::Maker::MAX_LEN]) {
        *number += 1;
        let mut message = MaybeUninit::<[u8; 1024]>::uninit();
        // SAFETY: the text is longer than an image, and a message has at most 1024 bytes.
        unsafe { (self.hide)(self.series, *number, text.as_mut_ptr().cast(), message.as_mut_ptr().cast()) };
    }
}

/// Measures every row once, in a criterion group named after the round, and returns the rows' names.
fn measure(
    criterion: &mut Criterion<CpuTime>,
    round: usize,
    txid: Txid,
    [hidden, without_instructions]: [Hidden; 2],
) -> Vec<&'static str> {
    let mut group = criterion.benchmark_group(round.to_string());
    let mut names = Vec::new();
    macro_rules! row {
        ($name:literal, |$text:ident| $to_text:expr) => {
            let mut text = Text([0; txid::Maker::MAX_LEN]);
            group.bench_function($name, |bencher| {
                bencher.iter(|| {
                    let $text = &mut text.0;
                    let _ = $to_text;
                    black_box($text);
                })
            });
            names.push($name);
        };
    }

    // SAFETY, of these three: the text is longer than an id.
    row!("txid_fill", |text| unsafe { (txid.fill)(text.as_mut_ptr().cast(), MS) });
    row!("txid_fill_now", |text| unsafe { (txid.fill_now)(text.as_mut_ptr().cast(), MS) });
    row!("txid_fill_now of txid_clock_ms", |text| unsafe {
        (txid.fill_now)(text.as_mut_ptr().cast(), (txid.clock_ms)())
    });
    let mut xoshiro = Xoshiro256PlusPlus::from_seed([7; 32]);
    row!("a txid of xoshiro256++", |text| {
        let mut id = [0; 12];
        id[4..].copy_from_slice(&xoshiro.next_u64().to_be_bytes());
        text[..20].copy_from_slice(&txid::Txid::from(id).to_text());
    });
    // SAFETY: the text is longer than a UUID.
    row!("txid_uuid_v4", |text| unsafe { (txid.uuid_v4)(text.as_mut_ptr().cast()) });
    row!("uuid v4, fast-rng", |text| uuid::Uuid::new_v4().hyphenated().encode_lower(text).len());
    row!("uuid v7, fast-rng", |text| uuid::Uuid::now_v7().hyphenated().encode_lower(text).len());
    row!("ulid", |text| ulid::Ulid::generate().array_to_str(text.first_chunk_mut().unwrap()).len());
    row!("xid", |text| write!(&mut text[..], "{}", xid::new()));
    row!("svix-ksuid", |text| write!(&mut text[..], "{}", Ksuid::now(None)));
    row!("scru128", |text| text[..25].copy_from_slice(scru128::new().encode().as_bytes()));
    row!("ferroid ULID", |text| {
        FerroidUlid::new_ulid().encode_to_buf(text.first_chunk_mut().unwrap()).as_bytes().len()
    });
    row!("ferroid ULID, counting within a millisecond", |text| {
        FerroidUlid::new_ulid_mono(|_| {}).encode_to_buf(text.first_chunk_mut().unwrap()).as_bytes().len()
    });
    let (sqids, mut number) = (sqids::Sqids::builder().min_length(10).build().unwrap(), 1_763_712_000);
    row!("txid_hidden_hide, 10 digits", |text| hidden.hide(&mut number, text));
    row!("the same without AES instructions", |text| without_instructions.hide(&mut number, text));
    row!("sqids, 10 characters, no encryption", |text| {
        number += 1;
        text[..10].copy_from_slice(sqids.encode(&[number]).unwrap().as_bytes());
    });
    row!("skip32, 32 bits as 10 digits", |text| {
        number += 1;
        write!(&mut text[..], "{:010}", skip32::encode(b"2b7e151628", number as u32))
    });
    group.finish();
    names
}

/// The median that criterion found for a row in a round.
fn ns(data: &Path, round: usize, name: &str) -> f64 {
    let path = data.join(round.to_string()).join(name).join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    estimates["median"]["point_estimate"].as_f64().unwrap()
}

/// The nanoseconds of an id in each of this many threads.
fn ns_in_each_of(threads: usize, fill: Fill) -> Vec<f64> {
    const CALLS: u32 = 100_000;
    let barrier = Barrier::new(threads);
    let make_ids = || {
        let mut text = Text([0; txid::Maker::MAX_LEN]);
        // SAFETY: the text is longer than an id.
        let mut make = || unsafe { fill(black_box(text.0.as_mut_ptr().cast()), MS) };
        make();
        barrier.wait();
        let start = cpu_time::now();
        (0..CALLS).for_each(|_| make());
        let taken = cpu_time::now() - start;
        // Continue until the other thread is done, too: with an idle neighbor, a processor is faster.
        barrier.wait();
        taken.as_nanos() as f64 / f64::from(CALLS)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(make_ids)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The rate of two threads over that of one.
fn two_threads_over_one(fill: Fill) -> f64 {
    let alone = ns_in_each_of(1, fill)[0];
    ns_in_each_of(2, fill).iter().map(|together| alone / together).sum()
}

/// `without_instructions` is a library that was built without the processor's instructions for AES.
pub fn table(library: &str, without_instructions: &str, directory: &Path) -> String {
    let txid = Txid::load(library);
    let hidden = [library, without_instructions].map(|library| Hidden::open(library, directory));
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .output_directory(directory)
        .without_plots()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(10))
        .measurement_time(Duration::from_millis(30));
    let mut names = Vec::new();
    for round in 0..ROUNDS {
        names = measure(&mut criterion, round, txid, hidden);
    }

    let ns = |round, name| ns(directory, round, name);
    let mut table = format!("{ROUNDS} rounds.\n\n| | ns | times `txid_fill` |\n|---|--:|--:|\n");
    for name in names {
        let own = (0..ROUNDS).map(|round| ns(round, name));
        let times = (0..ROUNDS).map(|round| ns(round, name) / ns(round, "txid_fill"));
        let _ = writeln!(table, "| {name} | {} | {} |", cell(own.collect(), 1), cell(times.collect(), 2));
    }

    let times = (0..ROUNDS_OF_TWO_THREADS).map(|_| two_threads_over_one(txid.fill)).collect();
    let _ = writeln!(
        table,
        "\nIn two threads `txid_fill` makes {} times as many ids as in one ({ROUNDS_OF_TWO_THREADS} rounds, each thread by its \
         own time).",
        cell(times, 2)
    );
    table
}
