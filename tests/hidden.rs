//! Hidden numbers, from a key file on.

use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use test_helpers::Directory;
use txid::Hidden;
use txid::hidden::{NotHidden, NotRevealed, Shape, key_checks, new_key};
use txid::segment::{Segment, SegmentPage};

const KEY: &str = "2B7E151628AED2A6ABF7158809CF4F3C";
const OTHER_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";

/// A file that only its owner may read.
fn key_file(directory: &Directory, content: &str) -> PathBuf {
    let path = directory.0.join("orders.key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn open(content: &str, shape: Shape) -> Hidden {
    let directory = Directory::new("hidden");
    Hidden::open(&key_file(&directory, content), "orders", shape).unwrap()
}

/// The error about a key file, without its path.
fn refused(path: &Path) -> String {
    let error = Hidden::open(path, "orders", Shape::Digits(10)).unwrap_err().to_string();
    error.replace(path.to_str().unwrap(), "FILE")
}

fn refused_content(content: &str) -> String {
    refused(&key_file(&Directory::new("hidden-wrong"), content))
}

fn shapes() -> impl Iterator<Item = Shape> {
    (6..=19).map(Shape::Digits).chain((4..=13).map(Shape::Letters))
}

fn last(shape: Shape) -> u64 {
    match shape {
        Shape::Digits(digits) => 10_u64.pow(digits) - 1,
        Shape::Letters(letters) => 32_u64.checked_pow(letters).map_or(u64::MAX, |count| count - 1),
    }
}

#[test]
fn each_number_of_a_million_has_one_image_and_each_image_one_number() {
    for shape in [Shape::Digits(6), Shape::Letters(4)] {
        let hidden = open(KEY, shape);
        let mut is_taken = vec![false; 1 << 20];
        for number in 0..=last(shape) {
            let shown = hidden.hide(number).unwrap();
            assert_eq!(hidden.reveal(shown.as_bytes()), Ok(number));
            let image = match shape {
                Shape::Digits(_) => shown.parse().unwrap(),
                Shape::Letters(_) => shown.bytes().fold(0, |image, byte| {
                    image * 32 + b"0123456789abcdefghjkmnpqrstvwxyz".iter().position(|it| *it == byte).unwrap()
                }),
            };
            assert!(!std::mem::replace(&mut is_taken[image], true), "{shown} is the image of two numbers");
        }
        assert_eq!(is_taken.iter().filter(|taken| **taken).count() as u64, last(shape) + 1);
    }
}

#[test]
fn the_first_and_the_last_of_each_shape_are_hidden_and_the_next_is_not() {
    for shape in shapes() {
        let (hidden, last) = (open(KEY, shape), last(shape));
        let (Shape::Digits(length) | Shape::Letters(length)) = shape;
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
    let why = |name: &str, shape| Hidden::open(&path, name, shape).map(drop).map_err(|error| error.to_string());
    for digits in [0, 1, 5, 20, u32::MAX] {
        assert_eq!(why("a", Shape::Digits(digits)), Err(format!("hidden numbers have 6 to 19 digits, not {digits}")));
    }
    for letters in [0, 3, 14] {
        assert_eq!(
            why("a", Shape::Letters(letters)),
            Err(format!("hidden numbers have 4 to 13 letters, not {letters}"))
        );
    }
    assert_eq!(why("", Shape::Digits(6)), Err("a series of hidden numbers needs a name, such as orders".into()));
    assert_eq!(why(&"a".repeat(128), Shape::Digits(6)), Ok(()));
    assert_eq!(
        why(&"a".repeat(129), Shape::Digits(6)),
        Err("the name of a series has at most 128 bytes, not 129".into())
    );
}

#[test]
fn a_text_that_is_no_image_is_refused() {
    let hidden = open(KEY, Shape::Digits(10));
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
    let letters = open(KEY, Shape::Letters(8));
    let why = letters.reveal(b"0123u567").unwrap_err().to_string();
    assert_eq!(why, "character 5 is 'u', which hidden numbers do not have");
    // Thirteen letters have 65 bits.
    let longest = open(KEY, Shape::Letters(13));
    let texts = (0..100).map(|text| format!("{text:013}"));
    let revealed: Vec<_> = texts.map(|text| (longest.reveal(text.as_bytes()), text)).collect();
    assert!(revealed.iter().any(|(number, _)| *number == Err(NotRevealed::NoNumber)));
    for (number, text) in revealed {
        assert!(number == Err(NotRevealed::NoNumber) || *longest.hide(number.unwrap()).unwrap() == *text);
    }
}

#[test]
fn letters_are_read_in_any_case_and_as_what_they_look_like() {
    let hidden = open(KEY, Shape::Letters(8)).with_check_digit();
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
    let image = |name: &str, shape| Hidden::open(&path, name, shape).unwrap().hide(42).unwrap().to_string();
    let orders = image("orders", Shape::Digits(10));
    assert_ne!(orders, image("invoices", Shape::Digits(10)));
    assert_ne!(orders[1..], image("orders", Shape::Digits(9)));
    assert_ne!(orders, open(OTHER_KEY, Shape::Digits(10)).hide(42).unwrap().to_string());
    // A tweak of one block, and of several.
    let names = [11, 12, 13, 16, 17, 28, 29, 128].map(|length| image(&"x".repeat(length), Shape::Digits(10)));
    let mut different = names.to_vec();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), names.len());
}

#[test]
fn each_wrong_character_and_each_swap_of_neighbours_is_found() {
    let hidden = open(KEY, Shape::Digits(6)).with_check_digit();
    for number in 0..1_000_000 {
        let shown = hidden.hide(number).unwrap();
        let mut text: [u8; 7] = shown.as_bytes().try_into().unwrap();
        assert_eq!(hidden.reveal(&text), Ok(number));
        for place in 0..7 {
            let right = text[place];
            // The image of each is tried, so a third of the wrong ones is enough to try each pair of digits.
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
        number: u64, shape in 0_usize..24, period in 0_u8..11, place: prop::sample::Index, by: prop::sample::Index,
    ) {
        let shape = shapes().nth(shape).unwrap();
        let content = if period < 10 { format!("{period} {KEY}") } else { KEY.to_string() };
        let hidden = open(&content, shape).with_check_digit();
        let number = number % last(shape);
        let shown = hidden.hide(number).unwrap();
        prop_assert_eq!(hidden.reveal(shown.as_bytes()), Ok(number));

        let alphabet: &[u8] = match shape {
            Shape::Digits(_) => b"0123456789",
            Shape::Letters(_) => b"0123456789abcdefghjkmnpqrstvwxyz",
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
    let shape = Shape::Digits(8);
    let before = open(KEY, shape).with_check_digit();
    let prepared = open(&format!("1 {OTHER_KEY}\n{KEY}\n"), shape).with_check_digit();
    let after = open(&format!("{KEY}\n1 {OTHER_KEY}\n"), shape).with_check_digit();
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

    let third = open(&format!("0 {KEY}\n9 {OTHER_KEY}\r\n\n"), shape);
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
        Hidden::open(&path, "orders", Shape::Digits(10)).unwrap();
    }
    assert_eq!(
        refused(&directory.0.join("none")),
        "cannot open the key file FILE: No such file or directory (os error 2); `txid key` makes a key"
    );
    assert_eq!(refused(&directory.0), "the key file FILE is not a regular file");
    let pipe = directory.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap().success());
    assert_eq!(refused(&pipe), "the key file FILE is not a regular file");

    let line = |line: usize, what: &str| format!("the key file FILE, line {line}: {what}");
    assert_eq!(refused_content(""), "the key file FILE has no key; `txid key` makes one");
    assert_eq!(refused_content(" \n\n"), "the key file FILE has no key; `txid key` makes one");
    let long = "0".repeat(2049);
    assert_eq!(refused_content(&long), "the key file FILE has 2049 bytes, more than all keys of ten periods");
    for digits in [1, 30, 31, 33, 40, 47, 63, 65] {
        let why = format!("a key has 32, 48 or 64 hexadecimal digits, not {digits}; `txid key` makes one");
        assert_eq!(refused_content(&"7".repeat(digits)), line(1, &why));
    }
    for wrong in "gG/:@`\u{10}\u{7f}".chars() {
        let content = format!("1 {KEY}\n\n2 {}{wrong}", &KEY[1..]);
        assert_eq!(refused_content(&content), line(3, "character 32 of the key is not a hexadecimal digit"));
    }
    for wrong in ["12", "a", "-1", KEY] {
        let what = "only the digit of a period and a space may be before a key";
        assert_eq!(refused_content(&format!("{wrong} {KEY}")), line(1, what));
    }
    let what = "period 1 has a key on line 1 already; take another digit";
    assert_eq!(refused_content(&format!("1 {KEY}\n2 {KEY}\n1 {OTHER_KEY}")), line(3, what));
    let what = "line 1 has a key without a period already; begin this line with a digit and a space";
    assert_eq!(refused_content(&format!("{KEY}\n{OTHER_KEY}")), line(2, what));
}

#[test]
fn hexadecimal_digits_of_either_case_are_one_key() {
    let image = |content: &str| open(content, Shape::Digits(19)).hide(1).unwrap();
    assert_eq!(image(KEY), image(&KEY.to_lowercase()));
    assert_eq!(image(OTHER_KEY), image(&OTHER_KEY.to_uppercase()));
}

#[test]
fn nothing_that_is_printed_has_a_key() {
    let hidden = open(KEY, Shape::Digits(10));
    assert_eq!(format!("{hidden:?}"), "Hidden");
    let shown = hidden.hide(7).unwrap();
    assert_eq!(format!("{shown:?}"), format!("\"{shown}\""));
    let half = format!("{}\n", &KEY[..16]);
    let flawed = format!("{}x", &KEY[..31]);
    for content in [half, flawed, format!("{KEY} {KEY}"), format!("{KEY}\n{OTHER_KEY}")] {
        let why = refused_content(&content).to_uppercase();
        let key = content.to_uppercase();
        assert!((0..key.len() - 6).all(|place| !why.contains(&key[place..place + 6])), "{why}");
    }
}

#[test]
fn check_values_are_those_of_the_lines() {
    let directory = Directory::new("hidden-checks");
    let zeros = ["0".repeat(32), "0".repeat(48), "0".repeat(64)];
    let path = key_file(&directory, &format!("{}\n0 {}\n7 {}\n", zeros[0], zeros[1], zeros[2]));
    let checks: Vec<_> = key_checks(&path).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(checks, ["66e94b", "0:aae069", "7:dc95c0"]);
}

#[test]
fn new_keys_differ() {
    let keys: std::collections::HashSet<_> = (0..1000).map(|_| new_key().unwrap()).collect();
    assert_eq!(keys.len(), 1000);
}

#[test]
fn numbers_of_a_segment_are_hidden_by_the_key_of_its_store_alone() {
    let directory = Directory::new("hidden-segment");
    let page = SegmentPage::open_or_make(&directory.0.join("orders.segment")).unwrap();
    let attach = || Segment::attach(&directory.0.join("orders.segment")).unwrap();
    let zeros = "0".repeat(32);
    let path = key_file(&directory, &zeros);
    let hidden = Hidden::open(&path, "orders", Shape::Digits(10)).unwrap().of_segment(attach());
    let why = "the store of orders does not know the key 66e94b yet: give it to txid-agent, as key = \"66e94b\"";
    assert_eq!(hidden.hide(1).unwrap_err().to_string(), why);

    page.set_key_check("000000".parse().unwrap());
    let why = "numbers of orders are hidden by the key 000000 in its store, and the key here is 66e94b: give each host the same key file";
    assert_eq!(hidden.hide(1).unwrap_err().to_string(), why);

    page.set_key_check("66e94b".parse().unwrap());
    let shown = hidden.hide(1).unwrap();
    // Another period is another key.
    let with_period = key_file(&directory, &format!("{zeros}\n3 {KEY}"));
    let hidden = Hidden::open(&with_period, "orders", Shape::Digits(10)).unwrap().of_segment(attach());
    assert!(hidden.hide(1).is_err());
    assert_eq!(hidden.reveal(shown.as_bytes()), Ok(1), "what was shown is read all the same");
    page.set_key_check(*key_checks(&with_period).unwrap().last().unwrap());
    assert_eq!(hidden.hide(1).unwrap().as_bytes()[0], b'3');
}

#[test]
fn the_words_of_a_configuration_are_checked() {
    let directory = Directory::new("hidden-words");
    let path = key_file(&directory, KEY);
    let key = format!("key={}", path.display());
    let parse = |words: &[&str]| Hidden::parse(words.iter().copied());
    let why = |words: &[&str]| parse(words).unwrap_err().to_string();
    let ours = open(KEY, Shape::Digits(10)).hide(42).unwrap();
    assert_eq!(parse(&[&key, "name=orders", "digits=10"]).unwrap().hide(42), Ok(ours));
    let checked = parse(&["check", "digits=10", "name=orders", &key]).unwrap().hide(42).unwrap();
    assert_eq!(checked.len(), 11);
    assert_eq!(parse(&[&key, "name=orders", "letters=8"]).unwrap().hide(42).unwrap().len(), 8);

    let options = "the options are key=FILE, name=NAME, digits=6..19 or letters=4..13, check, and state=FILE";
    assert_eq!(why(&[]), format!("key= is missing; {options}"));
    assert_eq!(why(&[&key, "digits=10"]), format!("name= is missing; {options}"));
    assert_eq!(why(&[&key, "name=a"]), format!("give one of digits= and letters=; {options}"));
    assert_eq!(why(&[&key, "name=a", "digits=6", "letters=4"]), format!("give one of digits= and letters=; {options}"));
    assert_eq!(why(&[&key, "name=a", "digits=6", "digits=6"]), "digits was given twice");
    assert_eq!(why(&[&key, "name=a", "digits=ten"]), "digits=\"ten\" is not a number");
    assert_eq!(why(&[&key, "name=a", "digits=20"]), "hidden numbers have 6 to 19 digits, not 20");
    assert_eq!(why(&["key=a", "name=a", "digits=6"]), "key=\"a\" is not an absolute path");
    assert_eq!(why(&[&key, "name=a", "digits=6", "state=a"]), "state=\"a\" is not an absolute path");
    for word in ["colour=blue", "check=1", "check=", "key", ""] {
        assert_eq!(why(&[word]), format!("\"{word}\" is not an option; {options}"), "{word}");
    }
    let state = format!("state={}", directory.0.join("orders.segment").display());
    assert!(why(&[&key, "name=a", "digits=6", &state]).contains("txid-agent makes it, so start that first"));
    SegmentPage::open_or_make(&directory.0.join("orders.segment")).unwrap();
    let bound = parse(&[&key, "name=a", "digits=6", &state]).unwrap();
    assert!(matches!(bound.hide(1), Err(NotHidden::OtherKey { .. })));
}
