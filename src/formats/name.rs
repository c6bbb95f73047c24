//! Formats by their names, with options, and how their ids are made.

use super::anatomy::Numbers;
use super::rank::{Rank, is_near};
use super::row::{Format, Holds};
use super::table::ALL;
use crate::maker::{Make, Maker, MakerError, epoch_ms};
use crate::snowflake::{Layout, LayoutError};
use std::ffi::OsStr;

/// The format of this name.
///
/// ```
/// assert_eq!(txid::formats::named("uuid_v7").unwrap().title, "UUID version 7");
/// ```
pub fn named(name: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| is_same(format.name, name))
}

/// Whether this is a format's name, with `-` or `_`. Configurations have the one, and the command the other.
#[inline]
fn is_same(known: &str, name: &str) -> bool {
    known.len() == name.len()
        && known.bytes().zip(name.bytes()).all(|(known, byte)| known == byte || known == b'_' && byte == b'-')
}

impl Format {
    /// Prepares to make ids, with these options.
    ///
    /// ```
    /// let format = txid::formats::named("sofa").unwrap();
    /// let maker = format.maker([("address", "10.0.0.7".as_ref())])?;
    /// let mut text = [0; txid::Maker::MAX_LEN];
    /// let made = maker.write_by(txid::system_ms(), &mut text)?;
    /// assert!(text[..made.len].starts_with(b"0a000007"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn maker<'a>(&self, options: impl IntoIterator<Item = (&'a str, &'a OsStr)>) -> Result<Maker, MakerError> {
        let make = self.make.as_ref().ok_or(MakerError::OnlyRead(self.name))?;
        make.maker(self.name, make.options, options, false)
    }
}

impl Maker {
    /// Makes a maker of the format of this name. Options may be in the name, as in `nanoid(length=10)`. Names have `-` or `_`.
    ///
    /// ```
    /// use txid::Maker;
    ///
    /// assert!(Maker::builder("uuid-v7").build().is_ok());
    /// assert!(Maker::builder("nanoid(length=10)").build().is_ok());
    /// let error = Maker::builder("snowflake").options(["node=1024", "state=/run/a"]).build().unwrap_err();
    /// assert_eq!(error.to_string(), "node '1024' is not an integer from 0 to 1023, the layout's range");
    /// ```
    pub fn builder(format: &str) -> MakerBuilder<'_> {
        MakerBuilder { spec: format, options: Vec::new(), is_copy: false, is_bare: false, is_trial: false }
    }
}

/// A [`Maker`] to be. [`Maker::builder`] begins one.
pub struct MakerBuilder<'a> {
    spec: &'a str,
    options: Vec<&'a str>,
    is_copy: bool,
    is_bare: bool,
    is_trial: bool,
}

impl<'a> MakerBuilder<'a> {
    /// Adds options such as `address=10.0.0.7`.
    pub fn options(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.options.extend(options);
        self
    }

    /// For a program that has several copies of this library, as nginx with several modules has: they would repeat each
    /// other's SOFATracer ids, and the flakes and UUIDs of version 1 of one node, which are then refused.
    ///
    /// ```
    /// let builder = || txid::Maker::builder("sofa(address=10.0.0.7)");
    /// assert!(builder().build().is_ok());
    /// assert!(builder().beside_copies().build().is_err());
    /// ```
    pub fn beside_copies(mut self) -> Self {
        self.is_copy = true;
        self
    }

    /// For a place where options can only be in the name: an error then says where they go, and lists the formats that need
    /// none.
    ///
    /// ```
    /// let error = txid::Maker::builder("snowflake").by_name_alone().build().unwrap_err();
    /// assert_eq!(error.to_string(), "snowflake needs options, such as snowflake(node=VALUE)");
    /// ```
    pub fn by_name_alone(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// Only tries the options, as `nginx -t` does: no file is made. A state without a file is one in memory.
    ///
    /// ```
    /// let builder = txid::Maker::builder("snowflake").options(["node=17", "state=/nonexistent/state"]);
    /// assert!(builder.on_trial().build().is_ok());
    /// assert!(!std::path::Path::new("/nonexistent").exists());
    /// ```
    pub fn on_trial(mut self) -> Self {
        self.is_trial = true;
        self
    }

    /// The maker.
    ///
    /// # Errors
    ///
    /// The name and the options are checked here, and the state of a 64-bit id is opened.
    pub fn build(self) -> Result<Maker, MakerError> {
        let (offered, spec, is_bare) = (if self.is_copy { beside_copies } else { anywhere }, self.spec, self.is_bare);
        let bare = |name| Self { spec: name, options: Vec::new(), ..self };
        let (name, given) = split_spec(spec);
        let Some((format, make, known)) = makes(offered).find(|(known, ..)| is_same(known, name)) else {
            let mut known: Vec<_> = makes(offered).map(|(name, ..)| name).collect();
            known.retain(|name| !is_bare || bare(name).build().is_ok());
            return Err(MakerError::NoFormat { name: name.to_string(), known });
        };
        let in_the_name = options_in(given, known);
        let options = in_the_name.into_iter().chain(self.options).map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            (name, value.as_ref())
        });
        match make.maker(format, known, options, self.is_trial) {
            Err(MakerError::Missing { option, .. }) if is_bare && given.is_none() => {
                Err(MakerError::NeedsOptions { format, option })
            }
            maker => maker,
        }
    }
}

/// The name of a format, how it is made, and the options that are offered.
type Found = (&'static str, &'static Make, &'static [&'static str]);

/// The options of a format that is offered.
type Offered = fn(&Make) -> Option<&'static [&'static str]>;

fn beside_copies(make: &Make) -> Option<&'static [&'static str]> {
    make.beside_copies
}

fn anywhere(make: &Make) -> Option<&'static [&'static str]> {
    Some(make.options)
}

/// The formats that are made, of those that are offered.
fn makes(offered: Offered) -> impl Iterator<Item = Found> {
    ALL.iter().filter_map(move |format| {
        let make = format.make.as_ref()?;
        Some((format.name, make, offered(make)?))
    })
}

/// The name and the text of the options of `name(option=value,option=value)`; without parentheses, there are none.
fn split_spec(spec: &str) -> (&str, Option<&str>) {
    match spec.strip_suffix(')').and_then(|spec| spec.split_once('(')) {
        Some((name, options)) => (name, Some(options)),
        None => (spec, None),
    }
}

/// The options in parentheses. A comma ends one only if the name of another follows, because some values have commas.
fn options_in<'a>(given: Option<&'a str>, known: &'static [&'static str]) -> Vec<&'a str> {
    let Some(mut rest) = given.filter(|options| !options.is_empty()) else { return Vec::new() };
    let begins_one = |text: &str| text.split_once('=').is_some_and(|(name, _)| known.contains(&name));
    let mut options = Vec::new();
    while let Some((comma, _)) = rest.match_indices(',').find(|(comma, _)| begins_one(&rest[comma + 1..])) {
        options.push(&rest[..comma]);
        rest = &rest[comma + 1..];
    }
    options.push(rest);
    options
}

/// Ids of one format, whose times are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    format: &'static Format,
    numbers: Numbers,
    epoch_ms: i64,
}

impl Timed {
    /// Reads `name(option=value,...)`. Of the options, `layout` and `epoch` count. None if the format has no time.
    pub(crate) fn parse(spec: &str) -> Result<Option<Self>, MakerError> {
        let (name, given) = split_spec(spec);
        let known = || ALL.iter().filter(|format| format.has_a_time()).map(|format| format.name).collect();
        let format = named(name).ok_or_else(|| MakerError::NoFormat { name: name.to_string(), known: known() })?;
        let options = options_in(given, format.make.map_or(&["layout"], |make| make.options));
        let value = |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        let layout = match value("layout") {
            Some(text) => text.parse().map_err(MakerError::state::<LayoutError>)?,
            None => Layout::SNOWFLAKE,
        };
        let epoch_ms = value("epoch").map_or(Ok(0), epoch_ms)?;
        let numbers = Numbers { layout, is_chosen: true };
        Ok(format.has_a_time().then_some(Self { format, numbers, epoch_ms }))
    }

    /// What a text holds, with its time since 1970, if it is an id of the format.
    fn holds(&self, text: &[u8]) -> Option<Holds> {
        let holds = (self.format.holds)(text, &self.numbers)?;
        Some(Holds { ms: Some(holds.ms?.saturating_add(self.epoch_ms)), ..holds })
    }

    /// The time in a text, if it is an id of the format.
    pub(crate) fn ms(&self, text: &[u8]) -> Option<i64> {
        self.holds(text)?.ms
    }

    /// The time in a text, unless it cannot be, and how likely the reading is.
    pub(crate) fn likely_ms(&self, text: &[u8], now_ms: i64) -> Option<(u32, i64)> {
        let rank = Rank::of(self.format, self.holds(text)?, now_ms);
        Some((rank.bits, rank.ms?)).filter(|_| rank.unlikely.is_none())
    }
}

/// The time of the likeliest reading as one of these formats, if no other of them with another time is nearly as likely.
pub(crate) fn certain_ms_of(formats: &[Timed], text: &[u8], now_ms: i64) -> Option<i64> {
    let readings = || formats.iter().filter_map(|format| format.likely_ms(text, now_ms));
    let (least, ms) = readings().min()?;
    readings().all(|(bits, other)| other == ms || !is_near(bits, least)).then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NotMade;
    use crate::formats::read;
    use crate::snowflake::{LeasePage, Refusal};
    use test_helpers::Directory;

    fn make(maker: &Maker) -> String {
        let mut text = [0; Maker::MAX_LEN];
        let made = maker.write_by(crate::source::clock::system_ms(), &mut text).unwrap();
        assert!(!made.guessable);
        String::from_utf8(text[..made.len].to_vec()).unwrap()
    }

    #[test]
    fn a_format_that_needs_an_option_says_which() {
        let needed = |name| match Maker::builder(name).by_name_alone().build() {
            Err(MakerError::NeedsOptions { option, .. }) => Some(option),
            _ => None,
        };
        assert_eq!(["snowflake", "txid"].map(needed), [Some("node"), None]);
        let with_another = Maker::builder("snowflake(layout=snowflake)").by_name_alone().build();
        assert!(matches!(with_another, Err(MakerError::Missing { option: "node", .. })));
    }

    #[test]
    fn a_name_has_dashes_or_underscores() {
        assert!(["uuid_v7", "uuid-v7"].iter().all(|name| named(name).is_some()));
        assert!(["uuid.v7", "uuid_v-", "uuid_v", "UUID_v7"].iter().all(|name| named(name).is_none()));
    }

    #[test]
    fn a_leased_node_is_the_one_of_the_lease() {
        let directory = Directory::new("maker");
        let path = directory.file();
        let state = format!("state={}", path.display());
        let parse = || Maker::builder("snowflake").options(["node=lease", &state]).build();
        let error = parse().unwrap_err().to_string();
        assert!(error.ends_with("does not exist; txid-agent makes it, so start that first, with --node"), "{error}");
        let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE).unwrap();
        let (maker, now_ms) = (parse().unwrap(), crate::source::clock::system_ms());
        let refused = maker.write_by(now_ms, &mut [0; Maker::MAX_LEN]).unwrap_err();
        assert!(matches!(refused, NotMade::Snowflake(Refusal::Unleased(_))));
        assert!(refused.to_string().ends_with(" has no lease; txid-agent has not reached its store yet"), "{refused}");
        page.open(17, now_ms);
        page.set_limit(17, now_ms + 60_000);
        assert_eq!(Layout::SNOWFLAKE.decode(make(&maker).parse().unwrap()).unwrap().node, 17);
    }

    #[test]
    fn an_id_has_the_node_or_counts_from_the_epoch_that_was_given() {
        let make_with = |format, option| make(&Maker::builder(format).options([option]).build().unwrap());
        assert!(make_with("uuid_v1", "node=02:42:ac:11:00:02").ends_with("-0242ac110002"));
        let counted = make_with("trace_id", "epoch=1970-02-01");
        let ms = read("trace_id", counted.as_bytes(), &Numbers::UNKNOWN).unwrap().unwrap().ms.unwrap();
        assert_eq!((ms - crate::source::clock::system_ms()) / 86_400_000, -31);
    }

    #[test]
    fn a_trial_makes_no_file_and_checks_one_that_is_there() {
        let directory = Directory::new("trial");
        let path = directory.file();
        let (state, below) = (format!("state={}", path.display()), format!("state={}/a/b", path.display()));
        let trial = |node, state: &str| {
            Maker::builder("snowflake").options([node, state]).on_trial().build().map(|maker| make(&maker))
        };
        assert!(trial("node=17", &state).is_ok());
        assert!(!path.exists());
        assert!(trial("node=1024", &state).is_err());
        Maker::builder("snowflake").options(["node=17", &state]).build().unwrap();
        assert!(trial("node=17", &state).is_ok());
        assert!(trial("node=18", &state).unwrap_err().to_string().contains("17"));
        // Not a directory.
        assert!(trial("node=17", &below).is_err());
    }

    #[test]
    fn without_options_only_formats_that_need_none_are_offered() {
        let error = Maker::builder("UUID_V7").by_name_alone().build().unwrap_err().to_string();
        assert!(error.starts_with("\"UUID_V7\" is not a format; the formats are txid, strong, "), "{error}");
        assert!(error.contains("uuid_v7") && !error.contains("snowflake"), "{error}");
    }

    #[test]
    fn a_time_is_read_in_the_layout_and_from_the_epoch_that_were_given() {
        let ms = |spec, text: &str| Timed::parse(spec).unwrap().unwrap().ms(text.as_bytes());
        let number = "1541815603606036480";
        assert_eq!(ms("snowflake", number), Some(1_656_432_460_105));
        assert_eq!(ms("snowflake(layout=discord)", number), Some(1_787_667_885_448));
        assert_eq!(ms("snowflake(node=1,layout=discord,state=/run/a)", number), Some(1_787_667_885_448));
        let commas =
            "snowflake(layout=time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2010-11-04T01:42:54.657Z)";
        assert_eq!(ms(commas, number), Some(1_656_432_460_105));
        let trace = "00b15ec5a5c8000000a1b2c3d4e5f607";
        let day = ms("trace_id", trace).unwrap() + 86_400_000;
        assert_eq!(ms("trace-id(epoch=1970-01-02)", trace), Some(day));
        assert_eq!(ms("txid", "none"), None);
        assert!(Timed::parse("uuid_v4").unwrap().is_none());
        assert!(matches!(Timed::parse("cuid2"), Err(MakerError::NoFormat { .. })));
    }

    #[test]
    fn of_several_formats_one_must_be_likelier() {
        let certain = |specs: &[&str], text: &str, now_ms| {
            let formats: Vec<_> = specs.iter().map(|spec| Timed::parse(spec).unwrap().unwrap()).collect();
            certain_ms_of(&formats, text.as_bytes(), now_ms)
        };
        let (text, made_ms, later_ms) = ("b2fr5nvqg00000000000", 1_522_545_688_554, 1_795_000_000_000);
        let as_an_xid = 1_486_861_023_000;
        assert_eq!(certain(&["txid"], text, later_ms), Some(made_ms));
        assert_eq!(certain(&["xid"], text, later_ms), Some(as_an_xid));
        assert_eq!(certain(&["xid", "txid"], text, made_ms), Some(made_ms));
        assert_eq!(certain(&["xid", "txid"], text, later_ms), None);
        assert_eq!(certain(&["txid", "txid"], text, later_ms), Some(made_ms));
        // A txid of years to come.
        assert_eq!(certain(&["txid"], "dbuodg30ui3e8a215n4g", later_ms), None);
        assert_eq!(certain(&["txid", "ulid"], "none", later_ms), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, options, expected) in [
            ("cuid2", &[][..], "\"cuid2\" is not a format; the formats are txid, "),
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
            let error = Maker::builder(format)
                .options(options.iter().copied())
                .beside_copies()
                .build()
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
