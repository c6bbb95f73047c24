//! Hidden numbers and UUIDs: files of keys, and texts that may be images.

use crate::bytes::text;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use txid::Hidden;
use txid::hidden::{Form, NotRevealed};
use txid::uuid::{self, Variant};

const KEY: &[u8] = b"85962D72415D32DA4F2C574C02C44ED9\n";

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("the file is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

/// A file of keys.
pub fn key_file(bytes: &[u8]) {
    static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a directory"));
    let path = DIRECTORY.path().join(format!("{:?}", std::thread::current().id()));
    write(&path, bytes);
    match (Hidden::open(&path, "a", Form::Digits(6)), periods(bytes)) {
        (Ok(hidden), expected) => {
            assert_eq!(Some(hidden.key_checks().iter().map(|check| check.period()).collect()), expected);
            let shown = hidden.hide(42).expect("a small number");
            assert_eq!(hidden.reveal(shown.as_bytes()), Ok(42));
        }
        (Err(error), expected) => assert_eq!(expected, None, "{error}"),
    }
}

/// The periods of the keys in a file, if that is one.
fn periods(bytes: &[u8]) -> Option<Vec<Option<u8>>> {
    let (mut periods, mut keys) = (Vec::new(), Vec::new());
    for line in bytes.split(|byte| *byte == b'\n') {
        let words: Vec<_> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let (period, key) = match words[..] {
            [] => continue,
            [key] => (None, key),
            [[digit @ b'0'..=b'9'], key] => (Some(digit - b'0'), key),
            _ => return None,
        };
        let key = text(key).to_ascii_lowercase();
        let is_key = [32, 48, 64].contains(&key.len()) && key.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_key || is_known(&key) || periods.contains(&period) || keys.contains(&key) {
            return None;
        }
        periods.push(period);
        keys.push(key);
    }
    (!periods.is_empty() && bytes.ends_with(b"\n") && bytes.len() <= 2048).then_some(periods)
}

/// A key that is no secret.
fn is_known(key: &str) -> bool {
    let bytes = key.as_bytes().chunks(2).map(|two| u8::from_str_radix(&text(two), 16).expect("two digits"));
    let bytes: Vec<_> = bytes.collect();
    let counts_by = |step: u8| bytes.windows(2).all(|two| two[1] == two[0].wrapping_add(step));
    [0, 1, 0x11].into_iter().any(counts_by) || key.starts_with("2b7e151628aed2a6abf7158809cf4f3c")
}

fn open(form: Form) -> Hidden {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("key");
    write(&path, KEY);
    Hidden::open(&path, "a", form).expect("the form is allowed")
}

/// What may be an image, read as a UUID and in the shapes of its length.
pub fn image(bytes: &[u8]) {
    static ALL: LazyLock<Vec<(Form, bool, Hidden)>> = LazyLock::new(|| {
        let shapes = (6..=19).map(Form::Digits).chain((4..=13).map(Form::Letters));
        shapes.flat_map(|form| [(form, false, open(form)), (form, true, open(form).with_check_digit())]).collect()
    });
    static UUIDS: LazyLock<Hidden> = LazyLock::new(|| open(Form::Uuid));
    match UUIDS.reveal_text(bytes) {
        Ok(id) => {
            let image = UUIDS.hide_text(id.as_bytes()).expect("it has an image");
            assert_eq!(&*image, text(bytes).to_ascii_lowercase());
        }
        Err(error) => assert!(
            uuid::read_ascii(bytes).is_err()
                || uuid::read_ascii(bytes).is_ok_and(|it| it.version != 4 || it.variant != Variant::RFC4122),
            "{error}"
        ),
    }
    for (form, has_check, hidden) in &*ALL {
        let (length, canonical) = match form {
            Form::Digits(length) => (length, text(bytes).into_owned()),
            Form::Letters(length) => {
                (length, text(bytes).to_ascii_lowercase().replace('o', "0").replace(['i', 'l'], "1"))
            }
            _ => unreachable!("it has no length"),
        };
        let is_of_shape = |byte: u8| match form {
            Form::Digits(_) => byte.is_ascii_digit(),
            _ => byte.is_ascii_digit() || (byte.is_ascii_lowercase() && byte != b'u'),
        };
        match hidden.reveal(bytes) {
            Ok(number) => assert_eq!(&*hidden.hide(number).expect("it has an image"), canonical),
            Err(NotRevealed::Length { found, .. }) => {
                assert!(found == bytes.len() && found != *length as usize + usize::from(*has_check));
            }
            Err(NotRevealed::Character { position, byte }) => {
                assert_eq!(bytes[position - 1], byte);
                assert!(!canonical.bytes().all(is_of_shape));
            }
            Err(NotRevealed::Check) => assert!(*has_check),
            // 19 digits and 13 letters have more values than 64 bits.
            Err(NotRevealed::NoNumber) => assert!(matches!(form, Form::Digits(19) | Form::Letters(13))),
            Err(NotRevealed::Period(period)) => panic!("the key has no period, and the text {period}"),
            Err(error) => panic!("no UUID or segment: {error}"),
        }
    }
}
