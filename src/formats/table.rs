//! The formats: how their texts are built, and what their bits are.
//!
//! A text is a list of parts. A number is digits of an alphabet, and a list of fields from the highest bit on. All that reads
//! ids follows from this: to add a format, add a row.

use super::row::*;
use super::time::holds;
use crate::make::{
    self, flake, ksuid, nanoid, segment, skywalking, snowflake, sofa, trace_id, txid, typeid, ulid, unique_id, xid,
};
use crate::trace::{b3, traceparent};

/// The alphabets.
static BASE32: Digits =
    Digits::both_cases("base32hex", b"0123456789abcdefghijklmnopqrstuv", "base32hex").decoded_by(Decoder::Twenty);
static LOWER_BASE32: Digits =
    Digits::one_case("lower_base32hex", BASE32.alphabet, "lower-case base32hex").decoded_by(Decoder::Twenty);
static CROCKFORD: Digits = Digits::both_cases("crockford", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", "Crockford's base32");
static LOWER_CROCKFORD: Digits =
    Digits::one_case("lower_crockford", b"0123456789abcdefghjkmnpqrstvwxyz", "lower-case base32 of Crockford");
static BASE62: Digits =
    Digits::one_case("base62", b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "base62");
static BASE36: Digits = Digits::both_cases("base36", LOWER_BASE36.alphabet, "base36");
static LOWER_BASE36: Digits =
    Digits::one_case("lower_base36", b"0123456789abcdefghijklmnopqrstuvwxyz", "lower-case base36");
static LOWER_HEX: Digits = Digits::one_case("lower_hex", b"0123456789abcdef", "lower-case hexadecimal");
static HEX: Digits = Digits::both_cases("hex", LOWER_HEX.alphabet, "hexadecimal");
static DECIMAL: Digits = Digits::one_case("decimal", b"0123456789", "a digit");
static APACHE_OLDER: Digits = Digits::one_case(
    "apache_older",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@-",
    "of Apache's base64",
);
static APACHE: Digits = Digits::one_case(
    "apache",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "of Apache's base64",
)
.or(b'@', &APACHE_OLDER);
static PUSH: Digits =
    Digits::one_case("push", b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", "one of -0-9A-Z_a-z");
static WORD: Digits = Digits::one_case("word", APACHE.alphabet, "one of A-Za-z0-9_-");
static PREFIX: Digits = Digits::one_case("prefix", b"abcdefghijklmnopqrstuvwxyz_", "a lower-case letter");
static SAMPLING: Digits = Digits::one_case("sampling", b"01d", "one of 0, 1 and d");

/// A list that lives as long as the program.
macro_rules! list {
    ($($item:expr),* $(,)?) => { const { &[$($item),*] } };
}

/// The fields of a number that has a time, with what that counts.
macro_rules! timed {
    ($clock:expr; $($field:expr),*) => { list![Fields::timed($clock, list![$($field),*])] };
}

/// The fields of a number without a time.
macro_rules! untimed {
    ($($field:expr),*) => { list![Fields::untimed(list![$($field),*])] };
}

/// The rows, and the list of all. A row has its names, what is known of it, and its texts: the weight of each, and its parts.
macro_rules! rows {
    ($(
        $(#[$doc:meta])*
        $row:ident $name:literal, $title:literal, $about:literal {
            $(make $make:expr;)? $(length $length:literal;)? $(usual $usual:expr;)? $(since $since:expr;)? $(sorts $sorts:ident;)?
            $(rule $rule:ident;)?
            $($weight:literal => [$($part:expr),*] $(.$change:ident($($with:expr)?))*;)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[allow(clippy::needless_update, reason = "some rows have all")]
            pub(crate) static $row: Format = Format {
                name: $name,
                title: $title,
                about: $about,
                $(make: Some($make),)?
                texts: list![$(Text::of($weight, list![$($part),*])$(.$change($($with)?))*),*],
                $(length: $length,)?
                $(usual: Some($usual),)?
                $(since_ms: $since,)?
                $(sorts: Some(Texts::$sorts),)?
                $(rule: Some(Rule::$rule),)?
                // Code for this row alone: many texts are read to find which one they fit.
                holds: holds::<$row>,
                ..ROW
            };

            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the name of the row")]
            pub(crate) enum $row {}

            impl Row for $row {
                const FORMAT: &'static Format = &$row;
            }
        )*

        /// All formats. Of equally likely readings, the first comes first.
        pub static ALL: &[&Format] = &[$(&$row),*];
    };
}

const _: () = {
    let mut at = 0;
    while at < ALL.len() {
        check(ALL[at]);
        at += 1;
    }
};

/// The first millisecond of a year from 1970 on.
const fn year(year: i64) -> i64 {
    ((year - 1970) * 365 + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400) * 86_400_000
}

/// Counts of 100 ns since 1582-10-15.
const GREGORIAN: Clock = Clock { per_unit: 10_000, epoch_ms: -12_219_292_800_000, ..MILLISECONDS };
const SINCE_2014_05_13: Clock = Clock { epoch_ms: 1_400_000_000_000, ..SECONDS };
/// Ten thousands of a millisecond are the sequence.
const OF_SKYWALKING: Clock = Clock { per_unit: 10_000, rest: Some("sequence"), ..MILLISECONDS };

/// What the numbers of UUIDs, and those of TypeIDs, show besides. The version is within the variant.
const OF_UUIDS: &[(u32, Field)] = list![(76, int("version", 4)), (61, shown(Kind::Variant, "variant", 3))];
const OF_TYPEIDS: &[(u32, Field)] = list![(0, shown(Kind::Uuid, "uuid", 128))];

const V1: Fields = Fields::timed(
    GREGORIAN,
    list![
        time_at(0, "low", 32),
        time_at(32, "mid", 16),
        is("version", 4, 1),
        time_at(48, "high", 12),
        is("variant", 2, 2),
        bits("sequence", 14),
        bits("node", 48).node(),
    ],
);
const V4: Fields = Fields::untimed(list![
    bits("random", 48),
    is("version", 4, 4),
    bits("random", 12),
    is("variant", 2, 2),
    bits("random", 62)
]);
const V6: Fields = Fields::timed(
    GREGORIAN,
    list![
        time_at(12, "time", 48),
        is("version", 4, 6),
        time_at(0, "time", 12),
        is("variant", 2, 2),
        bits("sequence", 14),
        bits("node", 48).node(),
    ],
);
const V7: Fields = Fields::timed(
    MILLISECONDS,
    list![time(48), is("version", 4, 7), bits("random", 12), is("variant", 2, 2), bits("random", 62)],
);
const ANY: Fields = Fields::untimed(list![bits("bits", 128)]);
const OF_XRAY: Fields = Fields::timed(SECONDS, list![time(32), hexa("random", 96)]);

const fn uuid(fields: &'static [Fields]) -> Part {
    part(grouped(&HEX, "........-....-....-....-............", fields).or_else("the UUID has another version"))
}

const fn typeid(fields: &'static [Fields]) -> Part {
    part(number(&LOWER_CROCKFORD, 26, fields))
}

/// 32 hexadecimal digits.
const fn trace(fields: &'static [Fields]) -> Number {
    number(&LOWER_HEX, 32, fields)
}

/// The id of a span, which is not all zeros.
const fn span(fields: &'static [Fields]) -> Number {
    number(&LOWER_HEX, 16, fields).nonzero("a span id must not be all zeros")
}

const NO_TRACE: &str = "a trace id must not be all zeros";
const TRACE: Part = part(trace(untimed![hexa("trace_id", 128)]).nonzero(NO_TRACE));
const HALF_A_TRACE: Part = part(number(&LOWER_HEX, 16, untimed![hexa("trace_id", 64)]).nonzero(NO_TRACE));
const SPAN: Part = part(span(untimed![hexa("span_id", 64)]));
const PARENT: Part = part(span(untimed![hexa("parent_span_id", 64)]));
const SAMPLED: Part = Part::Word(word("sampled", &SAMPLING, 1, 1));
const DASH: Part = Part::Literal(b'-');
const DOT: Part = Part::Literal(b'.');

const ADDRESS: Part = part(number(&LOWER_HEX, 8, untimed![shown(Kind::Ip, "address", 32).node()]));
const TIME_OF_13_DIGITS: Part = part(number(&DECIMAL, 13, timed![MILLISECONDS; time(44)]));

rows! {
    /// lua-resty-txid made its first ids in 2015.
    TXID "txid", "txid", "20 characters that sort by time" {
        make txid::MAKE; length "an id has 20"; since year(2015); sorts InOneCase;
        92 => [part(number(&BASE32, 20, timed![MILLISECONDS; time(42), hexa("random", 54)]).padded(4, "'0' or 'g'"))];
    }
    STRONG "strong", "strong txid", "the same, with randomness that was never in memory before" {
        make txid::STRONG;
    }
    UUID_V1 "uuid_v1", "UUID version 1", "a UUID of RFC 9562 with the time and a random node" {
        make make::uuid::V1; length "a UUID has 36"; since GREGORIAN.epoch_ms;
        122 => [uuid(list![V1.showing(OF_UUIDS)])];
    }
    UUID_V4 "uuid_v4", "UUID version 4", "a random UUID" {
        make make::uuid::V4; length "a UUID has 36";
        122 => [uuid(list![V4.showing(OF_UUIDS)])];
    }
    UUID_V6 "uuid_v6", "UUID version 6", "version 1 with its time in order" {
        length "a UUID has 36"; since GREGORIAN.epoch_ms; sorts InOneCase;
        122 => [uuid(list![V6.showing(OF_UUIDS)])];
    }
    UUID_V7 "uuid_v7", "UUID version 7", "a UUID that sorts by time" {
        make make::uuid::V7; length "a UUID has 36"; since 0; sorts InOneCase;
        112 => [uuid(list![V7.showing(OF_UUIDS)])];
    }
    /// By this name, any UUID is read.
    UUID "uuid", "UUID", "any other UUID" {
        length "a UUID has 36";
        122 => [uuid(list![
            V1.showing(OF_UUIDS).elsewhere(),
            V4.showing(OF_UUIDS).elsewhere(),
            V6.showing(OF_UUIDS).elsewhere(),
            V7.showing(OF_UUIDS).elsewhere(),
            ANY.showing(OF_UUIDS),
        ])];
    }
    /// Its sequence runs on, so its end says nothing of a millisecond.
    FLAKE "flake", "flake", "128 bits in base62, 22 characters that sort by time" {
        make flake::MAKE; length "a flake has 22"; since year(2012); sorts AsTheyAre;
        102 => [part(number(&BASE62, 22,
            timed![MILLISECONDS; time(64), shown(Kind::Mac, "node", 48).node(), int("sequence", 16)]))];
    }
    ULID "ulid", "ULID", "ULID, 26 characters that sort by time" {
        make ulid::MAKE; length "a ULID has 26"; since year(2016); sorts InOneCase;
        118 => [part(number(&CROCKFORD, 26, timed![MILLISECONDS; time(48), hexa("random", 80)]))];
    }
    KSUID "ksuid", "KSUID", "KSUID, 27 characters that sort by their second" {
        make ksuid::MAKE; length "a KSUID has 27"; since SINCE_2014_05_13.epoch_ms; sorts AsTheyAre;
        156 => [part(number(&BASE62, 27, timed![SINCE_2014_05_13; time(32), hexa("payload", 128)]))];
    }
    XID "xid", "xid", "xid of zerolog and rs/xid, 20 characters that sort by their second" {
        make xid::MAKE; length "an xid has 20"; since year(2012); sorts AsTheyAre;
        92 => [part(number(&LOWER_BASE32, 20,
            timed![SECONDS; time(32), hexa("machine", 24).node(), int("pid", 16).node(), int("counter", 24)])
            .padded(4, "'0' or 'g'"))];
    }
    NANOID "nanoid", "Nano ID", "Nano ID, 21 random characters" {
        make nanoid::MAKE; length "a Nano ID has 21";
        126 => [Part::Word(Word { name: None, ..word("", &WORD, 21, 21) })];
    }
    OBJECTID "objectid", "ObjectId", "ObjectId of MongoDB" {
        length "an ObjectId has 24"; since year(2009); sorts InOneCase;
        93 => [part(number(&HEX, 24, timed![SECONDS; time(32), hexa("random", 40).node(), int("counter", 24)]))];
    }
    /// Without a prefix, it is rather a ULID in lower case, unless its UUID is of the version that nearly all have.
    TYPEID "typeid", "TypeID", "TypeID, a UUID with a prefix" {
        make typeid::MAKE; length "a TypeID has 26, or 28 to 90"; usual [26, 26]; since 0; sorts Unsorted;
        112 => [Part::Word(word("prefix", &PREFIX, 0, 0)), typeid(list![
            V7.showing(OF_TYPEIDS),
            V1.showing(OF_TYPEIDS).rarely(32),
            V6.showing(OF_TYPEIDS).rarely(32),
            ANY.showing(OF_TYPEIDS).rarely(32),
        ])];
        112 => [
            Part::Word(word("prefix", &PREFIX, 1, 63).not_around(b'_', "the prefix begins or ends with '_'")),
            Part::Literal(b'_'),
            typeid(list![V7.showing(OF_TYPEIDS), V1.showing(OF_TYPEIDS), V6.showing(OF_TYPEIDS), ANY.showing(OF_TYPEIDS)])
        ];
    }
    CUID "cuid", "CUID", "CUID of version 1, 25 characters that sort by time" {
        length "a CUID has 25"; since year(2012); sorts AsTheyAre;
        121 => [
            Part::Literal(b'c'),
            part(number(&LOWER_BASE36, 8, timed![MILLISECONDS; time(42)])),
            part(number(&LOWER_BASE36, 4, untimed![shown(Kind::Digits, "counter", 21)])),
            part(number(&LOWER_BASE36, 4, untimed![shown(Kind::Digits, "fingerprint", 21)])),
            part(number(&LOWER_BASE36, 8, untimed![shown(Kind::Digits, "random", 42)]))
        ];
    }
    SCRU128 "scru128", "SCRU128", "SCRU128, 25 characters that sort by time" {
        length "a SCRU128 id has 25"; since year(2022); sorts InOneCase;
        117 => [part(number(&BASE36, 25, timed![MILLISECONDS; time(48), int("counter_hi", 24), int("counter_lo", 24), hexa("random", 32)]))];
    }
    PUSHID "pushid", "push id", "push id of Firebase, 20 characters that sort by time" {
        length "a push id has 20"; since year(2012); sorts AsTheyAre;
        111 => [part(number(&PUSH, 20, timed![MILLISECONDS; time(48), hexa("random", 72)]))];
    }
    /// By httpd 2.4.29. Its alphabet is not in the order of ASCII. A thread is the number of a connection.
    UNIQUE_ID "unique_id", "Apache UNIQUE_ID", "Apache's current UNIQUE_ID, 27 characters" {
        make unique_id::LONG; length "a UNIQUE_ID has 24 or 27"; since 1_506_816_000_000;
        149 => [part(number(&APACHE, 27, timed![SECONDS;
            time(32), hexa("random", 80), int("counter", 16), int("thread", 32).rarely_above(0xff_ffff, 32)])
            .padded(2, "one of AEIMQUYcgkosw048"))];
    }
    /// By Apache 1.3. No host has an address above 223.255.255.255, and no process of Linux a number above 2^22. The threads of the
    /// ids that are made here are large.
    UNIQUE_ID_SHORT "unique_id_short", "Apache UNIQUE_ID", "Apache's older UNIQUE_ID, 24 characters with the host's address" {
        make unique_id::SHORT; length "a UNIQUE_ID has 24 or 27"; since year(1998);
        116 => [part(number(&APACHE_OLDER, 24, timed![SECONDS;
            time(32), shown(Kind::Ip, "address", 32).rarely_above(0xdfff_ffff, 32), int("pid", 32).rarely_above(0x40_0000, 32),
            int("counter", 16), int("thread", 32).rarely_above(0xffff, 17)]))];
    }
    /// A random id rarely has such a small sequence, and a thread rarely makes more ids in a millisecond.
    TRACE_ID "trace_id", "time-ordered trace id", "a trace id that sorts by time, 32 hexadecimal digits" {
        make trace_id::ID; length "a trace id has 32"; since year(2015); sorts AsTheyAre;
        117 => [part(trace(timed![MILLISECONDS;
            time(41), int("sequence", 23).sequence().rarely_above(0xfff, 13), hexa("random", 64)]))];
    }
    /// Nothing tells a host from random bits.
    TRACE_HOST_ID "trace_host_id", "time-ordered trace id with a host", "the same, with the host's address" {
        make trace_id::HOST_ID; length "a trace id has 32"; since year(2015); sorts AsTheyAre;
        131 => [part(trace(timed![MILLISECONDS;
            time(41), int("sequence", 23).sequence(), shown(Kind::Ip, "host", 32).node(), hexa("random", 32)]))];
    }
    OTEL_TRACE_ID "otel_trace_id", "OpenTelemetry trace id", "a random trace id of OpenTelemetry, 32 hexadecimal digits" {
        make trace_id::OTEL_ID; length "a trace id has 32";
        128 => [part(trace(untimed![bits("random", 128)]).nonzero(NO_TRACE))];
    }
    SPAN_ID "span_id", "span id", "a random span id of OpenTelemetry, 16 hexadecimal digits" {
        make trace_id::SPAN_ID; length "a span id has 16";
        64 => [part(span(untimed![bits("random", 64)]))];
    }
    TRACEPARENT "traceparent", "W3C traceparent", "the W3C's header of a new trace" {
        make traceparent::MAKE; length "a traceparent has 55 or more"; usual [55, 55]; rule Traceparent;
        192 => [
            part(number(&LOWER_HEX, 2, untimed![bits("version", 8)])), DASH, TRACE, DASH,
            part(span(untimed![hexa("span_id", 64)]).nonzero("a parent id must not be all zeros")), DASH,
            part(number(&LOWER_HEX, 2, untimed![bits("0", 6), shown(Kind::Flag, "random", 1), shown(Kind::Flag, "sampled", 1)])),
            Part::Rest
        ];
    }
    /// A process id has at most seven digits on Linux.
    SOFA "sofa", "SOFATracer id", "a trace id of SOFATracer, with the host's address" {
        make sofa::MAKE; length "a SOFATracer id has 26 to 35"; usual [26, 32]; since year(2012);
        105 => [
            ADDRESS, TIME_OF_13_DIGITS,
            part(number(&DECIMAL, 4, untimed![int("sequence", 14).within(1000, 9000, "the sequence is not from 1000 to 9000")])),
            part(range_of_digits(&DECIMAL, 1, 10, untimed![int("pid", 32).node()])
                .too_large("the process id has more than 32 bits"))
        ];
    }
    SKYWALKING "skywalking", "SkyWalking id", "a trace id of SkyWalking" {
        make skywalking::MAKE; length "a SkyWalking id has 36 to 64"; usual [50, 60]; since year(2015);
        180 => [
            part(trace(untimed![hexa("instance", 128)])), DOT,
            part(range_of_digits(&DECIMAL, 1, 29, untimed![int("thread", 32)]).too_large("the thread has more than 32 bits")), DOT,
            part(range_of_digits(&DECIMAL, 1, 29, timed![OF_SKYWALKING; time(64)]))
        ].at_most(64);
    }
    /// Nothing tells 32 digits from random ones but a time that can be.
    XRAY "xray", "X-Ray trace id", "a trace id of AWS X-Ray" {
        length "an X-Ray trace id has 35 or 32"; usual [35, 35]; since 1_480_550_400_000; sorts Unsorted;
        124 => [part(grouped(&LOWER_HEX, "1-........-........................", list![OF_XRAY]).nonzero(NO_TRACE))];
        129 => [part(trace(list![OF_XRAY]).nonzero(NO_TRACE))].written_as_the_first();
    }
    DATADOG "datadog", "Datadog trace id", "a trace id of Datadog, 32 hexadecimal digits" {
        length "a trace id has 32"; since year(2022); sorts AsTheyAre;
        91 => [part(trace(timed![SECONDS; time(32), is("0", 32, 0), hexa("random", 64)])
            .nonzero(NO_TRACE).or_else("the characters 9 to 16 are not zeros"))];
    }
    EAGLEID "eagleid", "EagleId", "EagleId of Tengine and Alibaba's CDN" {
        length "an EagleId has 26"; since year(2012);
        83 => [
            ADDRESS, TIME_OF_13_DIGITS, part(number(&DECIMAL, 4, untimed![int("sequence", 14)])), Part::Literal(b'e')
        ];
    }
    B3 "b3", "b3", "Zipkin's header of a new trace" {
        make b3::MAKE; length "a b3 header has 1, 33, 35, 49, 51, 52 or 68"; usual [33, 68];
        192 => [TRACE, DASH, SPAN];
        192 => [TRACE, DASH, SPAN, DASH, SAMPLED];
        192 => [TRACE, DASH, SPAN, DASH, SAMPLED, DASH, PARENT];
        192 => [HALF_A_TRACE, DASH, SPAN];
        192 => [HALF_A_TRACE, DASH, SPAN, DASH, SAMPLED];
        192 => [HALF_A_TRACE, DASH, SPAN, DASH, SAMPLED, DASH, PARENT];
        192 => [SAMPLED];
    }
    /// When Twitter announced them. Mastodon counts from 1970. A number with fewer digits is rarely an id, unless somebody
    /// chose its layout.
    SNOWFLAKE "snowflake", "snowflake", "64-bit numbers that sort by time" {
        make snowflake::MAKE; length "a 64-bit id has 15 to 19"; usual [15, 19]; since 1_275_350_400_000; sorts Unsorted;
        rule Layout;
        60 => [part(range_of_digits(&DECIMAL, 0, usize::MAX, untimed![bits("layout", 64)]))];
    }
    /// Nothing tells them from other numbers.
    SEGMENT "segment", "number of a segment", "small numbers from a database" {
        make segment::MAKE;
    }
}
