//! 64-bit ids, their layouts, and the file that processes share.

use crate::bytes::{reads_back, take, text};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use txid::snowflake::{self, Generator, Layout, State};

pub fn layout(bytes: &[u8]) {
    // The text of a layout says what ids look like, and not where sequences begin.
    match &*text(bytes) {
        "leaf" => check_ids(&Layout::LEAF, bytes),
        text if text.contains("random_start=") => _ = text.parse().map(|layout| check_ids(&layout, bytes)),
        _ => {
            // The layout decides what is valid.
            let read = |bytes: &[u8]| text(bytes).parse::<Layout>();
            let is_valid = read(bytes).is_ok();
            reads_back(bytes, is_valid, read).inspect(|layout| check_ids(layout, bytes));
        }
    }
}

/// Any number in a layout, and what a generator does with any reading of the clock.
pub fn id(bytes: &[u8]) {
    let mut rest = bytes;
    let presets = Layout::PRESETS;
    let (_, preset) = presets[usize::from(take::<1>(&mut rest)[0]) % presets.len()];
    let layout = preset.with_epoch_ms(i64::from_be_bytes(take(&mut rest))).unwrap_or(preset);
    check_ids(&layout, rest);
}

fn check_ids(layout: &Layout, mut bytes: &[u8]) {
    let id = u64::from_be_bytes(take(&mut bytes));
    let bits: u32 = layout.parts().iter().map(|(_, bits)| bits).sum();
    match layout.decode(id) {
        Some(parts) => {
            assert!(id >> bits == 0 && parts.node <= layout.last_node());
            assert!(layout.range_ms().contains(&parts.ms));
        }
        None => assert_ne!(id >> bits, 0),
    }
}

pub fn node(bytes: &[u8]) {
    for (_, layout) in Layout::PRESETS {
        match snowflake::node(&text(bytes), &layout) {
            Ok(node) => assert!(node <= layout.last_node()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

const PAGE: usize = 4096;
const CHECKSUM_AT: usize = 120;

/// Every accepted state stays mapped forever.
const MOST_ACCEPTED: usize = 500;

/// A state's file: the first byte says whether its checksum is corrected, and the others are its beginning.
pub fn state_file(mut bytes: &[u8]) {
    // In memory, where Linux has that: each input is a file.
    static DIRECTORY: LazyLock<TempDir> =
        LazyLock::new(|| TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory"));
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static ACCEPTED: AtomicUsize = AtomicUsize::new(0);

    let [repair] = take(&mut bytes);
    let mut page = [0; PAGE];
    let length = bytes.len().min(PAGE);
    page[..length].copy_from_slice(&bytes[..length]);
    if repair & 1 == 1 {
        let checksum = fnv_1a(&page[..CHECKSUM_AT]).to_ne_bytes();
        page[CHECKSUM_AT..CHECKSUM_AT + 8].copy_from_slice(&checksum);
    }
    if ACCEPTED.load(Ordering::Relaxed) > MOST_ACCEPTED {
        return;
    }
    let directory = DIRECTORY.path().canonicalize().expect("it is there");
    let path = directory.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::write(&path, page).expect("there is room");
    match State::open(&path, &Layout::SNOWFLAKE, 17) {
        Ok(state) => {
            assert_eq!(page[CHECKSUM_AT..CHECKSUM_AT + 8], fnv_1a(&page[..CHECKSUM_AT]).to_ne_bytes());
            assert!(page[..8] == *b"txidsnow" && page[CHECKSUM_AT + 16..] == [0; PAGE - CHECKSUM_AT - 16]);
            ACCEPTED.fetch_add(1, Ordering::Relaxed);
            let generator = Generator::new(state);
            let clock_ms = i64::from_be_bytes(take(&mut &page[CHECKSUM_AT + 8..]));
            for ms in [clock_ms, 1_700_000_000_000, i64::MIN, i64::MAX] {
                let ids = [generator.generate_at(ms), generator.generate_at(ms)];
                if let [Ok(one), Ok(two)] = ids {
                    assert!(one < two && Layout::SNOWFLAKE.decode(two).is_some_and(|parts| parts.node == 17));
                }
            }
        }
        Err(error) => {
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
            assert!(std::fs::read(&path).is_ok_and(|left| left == page), "it is left as it is");
        }
    }
    std::fs::remove_file(&path).expect("it is ours");
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
