//! Nothing of a key is left in memory that is given back. A process of its own, since others have keys, too.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use test_helpers::{Directory, attack};
use txid::Hidden;
use txid::hidden::Shape;

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

/// The memory that core dumps leave out, with its contents.
fn secrets() -> Vec<(Range<usize>, Vec<u8>)> {
    let memory = File::open("/proc/self/mem").unwrap();
    let content = |range: &Range<usize>| {
        let mut bytes = vec![0; range.len()];
        memory.read_exact_at(&mut bytes, range.start as u64).unwrap();
        bytes
    };
    let ranges = attack::mappings(|flags| flags.contains(&"dd") && flags.contains(&"wr"));
    ranges.into_iter().map(|range| (range.clone(), content(&range))).collect()
}

/// So far below its caller that what looks at the stack afterwards does not write over what is left there.
#[inline(never)]
fn open_far_below(path: &Path) -> (Hidden, usize) {
    let room = std::hint::black_box([0_u8; 1 << 15]);
    let hidden = Hidden::open(path, "orders", Shape::Digits(10)).unwrap();
    (hidden, room.as_ptr() as usize)
}

/// What functions that have returned left on the stack below this place.
fn left_below(place: usize) -> Vec<u8> {
    let stack = attack::mappings(|_| true).into_iter().find(|range| range.contains(&place)).unwrap();
    let begin = stack.start.max(place - (1 << 18));
    let mut bytes = vec![0; place - begin];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, begin as u64).unwrap();
    bytes
}

#[test]
fn keys_are_wiped_before_their_memory_is_given_back() {
    let directory = Directory::new("wiped");
    let path = directory.0.join("orders.key");
    fs::write(&path, format!("{KEY}\n7 {KEY}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let before = secrets();
    // Memory that is given back stays readable.
    attack::refuse(&[libc::SYS_munmap], libc::EPERM);
    let (hidden, place) = open_far_below(&path);
    let left = left_below(place);
    let key: Vec<_> = (0..16).map(|at| u8::from_str_radix(&KEY[2 * at..2 * at + 2], 16).unwrap()).collect();
    for part in [&key[..8], &key[8..], KEY.as_bytes()] {
        assert!(!left.windows(part.len()).any(|bytes| bytes == part), "a part of a key is left on the stack");
    }
    let of_keys = || secrets().into_iter().filter(|secret| !before.contains(secret)).collect::<Vec<_>>();
    let is_wiped = |(_, content): &(Range<usize>, Vec<u8>)| content.iter().all(|byte| *byte == 0);
    let open = of_keys();
    assert!(!open.is_empty() && open.iter().any(|secret| !is_wiped(secret)), "its keys are in memory");
    drop(hidden);
    let left = of_keys();
    assert!(left.len() >= open.len() && left.iter().all(is_wiped), "something of them is left");
}
