//! The command line of `txid`, and nothing else: its manuals and completions are generated from this.

mod formats;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
pub use formats::{Made, Which, options};
use formats::{made, to_make, with_a_time, with_time};
use std::path::PathBuf;

const TIMES: &str = "\
A TIME is one of:
  2018-04-01T01:21:28.552Z        RFC 3339, with any offset up to 23:59
  01/Apr/2018:01:21:28 +0000      as nginx logs it; without +0000, local time
  'Mar 27 01:21:28'               as syslog has it: the last one before now
  '2018-04-01 01:21:28'           local time, also without seconds
  2018-04-01, 20180401, 2018      midnight of the day, or of 1 January, local time
  today, tomorrow, yesterday      midnight, local time
  'last tuesday'                  midnight of the last Tuesday before today
  10:00, 'yesterday 2:10am'       local time, of today or of that day; 10:00Z is UTC
  10m, -10m, 1h30m, '2 days ago'  before now
  +10m                            after now; in --to, after --from
  @1522545688, 1522545688         seconds since 1970 (10 digits without the @)
  1522545688552                   milliseconds since 1970 (11 to 13 digits)
  now
Local time is that of the variable TZ, or of the system. Second 60 is read as 59.
Times are from 1970-01-01 to 2109-05-15T07:35:11.103Z, the range of a txid.";

const WINDOWS: &str = "\
--from, --to, --around and --in-flight also take an id, for the time in it.

A SPAN is 10m, 1h30m or '2 days'.";

/// Generate and decode ids that sort by time; search, merge and audit logs by them
///
/// Without a command, `txid` generates ids, as `txid new` does.
#[derive(Parser)]
#[command(
    name = "txid",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  txid                                       an id of the current time
  txid -n 5 --at 2018-04-01T01:21:28.552Z    five of that millisecond
  txid inspect b2fr5nvqg00000000000          decode an id
  txid grep --since 10m access.log           the lines of the last ten minutes
  txid sort a.log b.log.gz                   merge two logs by time
  txid audit access.log                      did ids repeat? did a clock go back?"
)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to generate without a command
    #[command(flatten)]
    pub new: New,
}

/// The commands; each has its help below
#[derive(Subcommand)]
#[allow(missing_docs, reason = "clap would take them for the help")]
pub enum Command {
    New(New),
    Inspect(Inspect),
    Range(Range),
    Grep(Box<Grep>),
    Sort(Sort),
    Audit(Audit),
    Key(Key),
    Hide(Hide),
    Reveal(Reveal),
    Completions(Completions),
    Man(Man),
}

/// Generate ids, one per line
#[derive(clap::Args)]
#[command(after_help = format!("{TIMES}

A NAME is one of:
{}

Options may follow it: 'nanoid(length=10)'.

Examples:
  txid new -n 5
  txid new --at '2 days ago'
  txid new --format uuid_v7
  txid new --format snowflake --node 3 --state /var/lib/txid/orders
  txid new --format segment --state /run/txid/invoices.segment -n 5", made()))]
pub struct New {
    /// How many ids to generate
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1)]
    pub count: u64,
    /// Stamp ids with this time instead of the current time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<String>,
    /// The format of the ids
    #[arg(long, value_name = "NAME", value_parser = to_make(), default_value = "txid", hide_possible_values = true)]
    pub format: Made,
    /// For --format snowflake: the node, as a number, env:NAME, ip, hostname, or lease (the one from txid-agent)
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// For --format snowflake: the file that all processes with this node share; it is created if missing. For --format
    /// segment: the file that txid-agent keeps
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// For --format snowflake: snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, or
    /// time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
    /// For --format nanoid: how many characters, 1 to 90 instead of 21
    #[arg(long, value_name = "COUNT")]
    pub length: Option<String>,
    /// For --format nanoid: the characters, 2 to 94 different ones instead of A-Za-z0-9_-
    #[arg(long, value_name = "CHARACTERS", allow_hyphen_values = true)]
    pub alphabet: Option<String>,
    /// For --format typeid: the prefix, 1 to 63 characters of a-z_
    #[arg(long, value_name = "PREFIX")]
    pub prefix: Option<String>,
}

/// Decode ids: format, time (UTC, local, age), fields and bits
///
/// Nothing in an id names its format. If it is valid in several, all are shown, the most likely first. A number is decoded in
/// every known layout, unless --layout is given. Ids are shown in canonical form.
///
/// An argument may also be any text with ids in it, such as a URL, a header or a log line: each id is shown. One without an id
/// is reported on standard error, and the exit status is 1. The others are still printed.
///
/// With --url, prints a link for each id instead, to a log or a trace store, with a time window around the id. In the
/// template, {id} is the id, percent-encoded. {time}, {from} and {to} are RFC 3339; {ms}, {from_ms} and {to_ms}
/// milliseconds since 1970; {s}, {from_s} and {to_s} seconds; {ns}, {from_ns} and {to_ns} nanoseconds. {{ is a brace.
///
/// Named templates are in the file links in the directory txid of XDG_CONFIG_HOME (~/.config), or in the file that
/// TXID_LINKS names: NAME = TEMPLATE on each line.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid inspect b2fr5nvqg00000000000
  txid inspect 'Root=1-58406520-a006649127e371903a2de979;Sampled=1'
  txid -n 3 | txid inspect --json
  tail -f app.log | txid inspect --time
  txid inspect --url 'https://logs.example.com/?from={from_ms}&to={to_ms}&q={id}' b2fr5nvqg00000000000
  txid inspect --url tempo --within 10m b2fr5nvqg00000000000")]
pub struct Inspect {
    /// Ids, or text with ids in it; without any, reads lines from standard input
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Copy standard input, with the time of each line's first id prepended
    #[arg(long, conflicts_with_all = ["ids", "json", "url"])]
    pub time: bool,
    /// Read 64-bit ids in this layout (see txid help new, or mastodon) instead of all
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
    /// Read 64-bit ids with this epoch instead of the layout's
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub epoch: Option<String>,
    /// Print a link for each id, from this template or the one of this name
    #[arg(long, value_name = "TEMPLATE")]
    pub url: Option<String>,
    /// For --url: how long the window is before and after the time of the id
    #[arg(long, value_name = "SPAN", requires = "url", default_value = "1m")]
    pub within: String,
}

/// Which ids to read.
#[derive(clap::Args)]
pub struct Ids {
    /// The formats of the ids, comma-separated, or any
    #[arg(long, value_name = "NAME", value_parser = with_time(), value_delimiter = ',', hide_possible_values = true)]
    pub format: Vec<Which>,
    /// The layout of 64-bit ids, numbers of 15 to 19 digits (see txid help new); implies --format snowflake
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
}

/// A window of time.
#[derive(clap::Args)]
#[group(skip)]
pub struct Window {
    /// The start of the window; --since is the same
    #[arg(long, value_name = "TIME", alias = "since", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// The end of the window, exclusive; --until is the same
    #[arg(long, value_name = "TIME", alias = "until", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// How long the window is, after --from or before --to
    #[arg(long = "for", value_name = "SPAN", allow_hyphen_values = true)]
    pub span: Option<String>,
    /// The middle of the window
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to", "span"], allow_hyphen_values = true)]
    pub around: Option<String>,
    /// How long before and after --around the window is [default: 5s]
    #[arg(long, value_name = "SPAN", allow_hyphen_values = true)]
    pub within: Option<String>,
}

/// Print the first and the last id of a time window, for a query
///
/// The ids of the format must sort by time. Without --to, the window ends now.
#[derive(clap::Args)]
#[command(after_help = format!("{TIMES}
{WINDOWS}

{}

Examples:
  txid range --from 2018-04-01 --to 2018-04-02
  txid range --since 1h --format uuid_v7
  txid range --since 1h --sql request_id --dialect postgresql", with_a_time()))]
pub struct Range {
    /// Which time
    #[command(flatten)]
    pub window: Window,
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Print an SQL condition on this column, for a WHERE clause
    #[arg(long, value_name = "COLUMN", conflicts_with = "json")]
    pub sql: Option<String>,
    /// Write the condition for this database
    #[arg(long, value_name = "NAME", value_enum, requires = "sql")]
    pub dialect: Option<Dialect>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A database, which has its own SQL.
#[derive(Clone, Copy, ValueEnum)]
pub enum Dialect {
    /// PostgreSQL
    Postgresql,
    /// MySQL and MariaDB
    Mysql,
    /// SQLite
    Sqlite,
    /// DuckDB
    Duckdb,
    /// ClickHouse
    Clickhouse,
}

/// Search logs for records in a time window, or that match an id or a pattern
///
/// A record is a line with a timestamp or an id, and the lines after it that have neither, such as a stack trace. An indented
/// line starts one only if its timestamp or id is its first word, or if the previous record is indented. With --lines, each
/// line is one.
///
/// A record matches if an id in its first line has a time in the window. An id has no letter or digit directly before or after
/// it, except in an escape such as \n, \x22, %2F or a color. A line without an id is dated by its timestamp, and with --by line
/// every line is; a summary says how many were. A number is an id only with a --layout; the summary says how many may be ids.
///
/// The timestamp is the first one in a line, as written by nginx, RFC 3339 and the like, syslog, klog, Java, Go, Python or
/// PostgreSQL; in JSON, that of "time", "ts", "@timestamp" or "__REALTIME_TIMESTAMP", also as a Unix time, or a span's start.
/// Without a zone, it is local time; without a year, it is the last such date before the file was modified.
///
/// With -e, a record matches if any of its lines matches PATTERN, in the syntax of https://docs.rs/regex. With --id, it matches
/// if it has this id in any encoding: with dashes, in upper case, as B3, X-Ray or Datadog write it. Neither needs a window.
///
/// Without --from, the window has no start; without --to, no end. If both are times of day and --from is the later one, it is
/// last night. If nothing matches, the window and the time range of the files are reported.
///
/// With --in-flight, a line matches if the time in its id is before TIME, and its timestamp after it.
///
/// With --late, grep seeks to the part of a file that can have lines of the window, and reads only that. It misses no line if
/// lines were appended in order, each at most SPAN after its id was generated.
///
/// Lines are printed as soon as they are read, so the input may be a tail -f. With several files, each line is prefixed with
/// the name of its file. On a terminal, matches are colored, and control characters are escaped, such as \x1b. Input compressed
/// with gzip or zstd is decompressed.
///
/// A file is binary if 1 % of its first 64 KiB are zero bytes: grep only says whether it matches, unless --text is given. Lines
/// longer than 8 MiB are skipped and reported. Memory use stays below 32 MB, plus --before-context's lines and zstd's window.
///
/// The exit status is 0 if a record matches, 1 if none does, and 2 after an error.
#[derive(clap::Args)]
#[command(disable_help_flag = true, after_help = format!("{TIMES}
{WINDOWS}

{}

Examples:
  txid grep --since 10m access.log
  txid grep --from 2018-04-01 --to 2018-04-02 access.log.*.gz
  txid grep --around b2fr5nvqg00000000000 --within 5s -r /var/log/app
  txid grep --from 02:10 --to 02:15 -e timeout app.log
  txid grep --id 4bf92f3577b34da6a3ce929d0e0e4736 *.log
  txid grep --in-flight 12:04 access.log
  txid grep --from 10:00 --for 1m --late 5m huge.log
  txid grep --format uuid_v7,txid --from 10:00 --for 1h --histogram 1m access.log
  tail -f access.log | txid grep --from now", with_a_time()))]
pub struct Grep {
    /// Which time
    #[command(flatten)]
    pub window: Window,
    /// Print lines of requests in flight at this time: started, and not finished
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to", "span", "around"], allow_hyphen_values = true)]
    pub in_flight: Option<String>,
    /// Seek to the window: no line was written later than this after its id was generated
    #[arg(long, value_name = "SPAN", conflicts_with = "in_flight", allow_hyphen_values = true)]
    pub late: Option<String>,
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Date records by their ids, by their timestamps (line), or by a timestamp where there is no id (either)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::Either, hide_possible_values = true)]
    pub by: By,
    /// Treat each line as a record, also without a timestamp or an id
    #[arg(long)]
    pub lines: bool,
    /// Print records that match this regular expression; may be repeated
    #[arg(short = 'e', long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub regexp: Vec<String>,
    /// Print records with this id, in any encoding
    #[arg(long, value_name = "ID", conflicts_with = "regexp")]
    pub id: Vec<String>,
    /// Treat each PATTERN as a literal string, not a regular expression
    #[arg(short = 'F', long, requires = "regexp")]
    pub fixed_strings: bool,
    /// Ignore case in each PATTERN
    #[arg(short, long, requires = "regexp")]
    pub ignore_case: bool,
    /// Match whole words only
    #[arg(short, long, requires = "regexp")]
    pub word_regexp: bool,
    /// Match whole lines only
    #[arg(short = 'x', long, requires = "regexp")]
    pub line_regexp: bool,
    /// Print a histogram: how many records match per SPAN, such as 1m, with bars on a terminal; with -H, per file
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["count", "line_number", "only_matching", "files_with_matches",
        "files_without_match", "quiet", "invert_match", "max_count", "after_context", "before_context", "context"])]
    pub histogram: Option<String>,
    /// Print a JSON object for each record, or for each span of --histogram
    #[arg(long, conflicts_with_all = ["count", "only_matching", "files_with_matches", "files_without_match", "quiet",
        "invert_match", "after_context", "before_context", "context"])]
    pub json: bool,
    /// Print only the number of matching records of each file
    #[arg(short, long)]
    pub count: bool,
    /// Print the number of each line before it
    #[arg(short = 'n', long)]
    pub line_number: bool,
    /// Print only what matches, an id, a time or a PATTERN, each on its own line
    #[arg(short, long)]
    pub only_matching: bool,
    /// Print only the names of the files with a match
    #[arg(short = 'l', long, overrides_with = "files_without_match")]
    pub files_with_matches: bool,
    /// Print only the names of the files without a match
    #[arg(short = 'L', long, overrides_with = "files_with_matches")]
    pub files_without_match: bool,
    /// Print a zero byte after the name of a file instead of : or a newline
    #[arg(short = 'Z', long)]
    pub null: bool,
    /// Print nothing, and exit at the first match
    #[arg(short, long, alias = "silent")]
    pub quiet: bool,
    /// Do not report files that cannot be read, nor the window if nothing matches
    #[arg(short = 's', long)]
    pub no_messages: bool,
    /// Print the records that do not match; without PATTERN, those outside the window
    #[arg(short = 'v', long)]
    pub invert_match: bool,
    /// Stop reading a file after this many records
    #[arg(short, long, value_name = "COUNT")]
    pub max_count: Option<u64>,
    /// Print the file name before each line, even if there is only one file
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    pub with_filename: bool,
    /// Never print file names before lines
    #[arg(short = 'h', long, overrides_with = "with_filename")]
    pub no_filename: bool,
    /// Also print this many lines after each match
    #[arg(short = 'A', long, value_name = "COUNT")]
    pub after_context: Option<usize>,
    /// Also print this many lines before each match
    #[arg(short = 'B', long, value_name = "COUNT")]
    pub before_context: Option<usize>,
    /// Also print this many lines before and after each match
    #[arg(short = 'C', long, value_name = "COUNT")]
    pub context: Option<usize>,
    /// Print ids, names and numbers in colors
    #[arg(long, alias = "colour", value_name = "WHEN", value_enum, num_args = 0..=1, require_equals = true,
        default_value_t = When::Auto, default_missing_value = "auto")]
    pub color: When,
    /// Search directories recursively; without any FILE, the current one
    #[arg(short, long)]
    pub recursive: bool,
    /// With --recursive, search only files whose names match, such as '*.log'
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Search files with zero bytes as if they were text
    #[arg(short = 'a', long)]
    pub text: bool,
    /// Print help (-h is --no-filename)
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
    /// Files to read; - or no file means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// What a line counts by.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum By {
    /// An id, or where there is none the time of the line
    Either,
    /// An id
    Id,
    /// The time of the line
    Line,
}

/// When there are colors.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum When {
    /// On a terminal
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// Merge logs by the ids and timestamps of their lines
///
/// The sort key of a line is its first txid, or else its first id of another format, or else its timestamp; with --format, the
/// first of those ids. Ids of one format that sort by time are compared whole, others by their time. A line without an id or a
/// timestamp stays below the line before it, as in a stack trace, and so does an indented line whose id or timestamp is not its
/// first word; at the top of a file, it comes before all others. The sort is stable. Input compressed with gzip or zstd is
/// decompressed.
///
/// Files that cannot be read and lines longer than 8 MiB are skipped and reported, and the exit status is 2.
///
/// Memory use stays below 128 MB for input of any size. The rest goes to an unnamed file in the temporary directory (TMPDIR),
/// which is gone when the command exits.
#[derive(clap::Args)]
#[command(after_help = format!("{}

Examples:
  txid sort a.log b.log.gz
  txid sort --format uuid_v7,ulid a.log b.log
  txid grep -h --since 1h a.log b.log | txid sort", with_a_time()))]
pub struct Sort {
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Sort by ids, by timestamps (line), or by a timestamp where there is no id (either)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::Either, hide_possible_values = true)]
    pub by: By,
    /// Print the newest id first; lines with the same id keep their order
    #[arg(short, long)]
    pub reverse: bool,
    /// Print only the first of equal lines with the same id
    #[arg(short, long)]
    pub unique: bool,
    /// Write to this file, which may be one of those that are read
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Files to read; - or no file means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Report problems with the ids in logs: duplicates, clocks stepped back, shared nodes, gaps
///
/// Of each line, the first id of each format counts: txids, unless --format names others. A summary says which ids were
/// skipped. A host is a file with its rotated files (its name with .1 or a day), unless --host names a KEY.
///
/// A format with no more ids than false positives would explain is left out, unless --format names it; the summary says so.
///
/// Memory use stays below --memory for input of any size. The rest goes to an unnamed file in the temporary directory (TMPDIR),
/// and so does input that is not a regular file, to show its lines.
///
/// The exit status is 1 if an id repeats, 0 if none does, and 2 after an error or if there is no id.
#[derive(clap::Args)]
#[command(after_help = format!("\
It reports:
  shared nodes  one node generated ids on host A, on B, and on A again within a
                minute. Ids in the logs of both do not count
  repeats       an id is on two lines; with --per, on two lines with different
                values of a KEY; with --per file, on two lines of a file
  steps back    a clock was stepped back: ids of a host become more than 1 s
                older than four before them, and stay so for 16 ids
  future        ids are more than a minute ahead of now
  sequences     90 % or more of a time unit's sequence numbers are used
  gaps          no id for longer than --gap, of all hosts or of one: also from the
                first id of all to that of a host, and to the last
  outliers      up to ten first or last ids are an hour or more from all others:
                gaps and rates exclude them
  rates         ids per second, average and peak, of all hosts and of each

A KEY is one of:
  request       the request line of an access log, or what else has this name
  pod           any name, as in pod=web-1, pod: web-1 or \"pod\":\"web-1\"
  3             a column, from 1

{}

Examples:
  txid audit access.log
  txid audit --per request access.log error.log
  txid audit --per file gateway.log app.json
  txid audit --format snowflake --host pod orders.json
  txid audit --format any --json *.log.gz", with_a_time()))]
pub struct Audit {
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Allow an id on several lines with the same KEY, the first of these that a line has; with file, once in each file
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub per: Vec<String>,
    /// The KEY of the host that generated the ids of a line
    #[arg(long, value_name = "KEY")]
    pub host: Option<String>,
    /// Report gaps longer than this
    #[arg(long, value_name = "SPAN", default_value = "1m")]
    pub gap: String,
    /// How much memory to use, such as 64M or 1G
    #[arg(long, value_name = "SIZE", default_value = "256M")]
    pub memory: String,
    /// How many findings of each kind, and how many hosts, to show
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub show: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Files to read; - or no file means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Generate a key for hidden numbers and UUIDs, or print the check values of keys
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  (umask 077; txid key new > /etc/txid/orders.key)      a file that only its owner may read
  (umask 077; echo \"1 $(txid key new)\" > orders.key)   the key with the digit 1
  txid key check orders.key --name orders --digits 10 --check")]
pub struct Key {
    /// What to do
    #[command(subcommand)]
    pub command: KeyCommand,
}

/// What to do with keys.
#[derive(Subcommand)]
pub enum KeyCommand {
    /// Print a new key
    New,
    /// Print the check value of each key in a file
    ///
    /// A check value does not reveal the key. Hosts with the same value produce the same images: it covers the key, the name, the
    /// length and the check digit. txid-agent's configuration file lists it: key-checks = ["66e94b-767ab6ec"], and for a key with
    /// the digit 1, "1:66e94b-767ab6ec".
    Check(KeyCheck),
}

/// Whose check values are printed.
#[derive(clap::Args)]
pub struct KeyCheck {
    /// The file of keys
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The name of the series
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// How its images look
    #[command(flatten)]
    pub shape: Shape,
}

/// Encrypt numbers or UUIDs: print their images, one per line
///
/// For one without an image, an empty line is printed, the error is reported, and the exit status is 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid hide --key orders.key --name orders --digits 10 42
  txid hide --key orders.key --name orders --letters 8 --check < numbers
  txid hide --key orders.key --name payments --uuid < ids")]
pub struct Hide {
    /// Which images
    #[command(flatten)]
    pub series: Series,
    /// The numbers or UUIDs; without any, reads lines from standard input
    #[arg(value_name = "NUMBER")]
    pub numbers: Vec<String>,
}

/// Decrypt images: print their numbers or UUIDs, one per line
///
/// For a text that is not an image, an empty line is printed, the error is reported, and the exit status is 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid reveal --key orders.key --name orders --digits 10 9328347165
  cut -f1 shown.tsv | txid reveal --key orders.key --name orders --letters 8 --check")]
pub struct Reveal {
    /// Which images
    #[command(flatten)]
    pub series: Series,
    /// The images; without any, reads lines from standard input
    #[arg(value_name = "IMAGE")]
    pub images: Vec<String>,
}

/// A series of hidden numbers or UUIDs.
#[derive(clap::Args)]
#[group(skip)]
pub struct Series {
    /// The file of the key, which only its owner may read
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The name of the series; another name gives other images
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// How its images look
    #[command(flatten)]
    pub shape: Shape,
    /// The file of the segment of the numbers: a key that its store does not have is rejected
    #[arg(long, value_name = "FILE", conflicts_with = "uuid")]
    pub state: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// What is hidden, and how it is shown.
#[derive(clap::Args)]
#[group(skip)]
pub struct Shape {
    /// How many digits images have, 6 to 19
    #[arg(long, value_name = "COUNT")]
    pub digits: Option<u32>,
    /// How many letters images have, 4 to 13: 0-9 and a-z without i, l, o and u
    #[arg(long, value_name = "COUNT", conflicts_with = "digits")]
    pub letters: Option<u32>,
    /// Hide UUIDs of version 7, as UUIDs of version 4
    #[arg(long, conflicts_with_all = ["digits", "letters", "check"])]
    pub uuid: bool,
    /// Append a check digit to images of numbers
    #[arg(long)]
    pub check: bool,
}

/// Print a shell's completion script
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid completions bash > ~/.local/share/bash-completion/completions/txid
  txid completions zsh > /usr/local/share/zsh/site-functions/_txid
  txid completions fish > ~/.config/fish/completions/txid.fish")]
pub struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// A shell with completions.
#[derive(Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "clap would take them for the help")]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Print a manual page
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid man | man -l -
  txid man grep | man -l -")]
pub struct Man {
    /// The command to document; without it, txid itself
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}
