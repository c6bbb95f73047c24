//! Finds the time in an id of an unknown format.

use crate::formats;
use crate::text::civil::{FOUR_DIGITS_MS, Moment};

/// How many characters [`rfc3339`] writes.
pub const RFC3339_LEN: usize = Moment::LEN;

/// The milliseconds since 1970 in the id `text`, if its format has a time and can be told from others: a txid, a UUID of
/// version 1, 6 or 7, a flake, a UNIQUE_ID, or an id of SOFATracer or SkyWalking.
///
/// ```
/// use txid::time_in;
///
/// assert_eq!(time_in::ms(b"4om9qi54la8ffr4bd9sg"), Some(655_829_050_002));
/// assert_eq!(time_in::ms(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), Some(1_645_557_742_000));
/// assert_eq!(time_in::ms(b"7f3a"), None);
/// ```
pub fn ms(text: &[u8]) -> Option<i64> {
    // A text that would have another time, which RFC 3339 cannot write, is not an id.
    formats::certain_ms(text).filter(|ms| FOUR_DIGITS_MS.contains(ms))
}

/// The milliseconds since 1970 as RFC 3339 and ISO 8601 write them, `2014-09-01T00:00:00.000Z`, in the years 0 to 9999.
///
/// ```
/// assert_eq!(txid::time_in::rfc3339(1_522_545_688_552), Some(*b"2018-04-01T01:21:28.552Z"));
/// assert_eq!(txid::time_in::rfc3339(i64::MAX), None);
/// ```
pub fn rfc3339(ms: i64) -> Option<[u8; RFC3339_LEN]> {
    Moment(ms).to_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::maker::Maker;

    const NOW_MS: i64 = 1_795_000_000_123;

    #[test]
    fn what_has_a_time_is_read() {
        let certain =
            |format: &&&Format| format.has_a_time() && format.read.as_ref().is_some_and(|read| read.is_certain);
        for format in formats::ALL.iter().filter(certain).filter(|format| format.make.is_some()) {
            let mut text = [0; Maker::MAX_LEN];
            let options = format.make.as_ref().unwrap().options.iter().map(|option| (*option, "10.0.0.7".as_ref()));
            let made = format.maker(options).unwrap().write_by(NOW_MS, &mut text).unwrap();
            let found = ms(&text[..made.len]).unwrap();
            assert!(found == NOW_MS || found == NOW_MS / 1000 * 1000, "{format:?}: {found}");
        }
        assert_eq!(ms(b"0ad1348f1403169275002100356696"), Some(1_403_169_275_002));
    }

    #[test]
    fn what_has_none_is_not() {
        for text in [
            "",
            "-",
            "7f3a",
            "4om9qi54la8ffr4bd9s1",
            "zzzzzzzzzzzzzzzzzzzzzz",
            "b0e5f1cc-2f2b-4d5e-8a3c-2f4b1c1d1e1f",
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(ms(text.as_bytes()), None, "{text}");
        }
        assert_eq!(ms(b"4om9qi54la8ffr4bd9s\xff"), None);
    }
}
