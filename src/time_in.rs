//! Finds the time in an id of an unknown format.

use crate::formats::{self, Numbers, Readings, Timed};
use crate::maker::MakerError;
use crate::source::clock;
use crate::text::civil::Moment;

/// How many characters [`rfc3339`] writes.
pub const RFC3339_LEN: usize = Moment::LEN;

/// The milliseconds since 1970 in the id `text`, if it is certain: all likely
/// readings of the text have this time. [`certain`](formats::Readings::certain) has the rule.
///
/// ```
/// use txid::{Txid, time_in};
///
/// assert_eq!(time_in::ms(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), Some(1_645_557_742_000));
/// assert!(time_in::ms(Txid::now().to_string().as_bytes()).is_some());
/// // A txid of 1990, or an xid of 1989; there were neither.
/// assert_eq!(time_in::ms(b"4om9qi54la8ffr4bd9sg"), None);
/// assert_eq!(time_in::ms(b"7f3a"), None);
/// ```
pub fn ms(text: &[u8]) -> Option<i64> {
    ms_of(None, text)
}

/// The time in a text by a list of formats, or by [`ms`] without one.
///
/// ```
/// use txid::time_in::{Times, ms_of};
///
/// let xids = Times::only(["xid"])?;
/// assert_eq!(ms_of(Some(&xids), b"9m4e2mr0ui3e8a215n4g"), Some(1_300_816_219_000));
/// assert_eq!(ms_of(None, b"7f3a"), None);
/// # Ok::<(), txid::MakerError>(())
/// ```
#[inline]
pub fn ms_of(times: Option<&Times>, text: &[u8]) -> Option<i64> {
    let now_ms = clock::coarse_ms();
    // What most texts are.
    match formats::new_txid_ms(text, now_ms) {
        Some(ms) if times.is_none_or(|times| !times.is_only) => Some(ms),
        _ => ms_of_other(times, text, now_ms),
    }
}

#[cold]
fn ms_of_other(times: Option<&Times>, text: &[u8], now_ms: i64) -> Option<i64> {
    let of_formats = times.and_then(|times| match times.is_only {
        true => times.formats.iter().find_map(|format| format.ms(text)),
        false => formats::certain_ms_of(&times.formats, text, now_ms),
    });
    match times {
        Some(times) if times.is_only => of_formats,
        _ => of_formats.or_else(|| Readings::of(text, &Numbers::UNKNOWN, now_ms).certain()?.ms),
    }
}

/// Which formats ids are looked for in, where the time of one is wanted.
///
/// ```
/// use txid::time_in::Times;
///
/// // Of 2018-04-01; an xid of 2017-02-16 has the same text.
/// let (text, ms) = (b"b2fr5nvqg00000000000", 1_522_545_688_554);
/// assert_eq!(txid::time_in::ms(text), None);
/// assert_eq!(Times::only(["txid"])?.ms(text), Some(ms));
/// // A server that makes txids is rather sent one of its own.
/// assert_eq!(Times::first(["txid"])?.ms(text), Some(ms));
/// # Ok::<(), txid::MakerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Times {
    formats: Vec<Timed>,
    is_only: bool,
}

impl Times {
    /// The formats to try, and no others: the first that a text fits. A format is its name, perhaps with options:
    /// `snowflake(layout=discord)`, `trace_id(epoch=2020-01-01)`.
    ///
    /// ```
    /// let discord = txid::time_in::Times::only(["snowflake(layout=discord)"])?;
    /// assert_eq!(discord.ms(b"175928847299117063"), Some(1_462_015_105_796));
    /// # Ok::<(), txid::MakerError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MakerError`], if there is no such format, if its ids have no time, or if an option is wrong.
    pub fn only<'a>(formats: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        let parse = |format: &'a str| Timed::parse(format)?.ok_or_else(|| MakerError::NoTime(format.to_string()));
        Ok(Self { formats: formats.into_iter().map(parse).collect::<Result<_, _>>()?, is_only: true })
    }

    /// Reads these formats first, as a server that makes them is sent its own ids rather than others: a text that fits one
    /// of them, and whose time can be, is of it. Otherwise, the time that [`ms`] finds. Formats without a time do not count.
    pub fn first<'a>(formats: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        let parsed = formats.into_iter().filter_map(|format| Timed::parse(format).transpose());
        Ok(Self { formats: parsed.collect::<Result<_, _>>()?, is_only: false })
    }

    /// The milliseconds since 1970 in the id `text`.
    pub fn ms(&self, text: &[u8]) -> Option<i64> {
        ms_of(Some(self), text)
    }
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
    use std::ffi::OsStr;

    #[test]
    fn what_a_server_makes_comes_first_if_its_time_can_be() {
        let now_ms = clock::system_ms();
        let made = |format: &str, ms| {
            let mut text = [0; Maker::MAX_LEN];
            let made = Maker::builder(format).build().unwrap().write_wrapping_at(ms, &mut text).unwrap();
            text[..made.len].to_vec()
        };
        let old_ms = now_ms - 7_200_000;
        let old = made("txid", old_ms);
        assert_eq!(ms(&old), None);
        assert_eq!(Times::first(["txid", "uuid_v4"]).unwrap().ms(&old), Some(old_ms));
        assert_eq!(Times::first(["uuid_v7"]).unwrap().ms(&old), None);
        // An xid of today would be a txid of two years from now.
        let xid = Maker::builder("xid").build().unwrap();
        let mut text = [0; Maker::MAX_LEN];
        let len = xid.write_by(now_ms, &mut text).unwrap().len;
        assert_eq!(Times::first(["txid"]).unwrap().ms(&text[..len]), Some(now_ms / 1000 * 1000));
        // With other formats alone, not even a txid of now is one.
        assert_eq!(Times::only(["uuid_v7"]).unwrap().ms(&made("txid", now_ms)), None);
        // Both are made, so an old text can be either.
        assert_eq!(Times::first(["txid", "xid"]).unwrap().ms(&old), None);
        assert_eq!(Times::only(["xid", "txid"]).unwrap().ms(&text[..len]), Some(now_ms / 1000 * 1000));
    }

    #[test]
    fn of_two_layouts_the_one_in_which_an_id_is_of_now_is_certain() {
        let layouts = ["mastodon", "snowflake"].map(|layout| format!("snowflake(layout={layout})"));
        let times = Times::first(layouts.iter().map(String::as_str)).unwrap();
        // As a snowflake, of 2011 or later.
        let now_ms = clock::system_ms();
        assert_eq!(times.ms((now_ms << 16).to_string().as_bytes()), Some(now_ms));
    }

    #[test]
    fn formats_have_layouts_and_epochs() {
        let times = Times::first(["snowflake(node=1,layout=discord,state=/a)"]).unwrap();
        assert_eq!(times.ms(b"175928847299117063"), Some(1_462_015_105_796));
        let of_a_trace = ["trace-id(epoch=2020-01-01)"];
        for times in [Times::only(of_a_trace), Times::first(of_a_trace)] {
            assert_eq!(times.unwrap().ms(b"00000000800000000000000000000001"), Some(1_577_836_800_256));
        }
        for (format, wrong) in [
            ("uuid_v4", "ids of uuid_v4 have no time"),
            ("uuid_v9", "\"uuid_v9\" is not a format; the formats are txid, "),
            ("snowflake(layout=a)", "layout 'a' is not one of"),
            ("trace_id(epoch=a)", "epoch \"a\" is neither"),
        ] {
            let error = Times::only([format]).unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{error}");
        }
    }

    fn address(make: &formats::Make) -> Option<(&'static str, &'static OsStr)> {
        make.options.contains(&"address").then_some(("address", "10.0.0.7".as_ref()))
    }

    #[test]
    fn what_was_made_just_now_is_certain() {
        let makes = |format: &&&Format| format.has_a_time() && format.make.is_some() && format.name != "snowflake";
        for format in formats::ALL.iter().filter(makes) {
            let mut text = [0; Maker::MAX_LEN];
            let options = address(format.make.as_ref().unwrap());
            let before = clock::system_ms() / 1000 * 1000;
            let made = format.maker(options).unwrap().write_by(clock::system_ms(), &mut text).unwrap();
            let found = ms(&text[..made.len]).unwrap_or_else(|| panic!("{format:?}"));
            assert!((before..=clock::system_ms()).contains(&found), "{format:?}: {found}");
        }
    }

    #[test]
    fn shape_alone_is_enough_where_no_other_time_can_be() {
        for (text, expected) in [
            ("0ad1348f1403169275002100356696", 1_403_169_275_002),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_645_557_742_000),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", 1_469_922_850_259),
            ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", 1_507_608_047_000),
        ] {
            assert_eq!(ms(text.as_bytes()), Some(expected), "{text}");
        }
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
            // Times of 1990, of 2018 or 2017, and of 5236.
            "4om9qi54la8ffr4bd9sg",
            "b2fr5nvqg00000000000",
            "5dd0e0c0-79b0-7cc3-98c4-dc0c0c07398f",
            // Any number is a 64-bit id.
            "1160090501362225152",
        ] {
            assert_eq!(ms(text.as_bytes()), None, "{text}");
        }
        assert_eq!(ms(b"4om9qi54la8ffr4bd9s\xff"), None);
    }
}
