//! The file of keys: which files are refused, and what is in the others.

use crate::ff1::Ff1;
use crate::secret::Secret;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// One for each of ten periods, and one without.
const MOST_KEYS: usize = 11;

/// More than all lines of the longest keys.
const MOST_BYTES: u64 = 2048;

/// How the keys of FIPS 197 and of FF1's samples begin. They are in many documents.
const OF_THE_STANDARD: [u8; 16] = 0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128.to_be_bytes();

/// A key of a file.
pub struct Key {
    /// The digit before it.
    pub period: Option<u8>,
    /// The first 24 bits of AES of a block of zeros, by which banks compare keys without telling them.
    pub check_value: u32,
    /// What it does.
    pub permutation: Ff1,
}

/// Never inlined, so that all that is left of keys on the stack is below the caller's frame.
#[inline(never)]
pub(crate) fn keys(path: &Path, permutation: &mut dyn FnMut(&[u8]) -> Ff1) -> Result<Secret<Key>, KeyFlaw> {
    let text = read(path)?;
    let mut keys: Secret<Key> = Secret::with_room_for(MOST_KEYS).map_err(KeyFlaw::NoMemory)?;
    let mut lines = [0; MOST_KEYS];
    if text.trim_ascii().is_empty() {
        return Err(KeyFlaw::Empty);
    }
    if !text.ends_with(b"\n") {
        return Err(KeyFlaw::CutShort);
    }
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let (line, number) = (line.trim_ascii(), index + 1);
        if line.is_empty() {
            continue;
        }
        let (period, digits) = parts(line).ok_or(KeyFlaw::Period { line: number })?;
        let first = &mut lines[place_of(period)];
        if *first != 0 {
            return Err(KeyFlaw::Twice { line: number, period, first: *first });
        }
        *first = number;
        if ![32, 48, 64].contains(&digits.len()) {
            return Err(KeyFlaw::Length { line: number, digits: digits.len() });
        }
        let mut room = [0; 32];
        for (place, &digit) in digits.iter().enumerate() {
            let value = value(digit).ok_or(KeyFlaw::NoDigit { line: number, place: place + 1 })?;
            room[place / 2] = room[place / 2] << 4 | value;
        }
        let key = &room[..digits.len() / 2];
        if let Some(why) = not_random(key) {
            return Err(KeyFlaw::NotRandom { line: number, why });
        }
        let permutation = permutation(key);
        let of_zeros = permutation.of_zeros();
        if let Some(same) = keys.iter().find(|other| other.permutation.of_zeros() == of_zeros) {
            return Err(KeyFlaw::SameKey { line: number, first: lines[place_of(same.period)] });
        }
        keys.push(Key { period, check_value: (of_zeros >> (128 - 24)) as u32, permutation });
    }
    Ok(keys)
}

fn place_of(period: Option<u8>) -> usize {
    period.map_or(0, |period| 1 + usize::from(period))
}

/// Why everybody may know a key.
fn not_random(key: &[u8]) -> Option<&'static str> {
    let by = |step: u8| key.windows(2).all(|two| two[1].wrapping_sub(two[0]) == step);
    match () {
        () if by(0) => Some("all its bytes are equal"),
        () if by(1) || by(0x11) => Some("its bytes only count up"),
        () if key.starts_with(&OF_THE_STANDARD) => Some("it is the one of the standard's examples"),
        () => None,
    }
}

fn read(path: &Path) -> Result<Secret<u8>, KeyFlaw> {
    // A pipe would not be opened before somebody writes to it.
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| KeyFlaw::File { action: "open", error })?;
    let status = file.metadata().map_err(unreadable)?;
    if !status.is_file() {
        return Err(KeyFlaw::NotAFile);
    }
    if status.mode() & 0o077 != 0 {
        return Err(KeyFlaw::OpenToOthers { mode: status.mode() & 0o7777 });
    }
    if status.len() > MOST_BYTES {
        return Err(KeyFlaw::TooLong { bytes: status.len() });
    }
    contents(&mut file).map_err(unreadable)
}

fn unreadable(error: io::Error) -> KeyFlaw {
    KeyFlaw::File { action: "read", error }
}

fn contents(file: &mut File) -> io::Result<Secret<u8>> {
    let mut text = Secret::with_room_for(MOST_BYTES as usize)?;
    text.fill(|room| file.read(room))?;
    Ok(text)
}

/// The digit of the period, and the digits of the key.
fn parts(line: &[u8]) -> Option<(Option<u8>, &[u8])> {
    match line {
        [digit @ b'0'..=b'9', space, rest @ ..] if space.is_ascii_whitespace() => {
            Some((Some(digit - b'0'), rest.trim_ascii_start()))
        }
        _ => (!line.iter().any(u8::is_ascii_whitespace)).then_some((None, line)),
    }
}

/// The value of a hexadecimal digit, without a table and without a branch by it.
fn value(digit: u8) -> Option<u8> {
    let is_digit = digit.wrapping_sub(b'0') < 10;
    let is_letter = (digit | 0x20).wrapping_sub(b'a') < 6;
    // A letter counts from 1 in its low bits.
    (is_digit | is_letter).then_some((digit & 15) + 9 * u8::from(is_letter))
}

/// Why a file of keys is refused. No message has a part of a key.
#[derive(Debug)]
pub struct KeyFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub flaw: KeyFlaw,
}

/// What is wrong with a file of keys.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyFlaw {
    /// It cannot be opened or read.
    File {
        /// What failed.
        action: &'static str,
        /// Why.
        error: io::Error,
    },
    /// It is a directory, a pipe, or a device.
    NotAFile,
    /// Others than its owner may read or change it.
    OpenToOthers {
        /// Its permissions.
        mode: u32,
    },
    /// It is too long to be one of keys.
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// It has no key.
    Empty,
    /// Its last line has no end, so that a part of a key may be missing.
    CutShort,
    /// No key has this number of digits.
    Length {
        /// Its line, counted from 1.
        line: usize,
        /// How many it has.
        digits: usize,
    },
    /// A character is no hexadecimal digit.
    NoDigit {
        /// Its line, counted from 1.
        line: usize,
        /// Its place in the key, counted from 1.
        place: usize,
    },
    /// The text before a key is not one digit.
    Period {
        /// Its line, counted from 1.
        line: usize,
    },
    /// Two lines have a key for the same period.
    Twice {
        /// The second line.
        line: usize,
        /// The first line.
        first: usize,
        /// The period.
        period: Option<u8>,
    },
    /// Somebody could guess a key.
    NotRandom {
        /// Its line, counted from 1.
        line: usize,
        /// Why.
        why: &'static str,
    },
    /// Two periods have the same key.
    SameKey {
        /// The second line.
        line: usize,
        /// The first line.
        first: usize,
    },
    /// No memory for keys.
    NoMemory(io::Error),
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.flaw {
            KeyFlaw::File { action, error } => {
                write!(f, "cannot {action} the key file {path}: {error}")?;
                f.write_str(match error.kind() {
                    io::ErrorKind::NotFound => "; `txid key new` makes a key",
                    io::ErrorKind::PermissionDenied => {
                        "; nginx reads it when it starts, as the user that starts it, and in Lua in init_by_lua"
                    }
                    _ => "",
                })
            }
            KeyFlaw::NotAFile => write!(f, "the key file {path} is not a regular file"),
            KeyFlaw::OpenToOthers { mode } => write!(
                f,
                "others may read or change the key file {path} (mode {mode:04o}): chmod 600 {path}, and take a new key if somebody may have read this one"
            ),
            KeyFlaw::TooLong { bytes } => {
                write!(f, "the key file {path} has {bytes} bytes, more than all keys of ten periods")
            }
            KeyFlaw::Empty => write!(f, "the key file {path} has no key; `txid key new` makes one"),
            KeyFlaw::CutShort => write!(
                f,
                "the key file {path} has no newline at its end, so that a part of the key may be missing: write it again, with one"
            ),
            KeyFlaw::NotRandom { line, why } => {
                write!(
                    f,
                    "the key file {path}, line {line}: everybody knows this key: {why}; `txid key new` makes a random one"
                )
            }
            KeyFlaw::SameKey { line, first } => write!(
                f,
                "the key file {path}, line {line}: this is the key of line {first} again; a new period needs a new key, from `txid key new`"
            ),
            KeyFlaw::Length { line, digits } => write!(
                f,
                "the key file {path}, line {line}: a key has 32, 48 or 64 hexadecimal digits, not {digits}; `txid key new` makes one"
            ),
            KeyFlaw::NoDigit { line, place } => {
                write!(f, "the key file {path}, line {line}: character {place} of the key is not a hexadecimal digit")
            }
            KeyFlaw::Period { line } => {
                write!(
                    f,
                    "the key file {path}, line {line}: only the digit of a period and a space may be before a key"
                )
            }
            KeyFlaw::Twice { line, first, period: Some(period) } => write!(
                f,
                "the key file {path}, line {line}: period {period} has a key on line {first} already; take another digit"
            ),
            KeyFlaw::Twice { line, first, period: None } => write!(
                f,
                "the key file {path}, line {line}: line {first} has a key without a period already; begin this line with a digit and a space"
            ),
            KeyFlaw::NoMemory(error) => write!(f, "no memory for the keys of {path}: {error}"),
        }
    }
}

// No source: the message includes it already.
impl std::error::Error for KeyFileError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::Cipher;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_that_is_wrong_or_known_says_where_and_why() {
        let path = std::env::temp_dir().join(format!("txid-key-{}", std::process::id()));
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let found = keys(&path, &mut |key| Ff1::new(Cipher::of(key), 10, 10, b""));
            fs::remove_file(&path).unwrap();
            found.map(|keys| keys.iter().map(|key| key.period).collect::<Vec<_>>())
        };
        let flaw = |text: &str| read(text).unwrap_err();
        let digits = "8f3a1c5d7e9b2046a1d3c5e7f9081b2d";
        assert!(matches!(flaw(&format!("\n1 {}x\n", &digits[1..])), KeyFlaw::NoDigit { line: 2, place: 32 }));
        assert!(matches!(flaw(&format!("x{}\n", &digits[1..])), KeyFlaw::NoDigit { line: 1, place: 1 }));
        let of_all: String = (0..10).map(|period| format!("{period}\t {period}{}\n", &digits[1..])).collect();
        let periods: Vec<_> = [None].into_iter().chain((0..10).map(Some)).collect();
        assert_eq!(read(&format!("b{}\n{of_all}", &digits[1..])).unwrap(), periods, "all that there can be");
        for known in [
            "00112233445566778899aabbccddeeff",
            "000102030405060708090a0b0c0d0e0f",
            "77777777777777777777777777777777",
            "2b7e151628aed2a6abf7158809cf4f3c",
        ] {
            assert!(matches!(flaw(&format!("{known}\n")), KeyFlaw::NotRandom { line: 1, .. }), "{known}");
        }
    }

    /// Tests may run as root, who may open all files.
    #[test]
    fn a_file_that_may_not_be_opened_says_who_reads_it() {
        let flaw = KeyFlaw::File { action: "open", error: io::ErrorKind::PermissionDenied.into() };
        assert_eq!(
            KeyFileError { path: "/etc/orders.key".into(), flaw }.to_string(),
            "cannot open the key file /etc/orders.key: permission denied; nginx reads it when it starts, as the user that starts it, and in Lua in init_by_lua"
        );
    }
}
