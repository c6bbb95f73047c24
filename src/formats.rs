//! The list of formats. Whatever goes through all formats goes through it.

use crate::format::ReadAnatomy;
use crate::maker::{Maker, MakerError};
use crate::text::FormatError;
use crate::{flake, segment, snowflake, trace, txid, unique_id, uuid};
use std::ffi::OsStr;

pub use crate::format::{Anatomy, Format, Make, Numbers, Read, Shape, Sorted, Texts, Time};

/// The formats, and how what their ids hold is read. The most specific come first: a text that fits several is most likely
/// an id of the first.
const LIST: [(&Format, Option<ReadAnatomy>); 20] = [
    (&txid::FORMAT, Some(txid::ANATOMY)),
    (&txid::STRONG, None),
    (&uuid::V1, Some(uuid::V1_ANATOMY)),
    (&uuid::V4, Some(uuid::V4_ANATOMY)),
    (&uuid::V6, Some(uuid::V6_ANATOMY)),
    (&uuid::V7, Some(uuid::V7_ANATOMY)),
    (&uuid::OTHER, Some(uuid::OTHER_ANATOMY)),
    (&flake::FORMAT, Some(flake::ANATOMY)),
    (&unique_id::LONG, Some(unique_id::LONG_ANATOMY)),
    (&unique_id::SHORT, Some(unique_id::SHORT_ANATOMY)),
    (&trace::ID, Some(trace::ID_ANATOMY)),
    (&trace::HOST_ID, Some(trace::HOST_ID_ANATOMY)),
    (&trace::OTEL_ID, Some(trace::OTEL_ID_ANATOMY)),
    (&trace::SPAN_ID, Some(trace::SPAN_ID_ANATOMY)),
    (&trace::traceparent::FORMAT, Some(trace::traceparent::ANATOMY)),
    (&trace::sofa::FORMAT, Some(trace::sofa::ANATOMY)),
    (&trace::skywalking::FORMAT, Some(trace::skywalking::ANATOMY)),
    (&trace::b3::FORMAT, Some(trace::b3::ANATOMY)),
    (&snowflake::format::FORMAT, Some(snowflake::format::ANATOMY)),
    (&segment::format::FORMAT, None),
];

/// All formats, the most specific first.
///
/// ```
/// assert!(txid::formats::ALL.iter().any(|format| format.name == "uuid_v7"));
/// ```
pub static ALL: [&Format; LIST.len()] = {
    let (mut all, mut at) = ([LIST[0].0; LIST.len()], 0);
    while at < LIST.len() {
        all[at] = LIST[at].0;
        at += 1;
    }
    all
};

/// The format of this name.
///
/// ```
/// assert_eq!(txid::formats::named("uuid_v7").unwrap().title, "UUID version 7");
/// ```
pub fn named(name: &str) -> Option<&'static Format> {
    ALL.into_iter().find(|format| format.name == name)
}

/// The formats that a text fits, most likely first, and what it holds as an id of each.
///
/// ```
/// use txid::formats::{Numbers, recognize};
///
/// let found = recognize(b"b13f65bff40000010123456789abcdef", &Numbers::UNKNOWN)?;
/// let names: Vec<_> = found.iter().map(|(format, _)| format.name).collect();
/// assert_eq!(names, ["trace_id", "otel_trace_id", "trace_host_id"]);
/// # Ok::<(), Option<txid::FormatError>>(())
/// ```
///
/// # Errors
///
/// The error of the first format that has such a text's length; None if no format has.
pub fn recognize(text: &[u8], numbers: &Numbers) -> Result<Vec<(&'static Format, Anatomy)>, Option<FormatError>> {
    let (mut found, mut wrong) = (Vec::new(), None);
    for (format, anatomy) in LIST {
        let (Some(read), Some(anatomy)) = (&format.read, anatomy) else { continue };
        match anatomy(text, numbers) {
            Ok(anatomy) => found.push((format, anatomy)),
            Err(error) if read.lengths.contains(&text.len()) => wrong = wrong.or(Some(error)),
            Err(_) => {}
        }
    }
    if found.is_empty() {
        return Err(wrong);
    }
    found.sort_by_key(|(_, anatomy)| !anatomy.is_likely);
    Ok(found)
}

/// The milliseconds since 1970 in `text`, if that is hardly anything but an id with a time.
pub(crate) fn certain_ms(text: &[u8]) -> Option<i64> {
    let mut certain = ALL.into_iter().filter(|format| format.read.as_ref().is_some_and(|read| read.is_certain));
    certain.find_map(|format| format.ms(text, &Numbers::UNKNOWN))
}

impl Maker {
    /// The names that [`Maker::parse`] knows.
    ///
    /// ```
    /// assert!(txid::Maker::names().any(|name| name == "uuid_v7"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        let is_offered = |format: &&Format| format.make.as_ref().is_some_and(|make| make.in_nginx);
        ALL.into_iter().filter(is_offered).map(|format| format.name)
    }

    /// A maker of the format of this name, with options such as `address=10.0.0.7`. Of the formats in
    /// [`ALL`], those are missing that nginx does not offer.
    ///
    /// Copies of such a maker, in any number of processes and threads, never make the same id. That is why flakes and
    /// UUIDs of version 1 take no node here, and why SOFATracer ids are missing: nothing in them tells two copies of
    /// this library in one process apart.
    ///
    /// ```
    /// let error = txid::Maker::parse("snowflake", ["node=1024", "state=/run/a"]).unwrap_err();
    /// assert_eq!(error.to_string(), "node '1024' is not an integer from 0 to 1023, the layout's range");
    /// ```
    ///
    /// # Errors
    ///
    /// [`MakerError`] says what is wrong with the name or an option.
    pub fn parse<'a>(name: &str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        offered(name)?.maker(options.into_iter().map(split))
    }

    /// As [`Maker::parse`], to try the options, as `nginx -t` does: no file is made. A state without a file is one in
    /// memory.
    ///
    /// ```
    /// assert!(txid::Maker::parse_on_trial("snowflake", ["node=17", "state=/nonexistent/state"]).is_ok());
    /// assert!(!std::path::Path::new("/nonexistent").exists());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`].
    pub fn parse_on_trial<'a>(name: &str, options: impl IntoIterator<Item = &'a str>) -> Result<Self, MakerError> {
        offered(name)?.maker_on_trial(options.into_iter().map(split))
    }

    /// As [`Maker::parse`], where no options can be given.
    ///
    /// ```
    /// assert!(txid::Maker::named("uuid_v7").is_ok());
    /// let error = txid::Maker::named("snowflake").unwrap_err();
    /// assert_eq!(error.to_string(), "snowflake needs options, and none can be given here");
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Maker::parse`]. A list of formats has only those that need no options.
    pub fn named(name: &str) -> Result<Self, MakerError> {
        let bare = |format: &Format| match format.maker([]) {
            Err(MakerError::Missing { .. }) => Err(MakerError::NeedsOptions(format.name)),
            maker => maker,
        };
        match offered(name) {
            Err(MakerError::NoFormat { name, mut known }) => {
                known.retain(|name| named(name).is_some_and(|format| bare(format).is_ok()));
                Err(MakerError::NoFormat { name, known })
            }
            format => bare(format?),
        }
    }
}

/// The format of this name that nginx offers.
fn offered(name: &str) -> Result<&'static Format, MakerError> {
    named(name)
        .filter(|_| Maker::names().any(|known| known == name))
        .ok_or_else(|| MakerError::NoFormat { name: name.to_string(), known: Maker::names().collect() })
}

/// `name=value`
fn split(option: &str) -> (&str, &OsStr) {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    (name, value.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoId;
    use crate::snowflake::{Layout, LeasePage, Refusal};
    use crate::trace::SkyWalking;
    use std::collections::HashSet;
    use test_helpers::Directory;

    fn make(maker: &Maker) -> String {
        let mut text = [0; Maker::MAX_LEN];
        let made = maker.write_by(crate::source::clock::system_ms(), &mut text).unwrap();
        assert!(!made.guessable);
        String::from_utf8(text[..made.len].to_vec()).unwrap()
    }

    #[test]
    fn every_format_makes_ids_of_its_own_length() {
        for (format, length) in [
            ("txid", 20),
            ("strong", 20),
            ("uuid_v1", 36),
            ("uuid_v4", 36),
            ("uuid_v7", 36),
            ("flake", 22),
            ("unique_id", 27),
            ("trace_id", 32),
            ("otel_trace_id", 32),
            ("traceparent", 55),
        ] {
            let maker = Maker::parse(format, []).unwrap();
            let ids: HashSet<String> = (0..1000).map(|_| make(&maker)).collect();
            assert_eq!(ids.len(), 1000, "{format}");
            assert!(ids.iter().all(|id| id.len() == length), "{format}");
        }
        assert_eq!(make(&Maker::parse("unique_id_short", ["address=10.0.0.7"]).unwrap()).len(), 24);
        assert!(make(&Maker::parse("trace_host_id", ["address=10.0.0.7"]).unwrap()).contains("0a000007"));
        assert!(make(&Maker::parse("skywalking", []).unwrap()).parse::<SkyWalking>().is_ok());
    }

    #[test]
    fn a_leased_node_is_the_one_of_the_lease() {
        let directory = Directory::new("maker");
        let path = directory.file();
        let state = format!("state={}", path.display());
        let parse = || Maker::parse("snowflake", ["node=lease", &state]);
        let error = parse().unwrap_err().to_string();
        assert!(error.ends_with("does not exist; txid-agent makes it, so start that first, with --node"), "{error}");
        let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        let (maker, now_ms) = (parse().unwrap(), crate::source::clock::system_ms());
        assert!(matches!(maker.write_by(now_ms, &mut [0; Maker::MAX_LEN]), Err(NoId::Snowflake(Refusal::Unleased(_)))));
        page.open(17, now_ms);
        page.set_limit(17, now_ms + 60_000);
        assert_eq!(Layout::SNOWFLAKE.decode(make(&maker).parse().unwrap()).unwrap().node, 17);
    }

    #[test]
    fn a_trial_makes_no_file_and_checks_one_that_is_there() {
        let directory = Directory::new("trial");
        let path = directory.file();
        let (state, below) = (format!("state={}", path.display()), format!("state={}/a/b", path.display()));
        let trial = |node, state: &str| Maker::parse_on_trial("snowflake", [node, state]).map(|maker| make(&maker));
        assert!(trial("node=17", &state).is_ok());
        assert!(!path.exists());
        assert!(trial("node=1024", &state).is_err());
        Maker::parse("snowflake", ["node=17", &state]).unwrap();
        assert!(trial("node=17", &state).is_ok());
        assert!(trial("node=18", &state).unwrap_err().to_string().contains("17"));
        // Not a directory.
        assert!(trial("node=17", &below).is_err());
    }

    #[test]
    fn without_options_only_formats_that_need_none_are_offered() {
        let error = Maker::named("UUID_V7").unwrap_err().to_string();
        assert!(error.starts_with("\"UUID_V7\" is not a format; the formats are txid, strong, "), "{error}");
        assert!(error.contains("uuid_v7") && !error.contains("snowflake"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, options, expected) in [
            ("ulid", &[][..], "\"ulid\" is not a format; the formats are txid, "),
            ("TXID", &[], "\"TXID\" is not a format"),
            ("sofa", &[], "\"sofa\" is not a format"),
            ("txid", &["node=1"], "txid takes no options, but got \"node=1\""),
            ("flake", &["node=02:42:ac:11:00:02"], "flake takes no options"),
            ("snowflake", &["nod=1"], "\"nod=1\" is not an option of snowflake, which takes node=, state=, layout="),
            ("snowflake", &["node"], "node '' is not an integer"),
            ("snowflake", &["node=1", "node=2"], "node= was given twice"),
            ("snowflake", &["state=/run/a"], "node= is missing"),
            ("snowflake", &["node=1"], "state= is missing"),
            ("snowflake", &["node=1", "state=a"], "state \"a\" is not an absolute path"),
            ("snowflake", &["layout=a", "node=1", "state=/run/a"], "layout 'a'"),
            ("unique_id_short", &["address=::1"], "address \"::1\" is not an IP address that"),
            ("trace_host_id", &["address=localhost"], "address \"localhost\" is not an IP address that"),
        ] {
            let error = Maker::parse(format, options.iter().copied()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
