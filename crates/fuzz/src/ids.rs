//! Reading of ids.

use crate::bytes::{reads_back, take, text};
use txid::system::read_mac;
use txid::uuid::{self, Uuid};
use txid::{Flake, FormatErrorKind, Txid, UniqueId};

pub fn txid(bytes: &[u8]) {
    match Txid::from_text(bytes) {
        Ok(id) => {
            assert_eq!(id.to_text()[..], bytes.to_ascii_lowercase());
            let ms = id.timestamp_ms();
            assert!((Txid::wrapping_bounds_of(ms)[0]..=Txid::wrapping_bounds_of(ms)[1]).contains(&id));
        }
        Err(error) => match (error.kind(), error.position()) {
            (FormatErrorKind::Length, None) => assert_ne!(bytes.len(), Txid::LEN),
            (FormatErrorKind::Character, Some(position)) => assert!(position <= Txid::LEN),
            (FormatErrorKind::LastCharacter, Some(position)) => assert_eq!(position, Txid::LEN),
            _ => panic!("{error}"),
        },
    }
    let is_valid = bytes.len() == Txid::LEN
        && bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'v' | b'A'..=b'V'))
        && matches!(bytes[Txid::LEN - 1], b'0' | b'g' | b'G');
    reads_back(bytes, is_valid, Txid::from_text);

    let mut rest = bytes;
    let [one, two] = [take::<12>(&mut rest), take::<12>(&mut rest)];
    let ids = [one, two].map(Txid::from);
    assert_eq!(ids.map(<[u8; 12]>::from), [one, two]);
    assert_eq!(ids.map(|id| Txid::from_text(&id.to_text())), ids.map(Ok));
    assert_eq!(ids[0].cmp(&ids[1]), one.cmp(&two));
    assert_eq!(ids[0].to_text().cmp(&ids[1].to_text()), one.cmp(&two));
    let at = Txid::wrapping_at(i64::from_be_bytes(take(&mut &*bytes)));
    assert_eq!(Txid::from_text(&at.to_text()), Ok(at));
}

pub fn uuid(bytes: &[u8]) {
    match (uuid::read_ascii(bytes), Uuid::try_parse_ascii(bytes)) {
        (Ok(parts), Ok(id)) => {
            assert_eq!(id.to_string().into_bytes(), bytes.to_ascii_lowercase());
            assert_eq!((usize::from(parts.version), parts.variant), (id.get_version_num(), id.get_variant()));
        }
        // The crate also accepts other spellings.
        (Err(error), _) if error.kind() == FormatErrorKind::Length => assert_ne!(bytes.len(), 36),
        (Err(error), Err(_)) => assert!(error.position().is_some_and(|position| position <= 36), "{error}"),
        other => panic!("{other:?}"),
    }
}

pub fn mac(bytes: &[u8]) {
    let text = &*text(bytes);
    let numbers = text.split(':').map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2));
    let expected: Option<Vec<_>> = numbers.collect();
    let expected = expected.filter(|bytes| bytes.len() == 6 && !text.contains('+'));
    assert_eq!(read_mac(bytes).ok().map(Vec::from), expected);
}

pub fn flake(bytes: &[u8]) {
    let text = &*text(bytes);
    // The alphabet is in ASCII order.
    let is_valid = text.len() == Flake::LEN
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.as_bytes() <= &Flake(u128::MAX).to_text()[..];
    if let Some(id) = reads_back(bytes, is_valid, Flake::from_text) {
        assert_eq!(id.to_string(), text);
    }
    let mut rest = bytes;
    let [one, two] = [take(&mut rest), take(&mut rest)].map(|bytes| Flake(u128::from_be_bytes(bytes)));
    assert_eq!(one.to_string().parse(), Ok(one));
    assert_eq!(one.to_text().cmp(&two.to_text()), one.0.cmp(&two.0));
}

pub fn unique_id(bytes: &[u8]) {
    let text = &*text(bytes);
    let is_of = |more: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || more.contains(char));
    let is_valid = match text.len() {
        UniqueId::SHORT_LEN => is_of("@-"),
        // The last character has two extra bits, which are zeros.
        UniqueId::LONG_LEN => (is_of("@-") || is_of("-_")) && text.ends_with(|last| "AEIMQUYcgkosw048".contains(last)),
        _ => false,
    };
    if let Some(id) = reads_back(bytes, is_valid, UniqueId::from_text) {
        let newer = if text.len() == UniqueId::LONG_LEN { text.replace('@', "-") } else { text.to_string() };
        assert_eq!(id.to_string().len(), newer.len());
    }
}
