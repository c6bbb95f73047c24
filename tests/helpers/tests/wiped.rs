//! Nothing of a key is left in memory that is given back, or on the stack. A process of its own, since others have keys,
//! too. `tests/wiped.sh` runs it with `txid-keyed` built for size and for speed.

use std::fs::{self, File};
use std::hint::black_box;
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::Mutex;
use test_helpers::{Directory, attack};
use txid::Hidden;
use txid::hidden::Shape;

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

/// What `work` leaves on the stack: so far below its caller that what looks for it does not write over it.
#[inline(never)]
fn left_by<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    #[inline(never)]
    fn far_below<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let room = black_box([0_u8; 1 << 15]);
        let done = work();
        (done, room.as_ptr() as usize)
    }
    let (done, place) = far_below(work);
    let stack = attack::mappings(|_| true).into_iter().find(|range| range.contains(&place)).unwrap();
    let begin = stack.start.max(place - (1 << 18));
    let mut bytes = vec![0; place - begin];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, begin as u64).unwrap();
    (done, bytes)
}

/// The S-box of FIPS 197: the inverse in its field, and an affine map.
fn substituted(byte: u8) -> u8 {
    fn times(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b != 0 {
            product ^= a * (b & 1);
            a = (a << 1) ^ (0x1b * (a >> 7));
            b >>= 1;
        }
        product
    }
    let inverse = (0..254).fold(1, |power, _| times(power, byte));
    (0..5).fold(0x63, |sum, by| sum ^ inverse.rotate_left(by))
}

/// The words of a key's schedule, as in chapter 5.2 of FIPS 197.
fn schedule(key: &[u8]) -> Vec<[u8; 4]> {
    let mut words: Vec<[u8; 4]> = key.chunks(4).map(|word| word.try_into().unwrap()).collect();
    let (length, mut constant) = (words.len(), 1_u8);
    for at in length..4 * (length + 7) {
        let mut word = words[at - 1];
        if at % length == 0 {
            word.rotate_left(1);
            word = word.map(substituted);
            word[0] ^= constant;
            constant = (constant << 1) ^ (0x1b * (constant >> 7));
        } else if length > 6 && at % length == 4 {
            word = word.map(substituted);
        }
        words.push(std::array::from_fn(|byte| word[byte] ^ words[at - length][byte]));
    }
    words
}

/// Which words of a key's schedule are in this memory, two at a time, or which of its hexadecimal digits.
fn found_in(memory: &[u8], hex: &str) -> Vec<String> {
    let key: Vec<_> = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
    let words = schedule(&key);
    let pairs = words.windows(2).enumerate().map(|(at, pair)| (format!("word {at}"), pair.concat()));
    let digits =
        hex.as_bytes().chunks(8).enumerate().map(|(at, digits)| (format!("digit {}", 8 * at), digits.to_vec()));
    let is_there = |part: &[u8]| memory.windows(8).any(|bytes| bytes == part);
    pairs.chain(digits).filter(|(_, part)| is_there(part)).map(|(name, _)| name).collect()
}

#[test]
fn the_schedule_is_that_of_the_standard() {
    let key = 0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128.to_be_bytes();
    assert_eq!(schedule(&key)[40..].concat(), 0xd014f9a8_c9ee2589_e13f0cc8_b6630ca6_u128.to_be_bytes());
    assert_eq!(schedule(&[0; 32])[59], 0x10f8_0a17_53bf_729c_45c9_79e7_cb70_6385_u128.to_be_bytes()[12..]);
}

/// Each test looks at all keys of the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Memory that is not locked may be written to swap space.
#[test]
fn keys_are_locked_in_memory_or_it_is_said() {
    let _alone = ONE_AT_A_TIME.lock();
    let directory = Directory::new("locked");
    let path = directory.0.join("orders.key");
    fs::write(&path, format!("{}\n", KEYS[0])).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let open = || {
        let before = attack::mappings(|flags| flags.contains(&"lo"));
        let hidden = Hidden::open(&path, "orders", Shape::Digits(10)).unwrap();
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

#[test]
fn nothing_of_a_key_is_left_in_memory() {
    let _alone = ONE_AT_A_TIME.lock();
    let directory = Directory::new("wiped");
    let path = directory.0.join("orders.key");
    // Memory that is given back stays readable.
    attack::refuse(&[libc::SYS_munmap], libc::EPERM);
    for hex in KEYS {
        let before = secrets();
        fs::write(&path, format!("{hex}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let (hidden, left) = left_by(|| Hidden::open(&path, "orders", Shape::Digits(10)).unwrap());
        assert_eq!(found_in(&left, hex), [""; 0], "left on the stack by reading {} digits", hex.len());
        let (shown, left) = left_by(|| hidden.hide(42).unwrap());
        assert_eq!(found_in(&left, hex), [""; 0], "left on the stack by hiding, with {} digits", hex.len());
        let (number, left) = left_by(|| hidden.reveal(shown.as_bytes()));
        assert_eq!(number, Ok(42));
        assert_eq!(found_in(&left, hex), [""; 0], "left on the stack by revealing, with {} digits", hex.len());

        let of_keys = || secrets().into_iter().filter(|secret| !before.contains(secret)).collect::<Vec<_>>();
        let is_wiped = |(_, content): &(Range<usize>, Vec<u8>)| content.iter().all(|byte| *byte == 0);
        let open = of_keys();
        let all: Vec<u8> = open.iter().flat_map(|(_, content)| content.iter().copied()).collect();
        assert!(found_in(&all, hex).len() > 40, "its schedule is in memory: {:?}", found_in(&all, hex));
        drop(hidden);
        let left = of_keys();
        assert!(left.len() >= open.len() && left.iter().all(is_wiped), "something of it is left");
    }
}
