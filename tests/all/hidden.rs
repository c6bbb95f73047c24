//! Hidden numbers, from a key file on.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use test_helpers::Directory;
use test_helpers::vectors::{bytes, each};
use txid::hidden::{Form, KeyCheck, NotHidden, NotRevealed, new_key};
use txid::segment::{Segment, SegmentPage};
use txid::uuid::{Uuid, Variant};
use txid::{FormatErrorKind, Hidden};

const KEY: &str = "85962D72415D32DA4F2C574C02C44ED9";
const THIRD_KEY: &str = "16251b6b8cf1e3f1279bbbcc8c163db7667fbdbf4108b2f8";
const OTHER_KEY: &str = "95bec7f00eac851fc5fdee20b99b734306ab071465087b178e1eff913e88cb70";

/// A file that only its owner may read.
fn key_file(directory: &Directory, lines: &str) -> PathBuf {
    file_of(directory, &format!("{}\n", lines.trim_end()))
}

fn file_of(directory: &Directory, content: &str) -> PathBuf {
    let path = directory.0.join("orders.key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn open(content: &str, form: Form) -> Hidden {
    let directory = Directory::new("hidden");
    Hidden::open(&key_file(&directory, content), "orders", form).unwrap()
}

/// The error about a key file, without its path.
fn refused(path: &Path) -> String {
    let error = Hidden::open(path, "orders", Form::Digits(10)).unwrap_err().to_string();
    error.replace(path.to_str().unwrap(), "FILE")
}

fn refused_content(content: &str) -> String {
    refused(&file_of(&Directory::new("hidden-wrong"), content))
}

fn shapes() -> impl Iterator<Item = Form> {
    (6..=19).map(Form::Digits).chain((4..=13).map(Form::Letters))
}

fn last(form: Form) -> u64 {
    match form {
        Form::Digits(digits) => 10_u64.pow(digits) - 1,
        Form::Letters(letters) => 32_u64.checked_pow(letters).map_or(u64::MAX, |count| count - 1),
        _ => unreachable!("a UUID is no number"),
    }
}

#[test]
fn each_number_of_a_million_has_one_image_and_each_image_one_number() {
    for form in [Form::Digits(6), Form::Letters(4)] {
        let hidden = open(KEY, form);
        let mut is_taken = vec![false; 1 << 20];
        for number in 0..=last(form) {
            let shown = hidden.hide(number).unwrap();
            assert_eq!(hidden.reveal(shown.as_bytes()), Ok(number));
            let image = match form {
                Form::Digits(_) => shown.parse().unwrap(),
                _ => shown.bytes().fold(0, |image, byte| {
                    image * 32 + b"0123456789abcdefghjkmnpqrstvwxyz".iter().position(|it| *it == byte).unwrap()
                }),
            };
            assert!(!std::mem::replace(&mut is_taken[image], true), "{shown} is the image of two numbers");
        }
        assert_eq!(is_taken.iter().filter(|taken| **taken).count() as u64, last(form) + 1);
    }
}

#[test]
fn the_first_and_the_last_of_each_shape_are_hidden_and_the_next_is_not() {
    for form in shapes() {
        let (hidden, last) = (open(KEY, form), last(form));
        let (Form::Digits(length) | Form::Letters(length)) = form else { unreachable!("only numbers have lengths") };
        for number in [0, 1, last - 1, last] {
            let shown = hidden.hide(number).unwrap();
            assert_eq!(shown.len(), length as usize);
            assert_eq!(hidden.reveal(shown.as_bytes()), Ok(number));
        }
        if let Some(next) = last.checked_add(1) {
            assert_eq!(hidden.hide(next), Err(NotHidden::TooLarge { number: next, last }));
            assert!(hidden.hide(u64::MAX).is_err());
        }
    }
}

#[test]
fn a_shape_or_a_name_outside_the_limits_is_refused() {
    let directory = Directory::new("hidden-limits");
    let path = key_file(&directory, KEY);
    let why = |name: &str, form| Hidden::open(&path, name, form).map(drop).map_err(|error| error.to_string());
    for digits in [0, 1, 5, 20, u32::MAX] {
        assert_eq!(why("a", Form::Digits(digits)), Err(format!("hidden numbers have 6 to 19 digits, not {digits}")));
    }
    for letters in [0, 3, 14] {
        assert_eq!(
            why("a", Form::Letters(letters)),
            Err(format!("hidden numbers have 4 to 13 letters, not {letters}"))
        );
    }
    assert_eq!(why("", Form::Digits(6)), Err("a series of hidden numbers needs a name, such as orders".into()));
    assert_eq!(why(&"a".repeat(128), Form::Digits(6)), Ok(()));
    assert_eq!(
        why(&"a".repeat(129), Form::Digits(6)),
        Err("the name of a series has at most 128 bytes, not 129".into())
    );
}

#[test]
fn a_text_that_is_no_image_is_refused() {
    let hidden = open(KEY, Form::Digits(10));
    for (text, why) in [
        ("", "10 characters, not 0"),
        ("123456789", "10 characters, not 9"),
        ("12345678901", "10 characters, not 11"),
        ("123456789a", "character 10 is 'a', which hidden numbers do not have"),
        ("-123456789", "character 1 is '-', which hidden numbers do not have"),
        ("12345\n6789", "character 6 is '\\n', which hidden numbers do not have"),
    ] {
        assert_eq!(hidden.reveal(text.as_bytes()).unwrap_err().to_string(), why, "{text}");
    }
    let letters = open(KEY, Form::Letters(8));
    let why = letters.reveal(b"0123u567").unwrap_err().to_string();
    assert_eq!(why, "character 5 is 'u', which hidden numbers do not have");
    // Thirteen letters have 65 bits.
    let longest = open(KEY, Form::Letters(13));
    let texts = (0..100).map(|text| format!("{text:013}"));
    let revealed: Vec<_> = texts.map(|text| (longest.reveal(text.as_bytes()), text)).collect();
    assert!(revealed.iter().any(|(number, _)| *number == Err(NotRevealed::NoNumber)));
    for (number, text) in revealed {
        assert!(number == Err(NotRevealed::NoNumber) || *longest.hide(number.unwrap()).unwrap() == *text);
    }
}

#[test]
fn letters_are_read_in_any_case_and_as_what_they_look_like() {
    let hidden = open(KEY, Form::Letters(8)).with_check_digit();
    for number in 0..2000 {
        let shown = hidden.hide(number).unwrap();
        assert_eq!(hidden.reveal(shown.to_uppercase().as_bytes()), Ok(number));
        for (digit, alike) in [("0", "o"), ("0", "O"), ("1", "i"), ("1", "l"), ("1", "I"), ("1", "L")] {
            assert_eq!(hidden.reveal(shown.replace(digit, alike).as_bytes()), Ok(number));
        }
    }
}

#[test]
fn two_names_two_keys_and_two_lengths_are_different_permutations() {
    let directory = Directory::new("hidden-different");
    let path = key_file(&directory, KEY);
    let image = |name: &str, form| Hidden::open(&path, name, form).unwrap().hide(42).unwrap().to_string();
    let orders = image("orders", Form::Digits(10));
    assert_ne!(orders, image("invoices", Form::Digits(10)));
    assert_ne!(orders[1..], image("orders", Form::Digits(9)));
    assert_ne!(orders, open(OTHER_KEY, Form::Digits(10)).hide(42).unwrap().to_string());
    // A tweak of one block, and of several.
    let names = [11, 12, 13, 16, 17, 28, 29, 128].map(|length| image(&"x".repeat(length), Form::Digits(10)));
    let mut different = names.to_vec();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), names.len());
}

#[test]
fn each_wrong_character_and_each_swap_of_neighbours_is_found() {
    let hidden = open(KEY, Form::Digits(6)).with_check_digit();
    // An eighth of the numbers, and a third of the wrong digits, have each pair of digits at each place thousands of times.
    for number in (0..1_000_000).step_by(8) {
        let shown = hidden.hide(number).unwrap();
        let mut text: [u8; 7] = shown.as_bytes().try_into().unwrap();
        assert_eq!(hidden.reveal(&text), Ok(number));
        for place in 0..7 {
            let right = text[place];
            for wrong in [(right - b'0' + 1) % 10, (right - b'0' + 4) % 10, (right - b'0' + 7) % 10] {
                text[place] = b'0' + wrong;
                assert_eq!(hidden.reveal(&text), Err(NotRevealed::Check), "{shown} at {place}");
            }
            text[place] = right;
            if place < 6 && text[place] != text[place + 1] {
                text.swap(place, place + 1);
                assert_eq!(hidden.reveal(&text), Err(NotRevealed::Check), "{shown} at {place}");
                text.swap(place, place + 1);
            }
        }
    }
}

proptest! {
    #[test]
    fn the_check_digit_finds_them_in_each_shape(
        number: u64, form in 0_usize..24, period in 0_u8..11, place: prop::sample::Index, by: prop::sample::Index,
    ) {
        let form = shapes().nth(form).unwrap();
        let content = if period < 10 { format!("{period} {KEY}") } else { KEY.to_string() };
        let hidden = open(&content, form).with_check_digit();
        let number = number % last(form);
        let shown = hidden.hide(number).unwrap();
        prop_assert_eq!(hidden.reveal(shown.as_bytes()), Ok(number));

        let alphabet: &[u8] = match form {
            Form::Digits(_) => b"0123456789",
            _ => b"0123456789abcdefghjkmnpqrstvwxyz",
        };
        let mut text = shown.as_bytes().to_vec();
        let place = place.index(text.len());
        let value = alphabet.iter().position(|it| *it == text[place]).unwrap();
        text[place] = alphabet[(value + 1 + by.index(alphabet.len() - 1)) % alphabet.len()];
        prop_assert_eq!(hidden.reveal(&text), Err(NotRevealed::Check));

        let mut text = shown.as_bytes().to_vec();
        let place = place.min(text.len() - 2);
        text.swap(place, place + 1);
        let expected = if text == shown.as_bytes() { Ok(number) } else { Err(NotRevealed::Check) };
        prop_assert_eq!(hidden.reveal(&text), expected);
    }
}

#[test]
fn a_key_is_changed_by_periods() {
    let form = Form::Digits(8);
    let before = open(KEY, form).with_check_digit();
    let prepared = open(&format!("1 {OTHER_KEY}\n{KEY}\n"), form).with_check_digit();
    let after = open(&format!("{KEY}\n1 {OTHER_KEY}\n"), form).with_check_digit();
    let (old, new) = (before.hide(42).unwrap(), after.hide(42).unwrap());
    assert_eq!(prepared.hide(42), Ok(old));
    assert_eq!((old.len(), new.len(), new.as_bytes()[0]), (9, 10, b'1'));
    for hidden in [&prepared, &after] {
        assert_eq!(hidden.reveal(old.as_bytes()), Ok(42));
        assert_eq!(hidden.reveal(new.as_bytes()), Ok(42));
    }
    assert_eq!(before.reveal(new.as_bytes()).unwrap_err().to_string(), "9 characters, not 10");
    let why = prepared.reveal(b"1").unwrap_err().to_string();
    assert_eq!(why, "9 or 10 characters, not 1");

    let third = open(&format!("0 {KEY}\n9 {OTHER_KEY}\r\n\n"), form);
    assert_eq!(third.hide(7).unwrap().as_bytes()[0], b'9');
    assert_eq!(third.reveal(b"500000000").unwrap_err().to_string(), "it is of period 5, which has no key here");
    assert_eq!(third.reveal(b"00000000").unwrap_err().to_string(), "9 characters, not 8");
}

#[test]
fn the_file_of_a_key_is_refused_if_anything_is_wrong_with_it() {
    let directory = Directory::new("hidden-file");
    let path = key_file(&directory, KEY);
    for mode in [0o604, 0o602, 0o601, 0o640, 0o620, 0o610, 0o644, 0o777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let why = format!(
            "others may read or change the key file FILE (mode {mode:04o}): chmod 600 FILE, and take a new key if somebody may have read this one"
        );
        assert_eq!(refused(&path), why);
    }
    for mode in [0o600, 0o400, 0o700] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        Hidden::open(&path, "orders", Form::Digits(10)).unwrap();
    }
    assert_eq!(
        refused(&directory.0.join("none")),
        "cannot open the key file FILE: No such file or directory (os error 2); `txid key new` makes a key"
    );
    assert_eq!(refused(&directory.0), "the key file FILE is not a regular file");
    let pipe = directory.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap().success());
    assert_eq!(refused(&pipe), "the key file FILE is not a regular file");

    let line = |line: usize, what: &str| format!("the key file FILE, line {line}: {what}");
    assert_eq!(refused_content(""), "the key file FILE has no key; `txid key new` makes one");
    assert_eq!(refused_content(" \n\n"), "the key file FILE has no key; `txid key new` makes one");
    let most = format!("{KEY}{}", "\n".repeat(2048 - KEY.len()));
    Hidden::open(&file_of(&directory, &most), "orders", Form::Digits(10)).unwrap();
    let long = "0".repeat(2049);
    assert_eq!(refused_content(&long), "the key file FILE has 2049 bytes, more than all keys of ten periods");
    for digits in [1, 30, 31, 33, 40, 47, 63, 65] {
        let why = format!("a key has 32, 48 or 64 hexadecimal digits, not {digits}; `txid key new` makes one");
        assert_eq!(refused_content(&format!("{}\n", "7".repeat(digits))), line(1, &why));
    }
    for wrong in "gG/:@`\u{10}\u{7f}".chars() {
        let content = format!("1 {KEY}\n\n2 {}{wrong}\n", &KEY[1..]);
        assert_eq!(refused_content(&content), line(3, "character 32 of the key is not a hexadecimal digit"));
    }
    for wrong in ["12", "a", "-1", KEY] {
        let what = "only the digit of a period and a space may be before a key";
        assert_eq!(refused_content(&format!("{wrong} {KEY}\n")), line(1, what));
    }
    let what = "period 1 has a key on line 1 already; take another digit";
    assert_eq!(refused_content(&format!("1 {KEY}\n2 {THIRD_KEY}\n1 {OTHER_KEY}\n")), line(3, what));
    let what = "line 1 has a key without a period already; begin this line with a digit and a space";
    assert_eq!(refused_content(&format!("{KEY}\n{OTHER_KEY}\n")), line(2, what));
}

/// What is refused is refused to this test's thread alone.
#[cfg(target_os = "linux")]
#[test]
fn a_key_that_cannot_be_read_is_said_to_be() {
    let directory = Directory::new("hidden-unread");
    let path = key_file(&directory, KEY);
    test_helpers::attack::refuse(&[libc::SYS_read], libc::EIO);
    assert_eq!(refused(&path), "cannot read the key file FILE: Input/output error (os error 5)");
}

#[test]
fn a_key_that_others_may_know_is_refused() {
    let line = |line: usize, what: &str| format!("the key file FILE, line {line}: {what}");
    let known = |why: &str| format!("everybody knows this key: {why}; `txid key new` makes a random one");
    for length in [16, 24, 32] {
        let key = |of: &dyn Fn(u8) -> u8| (0..length).map(|at| format!("{:02x}", of(at))).collect::<String>() + "\n";
        for byte in [0, 0x11, 0xff] {
            assert_eq!(refused_content(&key(&|_| byte)), line(1, &known("all its bytes are equal")));
        }
        for of in [&|at| at, &|at| at + 7, &|at: u8| at.wrapping_mul(0x11)] as [&dyn Fn(u8) -> u8; 3] {
            assert_eq!(refused_content(&key(of)), line(1, &known("its bytes only count up")));
        }
        // All but the last byte.
        open(&key(&|at| u8::from(at == length - 1)), Form::Digits(6));
    }
    let standard = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";
    for digits in [32, 48, 64] {
        let content = format!("1 {KEY}\n2 {}\n", standard[..digits].to_uppercase());
        assert_eq!(refused_content(&content), line(2, &known("it is the one of the standard's examples")));
    }
}

/// A key of 64 digits that was cut in half would be another one, of 32.
#[test]
fn a_key_that_may_be_cut_in_half_is_refused() {
    let why = "the key file FILE has no newline at its end, so that a part of the key may be missing: write it again, with one";
    for content in [KEY.to_string(), OTHER_KEY[..32].to_string(), format!("{KEY}\n1 {OTHER_KEY}"), format!("{KEY} ")] {
        assert_eq!(refused_content(&content), why);
    }
}

#[test]
fn one_key_of_two_periods_is_refused() {
    let why = |line: usize, first: usize| {
        format!(
            "the key file FILE, line {line}: this is the key of line {first} again; a new period needs a new key, from `txid key new`"
        )
    };
    assert_eq!(refused_content(&format!("{KEY}\n1 {KEY}\n")), why(2, 1));
    assert_eq!(refused_content(&format!("1 {OTHER_KEY}\n\n2 {KEY}\n3 {}\n", KEY.to_lowercase())), why(4, 3));
    // A key of another size is another one.
    open(&format!("{}\n1 {OTHER_KEY}\n", &OTHER_KEY[..32]), Form::Digits(6));
}

#[test]
fn hexadecimal_digits_of_either_case_are_one_key() {
    let image = |content: &str| open(content, Form::Digits(19)).hide(1).unwrap();
    assert_eq!(image(KEY), image(&KEY.to_lowercase()));
    assert_eq!(image(OTHER_KEY), image(&OTHER_KEY.to_uppercase()));
}

#[test]
fn nothing_that_is_printed_has_a_key() {
    let hidden = open(KEY, Form::Digits(10));
    assert_eq!(format!("{hidden:?}"), "Hidden");
    let shown = hidden.hide(7).unwrap();
    assert_eq!(format!("{shown:?}"), format!("\"{shown}\""));
    let half = format!("{}\n", &KEY[..16]);
    let flawed = format!("{}x\n", &KEY[..31]);
    let twice = format!("1 {KEY}\n2 {KEY}\n");
    for content in [half, flawed, twice, format!("{KEY} {KEY}\n"), format!("{KEY}\n{OTHER_KEY}\n"), KEY.to_string()] {
        let why = refused_content(&content).to_uppercase();
        let key = content.to_uppercase();
        assert!((0..key.len() - 6).all(|place| !why.contains(&key[place..place + 6])), "{why}");
    }
}

/// By openssl: the first part is of AES of 16 zeros, the second one the CBC-MAC of docs/formats.md.
#[test]
fn check_values_are_of_the_permutation() {
    let directory = Directory::new("hidden-checks");
    let path = key_file(&directory, &format!("{KEY}\n0 {THIRD_KEY}\n7 {OTHER_KEY}"));
    let checks = |name: &str, form| {
        let hidden = Hidden::open(&path, name, form).unwrap();
        hidden.key_checks().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let orders = checks("orders", Form::Digits(10));
    assert_eq!(orders, ["591a62-c3bd51d3", "0:9d6509-dcd5f0a4", "7:a2c1ba-12f71df1"]);
    let key_of = |check: &str| check.parse::<KeyCheck>().unwrap();
    for other in
        [checks("order", Form::Digits(10)), checks("orders", Form::Digits(11)), checks("orders", Form::Letters(10))]
    {
        for (one, other) in orders.iter().zip(&other) {
            assert!(one != other && key_of(one).has_key_of(key_of(other)), "{one} {other}");
        }
    }
    let checked = Hidden::open(&path, "orders", Form::Digits(10)).unwrap().with_check_digit().key_checks();
    assert_eq!(checked[0].to_string(), "591a62-f74eb1d1");
    let one = key_file(&directory, KEY);
    assert_eq!(Hidden::open(&one, "orders", Form::Uuid).unwrap().key_checks()[0].to_string(), "591a62-e17e6c74");
}

#[test]
fn new_keys_differ() {
    let keys: std::collections::HashSet<_> = (0..1000).map(|_| new_key().unwrap()).collect();
    assert_eq!(keys.len(), 1000);
}

#[test]
fn numbers_of_a_segment_are_hidden_and_revealed_by_the_key_of_its_store_alone() {
    let directory = Directory::new("hidden-segment");
    let page = SegmentPage::open_or_make(&directory.0.join("orders.segment")).unwrap();
    let attach = || Segment::attach(&directory.0.join("orders.segment")).unwrap();
    let path = key_file(&directory, KEY);
    let open = |name: &str, form| Hidden::open(&path, name, form).unwrap().of_segment(attach());
    let hidden = open("orders", Form::Digits(10));
    let ours = hidden.key_checks()[0];
    let shown = Hidden::open(&path, "orders", Form::Digits(10)).unwrap().hide(1).unwrap();
    let why = format!(
        "the store of orders does not know the key {ours} yet: give it to txid-agent, as key-checks = [\"{ours}\"]"
    );
    assert_eq!(hidden.hide(1).unwrap_err().to_string(), why);
    assert_eq!(hidden.reveal(shown.as_bytes()), Ok(1), "before the agent has reached its store, links work");

    page.set_key_check("000000-00000000".parse().unwrap());
    let why = format!(
        "numbers of orders are hidden by the key 000000-00000000 in its store, and the key here is {ours}: give each host the same key file"
    );
    assert_eq!(hidden.hide(1).unwrap_err().to_string(), why);
    assert_eq!(hidden.reveal(shown.as_bytes()).unwrap_err().to_string(), why);

    page.set_key_check(ours);
    assert_eq!(hidden.hide(1), Ok(shown));
    assert_eq!(hidden.reveal(shown.as_bytes()), Ok(1));
    // With another name, length or check digit, the key is the same, and the images are others.
    for other in [
        open("order", Form::Digits(10)),
        open("orders", Form::Digits(11)),
        open("orders", Form::Letters(10)),
        open("orders", Form::Digits(10)).with_check_digit(),
    ] {
        let theirs = other.key_checks()[0];
        let why = format!(
            "numbers of orders are hidden by the key {ours} in its store, and the key here is {theirs}: give each host the same name, length and check digit"
        );
        assert_eq!(other.hide(1).unwrap_err().to_string(), why);
    }
    let image = Hidden::open(&path, "order", Form::Digits(10)).unwrap().hide(1).unwrap();
    assert!(matches!(open("order", Form::Digits(10)).reveal(image.as_bytes()), Err(NotRevealed::OtherKey { .. })));

    // Another period is another key.
    let with_period = key_file(&directory, &format!("{KEY}\n3 {OTHER_KEY}"));
    let hidden = Hidden::open(&with_period, "orders", Form::Digits(10)).unwrap().of_segment(attach());
    assert!(hidden.hide(1).is_err());
    assert_eq!(hidden.reveal(shown.as_bytes()), Ok(1), "what was shown is read all the same");
    page.set_key_check(hidden.key_checks()[1]);
    let of_three = hidden.hide(1).unwrap();
    assert_eq!(of_three.as_bytes()[0], b'3');

    // The digit of a period that is used again, with another key.
    let again = key_file(&directory, &format!("{KEY}\n3 {THIRD_KEY}"));
    let again = Hidden::open(&again, "orders", Form::Digits(10)).unwrap().of_segment(attach());
    assert!(matches!(again.hide(1), Err(NotHidden::OtherKey { theirs: Some(_), .. })));
    assert!(matches!(again.reveal(of_three.as_bytes()), Err(NotRevealed::OtherKey { .. })));

    // A key that somebody else has makes no images that are read.
    page.set_key_check(ours.retired());
    let why = "the key without a period is retired in the store of orders: take its line out of the key file";
    assert_eq!(hidden.reveal(shown.as_bytes()).unwrap_err().to_string(), why);
    assert_eq!(hidden.reveal(of_three.as_bytes()), Ok(1));
    page.set_key_check(hidden.key_checks()[1].retired());
    let why = "the key of period 3 is retired in the store of orders: take its line out of the key file";
    assert_eq!(hidden.hide(1).unwrap_err().to_string(), why);
}

/// A sample of RFC 9562.
const SAMPLE: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

/// A series of tests/vectors/hidden.json.
fn of_case(case: &Value) -> Hidden {
    let directory = Directory::new("hidden-vectors");
    let lines: Vec<_> = case["keys"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let key = format!("key={}", key_file(&directory, &lines.join("\n")).display());
    let options = case["options"].as_array().unwrap().iter().map(|option| String::from_utf8(bytes(option)).unwrap());
    let options: Vec<_> = options.chain([key]).collect();
    Hidden::parse(options.iter().map(String::as_str)).unwrap()
}

#[test]
fn images_and_check_values_are_those_of_the_vectors() {
    each("hidden", "valid", |case| {
        let hidden = of_case(case);
        let shown = hidden.hide_text(&bytes(&case["inside"])).unwrap().to_string();
        let inside = hidden.reveal_text(&bytes(&case["shown"])).unwrap().to_string();
        let checks: Vec<_> = hidden.key_checks().iter().map(ToString::to_string).collect();
        let found = json!({ "shown": shown, "inside": inside, "check_values": checks });
        let is_expected = |name: &str| found[name] == case[name];
        (!["shown", "inside", "check_values"].into_iter().all(is_expected)).then(|| found.to_string())
    });
}

#[test]
fn what_is_no_image_is_refused_as_in_the_vectors() {
    each("hidden", "invalid", |case| {
        let found = match of_case(case).reveal_text(&bytes(&case["shown"])).map(|inside| inside.to_string()) {
            Ok(inside) => return Some(inside),
            Err(NotRevealed::NoUuid(error)) => match error.kind() {
                FormatErrorKind::Length => "length",
                FormatErrorKind::Character => "character",
                _ => "value",
            },
            Err(NotRevealed::Length { .. }) => "length",
            Err(NotRevealed::Character { .. }) => "character",
            Err(NotRevealed::Check) => "check",
            Err(NotRevealed::Period(_)) => "period",
            Err(NotRevealed::NoNumber) => "number",
            Err(error) => return Some(error.to_string()),
        };
        (case["reason"] != found).then(|| found.to_string())
    });
}

#[test]
fn a_uuid_of_version_7_has_the_image_of_one_of_version_4_and_comes_back() {
    let hidden = open(KEY, Form::Uuid);
    let shown = hidden.hide_text(SAMPLE.as_bytes()).unwrap();
    let image: Uuid = shown.parse().unwrap();
    assert_eq!(&*shown, "16778b25-a699-4d18-952b-2e2f59afc912", "as tests/ff1.py has it");
    assert_eq!((image.get_version_num(), image.get_variant()), (4, Variant::RFC4122));
    assert_eq!(&*hidden.reveal_text(shown.as_bytes()).unwrap(), SAMPLE);
    assert_eq!(hidden.reveal_text(shown.to_uppercase().as_bytes()), hidden.reveal_text(shown.as_bytes()));
    assert_eq!(hidden.reveal_uuid(image).unwrap().to_string(), SAMPLE);
    assert_eq!(hidden.hide_uuid(SAMPLE.parse().unwrap()), Ok(image));
    // Neighbours of one millisecond have nothing in common: about half of the bits differ.
    let next = hidden.hide_text(b"017f22e2-79b0-7cc3-98c4-dc0c0c073990").unwrap().parse::<Uuid>().unwrap();
    let differ = (image.as_u128() ^ next.as_u128()).count_ones();
    assert!((30..92).contains(&differ), "{image} {next}");
    assert_ne!(hidden.hide_text(SAMPLE.as_bytes()), open(OTHER_KEY, Form::Uuid).hide_text(SAMPLE.as_bytes()));
}

#[test]
fn what_is_no_uuid_of_its_side_is_refused() {
    let hidden = open(KEY, Form::Uuid);
    let of_4 = "017f22e2-79b0-4cc3-98c4-dc0c0c07398f";
    for (wrong, why) in [
        (of_4, "it is not a UUID of version 7, and no other is hidden"),
        ("017f22e2-79b0-7cc3-18c4-dc0c0c07398f", "it is not a UUID of version 7, and no other is hidden"),
        ("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f", "it is not a UUID of version 7, and no other is hidden"),
        ("017f22e279b07cc398c4dc0c0c07398f", "a UUID has 36 characters, not 32"),
        ("{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "a UUID has 36 characters, not 38"),
        ("017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "character 36 is 'g', not hexadecimal"),
        ("42", "a UUID has 36 characters, not 2"),
    ] {
        assert_eq!(hidden.hide_text(wrong.as_bytes()).unwrap_err().to_string(), why, "{wrong}");
    }
    for wrong in [SAMPLE, "017f22e2-79b0-4cc3-18c4-dc0c0c07398f", "017f22e2-79b0-4cc3-d8c4-dc0c0c07398f"] {
        let why = "it is not a UUID of version 4, which all images are";
        assert_eq!(hidden.reveal_text(wrong.as_bytes()).unwrap_err().to_string(), why, "{wrong}");
        assert_eq!(hidden.reveal_uuid(wrong.parse().unwrap()).unwrap_err().to_string(), why, "{wrong}");
    }
    assert!(hidden.hide_uuid(of_4.parse().unwrap()).is_err());

    let why = "this series hides UUIDs, and no numbers";
    assert_eq!(hidden.hide(42).unwrap_err().to_string(), why);
    assert_eq!(hidden.reveal(of_4.as_bytes()).unwrap_err().to_string(), why);
    let numbers = open(KEY, Form::Digits(10));
    assert_eq!(numbers.hide_uuid(SAMPLE.parse().unwrap()), Err(NotHidden::NoNumber));
    assert_eq!(numbers.reveal_uuid(of_4.parse().unwrap()), Err(NotRevealed::NoNumber));
    assert_eq!(numbers.hide_text(SAMPLE.as_bytes()), Err(NotHidden::NoNumber));

    let directory = Directory::new("hidden-uuid");
    for content in [format!("1 {KEY}"), format!("{KEY}\n1 {OTHER_KEY}")] {
        let path = key_file(&directory, &content);
        let why = format!(
            "the images of UUIDs have no place for the digit of a period, and a key in {} has one: give UUIDs a file with one key, and no digit before it",
            path.display()
        );
        assert_eq!(Hidden::open(&path, "a", Form::Uuid).unwrap_err().to_string(), why);
    }
}

proptest! {
    #[test]
    fn every_uuid_of_version_7_comes_back(bits: u128, sized in 0_usize..3) {
        let hidden = open([KEY, THIRD_KEY, OTHER_KEY][sized], Form::Uuid);
        let id = Uuid::from_u128(bits & !(0xf << 76 | 3 << 62) | 7 << 76 | 2 << 62);
        let image = hidden.hide_uuid(id).unwrap();
        prop_assert_eq!((image.get_version_num(), image.get_variant()), (4, Variant::RFC4122));
        prop_assert_eq!(hidden.reveal_uuid(image), Ok(id));
    }
}

#[test]
fn the_words_of_a_configuration_are_checked() {
    let directory = Directory::new("hidden-words");
    let path = key_file(&directory, KEY);
    let key = format!("key={}", path.display());
    let parse = |words: &[&str]| Hidden::parse(words.iter().copied());
    let why = |words: &[&str]| parse(words).unwrap_err().to_string();
    let ours = open(KEY, Form::Digits(10)).hide(42).unwrap();
    assert_eq!(parse(&[&key, "name=orders", "digits=10"]).unwrap().hide(42), Ok(ours));
    let checked = parse(&["check", "digits=10", "name=orders", &key]).unwrap().hide(42).unwrap();
    assert_eq!(checked.len(), 11);
    assert_eq!(parse(&[&key, "name=orders", "letters=8"]).unwrap().hide(42).unwrap().len(), 8);

    let options = "the options are key=FILE, name=NAME, digits=6..19 or letters=4..13 or uuid, and for numbers check and state=FILE";
    assert_eq!(why(&[]), format!("key= is missing; {options}"));
    assert_eq!(why(&[&key, "digits=10"]), format!("name= is missing; {options}"));
    assert_eq!(why(&[&key, "name=a"]), format!("give one of digits=, letters= and uuid; {options}"));
    assert_eq!(
        why(&[&key, "name=a", "digits=6", "letters=4"]),
        format!("give one of digits=, letters= and uuid; {options}")
    );
    assert_eq!(why(&[&key, "name=a", "digits=6", "digits=6"]), "digits was given twice");
    assert_eq!(why(&[&key, "name=a", "digits=ten"]), "digits=\"ten\" is not a number");
    assert_eq!(why(&[&key, "name=a", "digits=20"]), "hidden numbers have 6 to 19 digits, not 20");
    assert_eq!(why(&["key=a", "name=a", "digits=6"]), "key=\"a\" is not an absolute path");
    assert_eq!(why(&[&key, "name=a", "digits=6", "state=a"]), "state=\"a\" is not an absolute path");
    assert_eq!(
        why(&[&key, "name=a", "uuid", "check"]),
        "check and uuid do not go together: UUIDs have no place for a check digit"
    );
    assert_eq!(
        why(&[&key, "name=a", "uuid", "state=/a"]),
        "state and uuid do not go together: no UUID is of a segment"
    );
    assert_eq!(
        why(&[&key, "name=a", "uuid", "digits=6"]),
        format!("give one of digits=, letters= and uuid; {options}")
    );
    assert_eq!(parse(&[&key, "name=a", "uuid"]).unwrap().hide_text(SAMPLE.as_bytes()).unwrap().len(), 36);
    for word in ["colour=blue", "check=1", "check=", "uuid=1", "uuid=", "key", ""] {
        assert_eq!(why(&[word]), format!("\"{word}\" is not an option; {options}"), "{word}");
    }
    let state = format!("state={}", directory.0.join("orders.segment").display());
    assert!(why(&[&key, "name=a", "digits=6", &state]).contains("txid-agent makes it, so start that first"));
    SegmentPage::open_or_make(&directory.0.join("orders.segment")).unwrap();
    let bound = parse(&[&key, "name=a", "digits=6", &state]).unwrap();
    assert!(matches!(bound.hide(1), Err(NotHidden::OtherKey { .. })));
}
