//! Nothing of a key is left in memory that is given back.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use test_helpers::one_by_one::{self, Test};
use test_helpers::{Directory, attack};
use txid::Hidden;
use txid::hidden::Form;

/// One of each size.
const KEYS: [&str; 3] = [
    "85962d72415d32da4f2c574c02c44ed9",
    "16251b6b8cf1e3f1279bbbcc8c163db7667fbdbf4108b2f8",
    "95bec7f00eac851fc5fdee20b99b734306ab071465087b178e1eff913e88cb70",
];

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

/// Memory that is not locked may be written to swap space.
fn keys_are_locked_in_memory_or_it_is_said() {
    let directory = Directory::new("locked");
    let path = directory.0.join("orders.key");
    fs::write(&path, format!("{}\n", KEYS[0])).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let open = || {
        let before = attack::mappings(|flags| flags.contains(&"lo"));
        let hidden = Hidden::open(&path, "orders", Form::Digits(10)).unwrap();
        let is_locked = attack::mappings(|flags| flags.contains(&"lo") && flags.contains(&"dd")).len() > before.len();
        let said = hidden.not_locked().map(|error| error.to_string());
        (hidden, is_locked, said)
    };
    let (_hidden, is_locked, said) = open();
    assert_eq!(is_locked, said.is_none(), "{said:?}");
    attack::refuse(&[libc::SYS_mlock], libc::EPERM);
    let (hidden, is_locked, said) = open();
    assert!(!is_locked);
    assert_eq!(said.as_deref(), Some("Operation not permitted (os error 1)"));
    assert!(hidden.hide(42).is_ok());
}

fn nothing_of_a_key_is_left_in_memory() {
    let directory = Directory::new("wiped");
    let path = directory.0.join("orders.key");
    // Memory that is given back stays readable.
    attack::refuse(&[libc::SYS_munmap], libc::EPERM);
    for hex in KEYS {
        let before = secrets();
        fs::write(&path, format!("{hex}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let hidden = Hidden::open(&path, "orders", Form::Digits(10)).unwrap();
        let of_keys = || secrets().into_iter().filter(|secret| !before.contains(secret)).collect::<Vec<_>>();
        let is_wiped = |(_, content): &(Range<usize>, Vec<u8>)| content.iter().all(|byte| *byte == 0);
        let open = of_keys();
        assert!(!open.iter().all(is_wiped), "nothing of it was there");
        drop(hidden);
        let left = of_keys();
        assert!(left.len() >= open.len() && left.iter().all(is_wiped), "something of it is left");
    }
}

pub const TESTS: &[Test] =
    one_by_one::tests![keys_are_locked_in_memory_or_it_is_said, nothing_of_a_key_is_left_in_memory];
