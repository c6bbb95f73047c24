//! What a fork copies tells nothing of the ids that the parent makes later.

use crate::maker::Maker;
use std::collections::HashSet;
use test_helpers::attack::{Copied, wiped_on_fork};
use test_helpers::one_by_one;

pub const TESTS: &[(&str, fn())] = one_by_one::tests![no_child_has_the_random_words_of_its_parents_next_ids];

/// The alphabet of a format, and a random word of an id that is this number: its value, and by how many bits it is shifted
/// to the right, and to the left before.
type Format = (&'static str, &'static [u8], fn(u128) -> u64, [u32; 2]);

const BASE16: &[u8] = b"0123456789abcdef";
const BASE32: &[u8] = b"0123456789abcdefghijklmnopqrstuv";
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const FORMATS: [Format; 10] = [
    ("txid_fill", BASE32, of_txid, [0, 10]),
    ("txid_uuid_v4", BASE16, of_uuid, [2, 2]),
    ("txid", BASE32, of_txid, [0, 10]),
    ("strong", BASE32, of_txid, [0, 10]),
    ("uuid_v4", BASE16, of_uuid, [2, 2]),
    ("uuid_v7", BASE16, of_uuid, [2, 2]),
    ("ulid", CROCKFORD, |id| id as u64, [0, 0]),
    ("ksuid", BASE62, |id| id as u64, [0, 0]),
    ("trace_id", BASE16, |id| id as u64, [0, 0]),
    ("span_id", BASE16, |id| id as u64, [0, 0]),
];

/// Its characters have four bits more.
fn of_txid(id: u128) -> u64 {
    (id >> 4) as u64 & ((1 << 54) - 1)
}

/// All but the variant.
fn of_uuid(id: u128) -> u64 {
    (id as u64) << 2 >> 2
}

fn no_child_has_the_random_words_of_its_parents_next_ids() {
    const CHILDREN: usize = 20;
    const IDS: usize = 30;
    if wiped_on_fork() == 0 {
        Maker::of("txid").make(0);
    }
    if wiped_on_fork() == 0 {
        return println!("skipped: this kernel does not wipe memory in children");
    }
    let mut failed = Vec::new();
    for (name, alphabet, word_of, [left, right]) in FORMATS {
        let mut maker = Maker::of(name);
        let mut found = 0;
        for _ in 0..CHILDREN {
            // In a burst, so that words are made ahead. Within a millisecond, some formats only grow.
            let mut ms = 1_700_000_000_000;
            (0..100).for_each(|_| maker.make(ms));
            let child = Copied::take();
            let mut make = || {
                ms += i64::from(["uuid_v7", "ulid"].contains(&name));
                maker.make(ms);
                let values = maker.text().iter().filter_map(|character| alphabet.iter().position(|it| it == character));
                word_of(values.fold(0, |id: u128, value| id.wrapping_mul(alphabet.len() as u128) + value as u128))
            };
            let words: HashSet<u64> = (0..IDS).map(|_| make()).collect();
            let mut copied = HashSet::new();
            for bytes in child.memory().chunks_exact(8) {
                let word = u64::from_ne_bytes(bytes.try_into().unwrap());
                // Most are zeros, small numbers and addresses.
                if word >> 48 != 0 && words.contains(&(word << left >> right)) {
                    copied.insert(word);
                }
            }
            found += copied.len();
        }
        println!("{name}: {found} of {} ids have a word that a child has", CHILDREN * IDS);
        if found > 0 {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
