//! The random bits of an id are in the caller's buffer alone.

use crate::maker::Maker;
use std::collections::HashSet;
use test_helpers::{one_by_one, remains};

pub const TESTS: &[(&str, fn())] = one_by_one::tests![no_bits_of_an_id_are_left_on_the_stack];

/// A format that nobody can guess, where its random characters begin, and their alphabet.
const FORMATS: [(&str, usize, &[u8]); 15] = [
    ("txid_fill", 9, BASE32),
    ("txid_uuid_v4", 0, BASE16),
    ("txid", 9, BASE32),
    ("strong", 9, BASE32),
    ("uuid_v4", 0, BASE16),
    ("trace_id", 16, BASE16),
    ("span_id", 0, BASE16),
    ("otel_trace_id", 0, BASE16),
    ("traceparent", 3, BASE16),
    ("b3", 0, BASE16),
    ("nanoid", 0, BASE64),
    ("uuid_v7", 14, BASE16),
    ("typeid", 10, LOWER_CROCKFORD),
    ("ulid", 10, CROCKFORD),
    ("ksuid", 6, BASE62),
];

const BASE16: &[u8] = b"0123456789abcdef";
const BASE32: &[u8] = b"0123456789abcdefghijklmnopqrstuv";
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LOWER_CROCKFORD: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Parts of an id in all orders and places in which it may stand in memory: as text, or as bits.
fn parts(text: &[u8], alphabet: &[u8]) -> HashSet<Vec<u8>> {
    let mut parts: HashSet<_> = text.windows(8).map(<[u8]>::to_vec).collect();
    let values = text.iter().filter_map(|character| alphabet.iter().position(|it| it == character));
    let bits: Vec<u8> = if alphabet == BASE62 {
        let number = values.fold(0, |number: u128, value| number.wrapping_mul(62) + value as u128);
        (0..128).rev().map(|bit| (number >> bit & 1) as u8).collect()
    } else {
        let width = alphabet.len().ilog2();
        values.flat_map(|value| (0..width).rev().map(move |bit| (value >> bit & 1) as u8)).collect()
    };
    for five_bytes in bits.windows(40) {
        let part: Vec<u8> = five_bytes.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
        parts.extend([part.iter().rev().copied().collect(), part]);
    }
    // Version, variant, flags and the time of another format are not random.
    parts.retain(|part| part.iter().filter(|&&byte| byte != part[0]).count() > 2);
    parts
}

fn no_bits_of_an_id_are_left_on_the_stack() {
    const IDS: usize = 20;
    let mut failed = Vec::new();
    for (place, (format, first, alphabet)) in FORMATS.into_iter().enumerate() {
        let mut maker = Maker::of(format);
        // Each at rest, where it needs a look at the clock, and then in a burst.
        for in_a_burst in [false, true] {
            // Within a millisecond, these have bits of the one before, which the test knows.
            if in_a_burst && ["uuid_v7", "typeid", "ulid"].contains(&format) {
                continue;
            }
            let mut left = 0;
            for ms in 0..IDS as i64 {
                let ms = 1_700_000_000_000 + 100_000 * place as i64 + if in_a_burst { 0 } else { 2000 * ms };
                if in_a_burst {
                    (0..100).for_each(|_| maker.make(ms));
                }
                let stack = remains::of(|| maker.make(ms)).stack;
                let parts = parts(&maker.text()[first..], alphabet);
                // Most of the stack is zeros.
                let mut places = stack.windows(8).filter(|bytes| **bytes != [0; 8]);
                left += usize::from(places.any(|bytes| parts.contains(bytes) || parts.contains(&bytes[..5])));
            }
            println!("{format}{}: {left} of {IDS} ids left on the stack", if in_a_burst { " in a burst" } else { "" });
            if left > 0 {
                failed.push(format);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
