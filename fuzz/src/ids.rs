//! Ids that are read.

use crate::{reads_back, take, text};
use txid::uuid::{self, Uuid};
use txid::{Flake, FormatError, ParseError, Txid, UniqueId};

pub fn txid(bytes: &[u8]) {
    match Txid::from_text(bytes) {
        Ok(id) => {
            assert_eq!(id.to_text()[..], bytes.to_ascii_lowercase());
            let ms = id.timestamp_ms() as i64;
            assert!((Txid::first_of(ms)..=Txid::last_of(ms)).contains(&id));
        }
        Err(ParseError::Length(length)) => assert!(length == bytes.len() && length != Txid::LEN),
        Err(ParseError::Character { position, byte }) => assert_eq!(bytes[position - 1], byte),
        Err(ParseError::LastCharacter(byte)) => assert_eq!(bytes.last(), Some(&byte)),
    }
    reads_back::<Txid>(text(bytes));

    let mut rest = bytes;
    let [one, two] = [take::<12>(&mut rest), take::<12>(&mut rest)];
    let ids = [one, two].map(Txid::from);
    assert_eq!(ids.map(<[u8; 12]>::from), [one, two]);
    assert_eq!(ids.map(|id| Txid::from_text(&id.to_text())), ids.map(Ok));
    assert_eq!(ids[0].cmp(&ids[1]), one.cmp(&two));
    assert_eq!(ids[0].to_text().cmp(&ids[1].to_text()), one.cmp(&two));
    let at = Txid::at(i64::from_be_bytes(take(&mut &*bytes)));
    assert_eq!(Txid::from_text(&at.to_text()), Ok(at));
}

pub fn uuid(bytes: &[u8]) {
    let text = text(bytes);
    match (uuid::read(text), Uuid::try_parse(text)) {
        (Ok(parts), Ok(id)) => {
            assert_eq!(id.to_string(), text.to_ascii_lowercase());
            assert_eq!((usize::from(parts.version), parts.variant), (id.get_version_num(), id.get_variant()));
        }
        (Ok(_), Err(error)) => panic!("{error}"),
        (Err(FormatError::Length { found, .. }), _) => assert!(found == text.len() && found != 36),
        (Err(FormatError::Character { position, byte, .. }), Err(_)) => {
            assert_eq!(text.as_bytes()[position - 1], byte);
        }
        (Err(error), _) => panic!("{error}"),
    }
}

pub fn flake(bytes: &[u8]) {
    if let Some(id) = reads_back::<Flake>(text(bytes)) {
        assert_eq!(id.to_string(), text(bytes));
    }
    let mut rest = bytes;
    let [one, two] = [take(&mut rest), take(&mut rest)].map(|bytes| Flake(u128::from_be_bytes(bytes)));
    assert_eq!(one.to_string().parse(), Ok(one));
    assert_eq!(one.to_text().cmp(&two.to_text()), one.0.cmp(&two.0));
}

pub fn unique_id(bytes: &[u8]) {
    if let Some(id) = reads_back::<UniqueId>(text(bytes)) {
        assert_eq!(id.to_string().len(), text(bytes).len());
    }
}
