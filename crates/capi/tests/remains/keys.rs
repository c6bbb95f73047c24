//! The key that a batch of words was made with tells all ids of that batch. It must be nowhere after it was used.
//!
//! The test finds it as an attacker would who knows the memory before and after: a value from before that makes the value
//! that is now at its place, with a moment that is in memory.

use crate::chacha;
use crate::maker::Maker;
use std::ops::Range;
use test_helpers::attack::{self, Copied};
use test_helpers::{one_by_one, remains};

pub const TESTS: &[(&str, fn())] = one_by_one::tests![no_used_key_is_in_registers_or_on_the_stack];

/// Functions and formats that draw from the thread's key, each in another way.
const NAMES: [&str; 11] = [
    "txid_fill",
    "txid_uuid_v4",
    "txid",
    "uuid_v7",
    "ksuid",
    "xid",
    "flake",
    "unique_id",
    "span_id",
    "trace_id",
    "otel_trace_id",
];

/// How many used keys are looked for.
const KEYS: usize = 20;

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is our own.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) }, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Some of the memory that can be written to, without what is large.
struct Image(Vec<(Range<usize>, Vec<u64>)>);

impl Image {
    fn take(ranges: &[Range<usize>]) -> Self {
        // SAFETY: the mapping is there, and nothing else runs. The copy itself may be in it.
        let word = |address| unsafe { (address as *const u64).read_volatile() };
        let words = |range: &Range<usize>| range.clone().step_by(8).map(word).collect();
        Self(ranges.iter().map(|range| (range.clone(), words(range))).collect())
    }

    fn words(&self) -> impl Iterator<Item = (usize, &[u64])> {
        self.0.iter().flat_map(|(range, words)| {
            words.windows(4).enumerate().map(move |(at, window)| (range.start + 8 * at, window))
        })
    }

    /// The four words at an address.
    fn at(&self, address: usize) -> Option<&[u64]> {
        let (range, words) = self.0.iter().find(|(range, _)| range.contains(&address))?;
        words.get((address - range.start) / 8..)?.get(..4)
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Neither a small number nor an address.
fn is_random(word: u64) -> bool {
    let mut bytes = word.to_ne_bytes();
    bytes.sort_unstable();
    word >> 48 != 0 && bytes.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 5
}

/// The addresses of the key and of the moment that it was replaced at, and what it was before, if it was replaced once between
/// these two moments.
fn used_key(before: &Image, after: &Image) -> Option<(usize, usize, Vec<u8>)> {
    let now_ns = monotonic_ns();
    let is_moment = |word: &u64| (now_ns - 10_000_000_000..now_ns).contains(word);
    let words = after.words().map(|(address, words)| (address, words[0]));
    let moments: Vec<(usize, u64)> = words.filter(|(_, word)| is_moment(word)).collect();
    before.words().find_map(|(address, key)| {
        let next = after.at(address)?;
        let is_replaced = key != next && key.iter().chain(next).all(|&word| is_random(word));
        let (key, next) = (bytes(key), bytes(next));
        let mut moments = is_replaced.then_some(&moments)?.iter();
        let (replaced_at, _) = moments.find(|&&(_, moment)| chacha::block(&key, moment)[..32] == next)?;
        Some((address, *replaced_at, key))
    })
}

/// In how many cases a used key was found in memory, in registers and on the stack, when `count` ids were made at once.
fn found(maker: &mut Maker, count: usize, ranges: &mut Vec<Range<usize>>) -> [usize; 3] {
    let [mut keys, mut in_registers, mut on_the_stack] = [0; 3];
    for _ in 0..if count == 1 { 100 * KEYS } else { 4 * KEYS } {
        let before = Image::take(ranges);
        let left = remains::of(|| (0..count).for_each(|_| maker.make(1_700_000_000_000)));
        // Most ids of a burst need no new key, and some need two.
        let Some((address, replaced_at, key)) = used_key(&before, &Image::take(ranges)) else { continue };
        // They stay there.
        *ranges = vec![address..address + 1024, replaced_at..replaced_at + 64];
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        // By chance, four bytes are there once in a hundred thousand times.
        in_registers += usize::from(key.chunks(4).any(|part| has(&left.registers, part)));
        on_the_stack += usize::from(key.chunks(8).any(|part| has(&left.stack, part)));
        keys += 1;
        if keys == KEYS {
            // The key that comes next is not in a child.
            let next = Copied::take().at(address..address + 32);
            assert!(next == [0; 32] || attack::wiped_on_fork() == 0, "a child has the next key");
            break;
        }
    }
    [keys, in_registers, on_the_stack]
}

fn no_used_key_is_in_registers_or_on_the_stack() {
    // The first one gives the thread its memory.
    Maker::of("txid").make(0);
    let mut ranges: Vec<_> = attack::writable().into_iter().filter(|range| range.len() < 4 << 20).collect();
    let mut failed = Vec::new();
    for name in NAMES {
        let mut maker = Maker::of(name);
        // On a slow machine, so many ids take so long that they are no burst, and need several keys.
        for count in [1, 40] {
            let [keys, in_registers, on_the_stack] = found(&mut maker, count, &mut ranges);
            println!(
                "{name}, {count} at once: {keys} used keys, {in_registers} in registers, {on_the_stack} on the stack"
            );
            assert!(keys == KEYS || count > 1, "{name}: the used key was not found in memory");
            if in_registers + on_the_stack > 0 {
                failed.push(name);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
