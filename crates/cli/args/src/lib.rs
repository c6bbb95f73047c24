//! The command line of `txid`, and nothing else: its manuals and completions are generated from this.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use txid::formats::{self, Format, Make};

const TIMES: &str = "\
A TIME is one of:
  2018-04-01T01:21:28.552Z        RFC 3339, with any offset up to 23:59
  01/Apr/2018:01:21:28 +0000      as nginx logs it
  '2018-04-01 01:21:28'           local time, also without seconds
  2018-04-01, today, yesterday    midnight, local time
  'last tuesday'                  midnight of the last Tuesday before today
  10:00, 'yesterday 10:00'        local time, of today or of that day
  10m, 1h30m, '2 days ago'        before now
  1522545688552                   milliseconds since 1970
  now
Local time is that of the variable TZ, or of the system. Second 60 is read as 59.
Times are from 1970-01-01 to 2109-05-15T07:35:11.103Z, the range of a txid.";

/// Make, read, find and sort 20-character ids that sort by time
///
/// Without a command, `txid` makes ids, as `txid new` does.
#[derive(Parser)]
#[command(
    name = "txid",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  txid                                       an id of this moment
  txid -n 5 --at 2018-04-01T01:21:28.552Z    five of that millisecond
  txid inspect b2fr5nvqg00000000000          what an id holds
  txid grep --since 10m access.log           the lines of the last ten minutes
  txid sort a.log b.log.gz                   two logs as one, in order of time"
)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to make without a command
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
    Grep(Grep),
    Sort(Sort),
    Key(Key),
    Hide(Hide),
    Reveal(Reveal),
}

/// Make ids, one per line
#[derive(clap::Args)]
#[command(after_help = format!("{TIMES}

A NAME is one of:
{}

Examples:
  txid new -n 5
  txid new --at '2 days ago'
  txid new --format uuid-v7
  txid new --format snowflake --node 3 --state /var/lib/txid/orders
  txid new --format segment --state /run/txid/invoices.segment -n 5", made()))]
pub struct New {
    /// How many ids to make
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1)]
    pub count: u64,
    /// Stamp ids with this time instead of the current time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<String>,
    /// What kind of ids to make
    #[arg(long, value_name = "NAME", value_parser = format_that_is_made(), default_value = "txid", hide_possible_values = true)]
    pub format: &'static Format,
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
}

/// The name of a format on the command line.
pub fn name(format: &Format) -> String {
    format.name.replace('_', "-")
}

/// The options of a format here, which are nginx's: a flake's node must be of one thread.
pub fn options(make: &Make) -> &'static [&'static str] {
    make.in_nginx.unwrap_or(make.options)
}

/// The formats that can be made, one on each line.
fn made() -> String {
    let lines = formats::ALL.iter().filter_map(|format| {
        let options = options(format.make.as_ref()?).iter().filter(|option| !["address", "epoch"].contains(option));
        let options: Vec<_> = options.map(|option| format!("--{option}")).collect();
        let takes = if options.is_empty() { String::new() } else { format!("; takes {}", options.join(", ")) };
        Some(format!("  {:<16} {}{takes}", name(format), format.about))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn format_that_is_made() -> impl TypedValueParser<Value = &'static Format> {
    one_of(|format| format.make.is_some())
}

fn format_with_a_time() -> impl TypedValueParser<Value = &'static Format> {
    one_of(Format::has_a_time)
}

fn one_of(is_one: fn(&Format) -> bool) -> impl TypedValueParser<Value = &'static Format> {
    let names = formats::ALL.iter().filter(|format| is_one(format)).map(|format| name(format));
    PossibleValuesParser::new(names)
        .try_map(|name| formats::named(&name.replace('-', "_")).ok_or("this format is not in the list"))
}

/// The formats whose ids hold a time, in lines.
fn with_a_time() -> String {
    let names: Vec<_> = formats::ALL.iter().filter(|format| format.has_a_time()).map(|format| name(format)).collect();
    format!("A NAME is one of the formats whose ids hold a time:\n  {}", names.join(", "))
}

/// Show what ids hold: format, time (UTC, local, age), fields and bits
///
/// An id does not name its format. If it can be of several, all are shown, the likeliest first. A number is read in every
/// known layout, unless --layout is given. Ids are shown as txid writes them.
///
/// Invalid ids are reported on standard error, and the exit status is then 1. The others are still printed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid inspect b2fr5nvqg00000000000
  txid -n 3 | txid inspect --json")]
pub struct Inspect {
    /// Ids to inspect; reads words from standard input if none are given
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Read 64-bit ids in this layout (see txid help new, or mastodon) instead of all
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
    /// Read 64-bit ids with this epoch instead of the layout's
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub epoch: Option<String>,
}

/// Which ids to read.
#[derive(clap::Args)]
pub struct Ids {
    /// The format of the ids [default: txid]
    #[arg(long, value_name = "NAME", value_parser = format_with_a_time(), hide_possible_values = true)]
    pub format: Option<&'static Format>,
    /// The layout of 64-bit ids, numbers of 15 to 19 digits (see txid help new); implies --format snowflake
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<String>,
}

/// Print the first and the last id of a time window, for a query
///
/// The ids of the format must sort by time.
#[derive(clap::Args)]
#[command(after_help = format!("{TIMES}

{}

Examples:
  txid range --from 2018-04-01 --to 2018-04-02
  txid range --since 1h --format uuid-v7
  txid range --since 1h --sql request_id --dialect postgresql", with_a_time()))]
pub struct Range {
    /// The start of the window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, required_unless_present = "since")]
    pub from: Option<String>,
    /// The end of the window, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "now")]
    pub to: String,
    /// Start this long ago: --since 10m is --from '10m ago'
    #[arg(long, value_name = "SPAN", conflicts_with = "from", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Print a condition on this column, for a WHERE clause
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

/// Print the lines with an id from a time window
///
/// A line matches if it contains an id of the format with no letter or digit directly before or after it. Without --from,
/// the window has no start; without --to, it has no end. Lines are printed unchanged, and without file names. On a terminal,
/// control characters are escaped, as \x1b. Input that is compressed with gzip is decompressed.
///
/// If a file has a zero byte, grep only says whether it matches, unless --text is given. Lines longer than 8 MiB are
/// skipped and reported. Memory stays below 32 MB.
///
/// The exit status is 0 if a line was found, 1 if none was, and 2 after an error.
#[derive(clap::Args)]
#[command(after_help = format!("{TIMES}

{}

Examples:
  txid grep --since 10m access.log
  txid grep --from 2018-04-01 --to 2018-04-02 access.log.*.gz
  txid grep --format uuid-v7 --from 10:00 access.log
  tail -f access.log | txid grep --from now", with_a_time()))]
pub struct Grep {
    /// The start of the window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// The end of the window, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Start this long ago: --since 10m is --from '10m ago'
    #[arg(long, value_name = "SPAN", conflicts_with = "from", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Print only the number of matching lines of each file
    #[arg(short, long)]
    pub count: bool,
    /// Search files with zero bytes as if they were text
    #[arg(short = 'a', long)]
    pub text: bool,
    /// Files to read; - or no file means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Sort the lines of files by the ids in them
///
/// The first id in a line counts: all of it if ids of the format sort by time, and otherwise only its time. A line without
/// an id stays below the line before it, as in a stack trace; at the top of a file, it comes before all others. Lines with
/// the same id keep their order. Input that is compressed with gzip is decompressed.
///
/// Files that cannot be read and lines longer than 8 MiB are skipped and reported, and the exit status is then 2.
///
/// Memory stays below 128 MB for input of any size. The rest goes to an unnamed file in the temporary directory (TMPDIR),
/// which disappears when the command ends.
#[derive(clap::Args)]
#[command(after_help = format!("{}

Examples:
  txid sort a.log b.log.gz
  txid sort --format uuid-v7 a.log b.log
  txid grep --since 1h a.log b.log | txid sort", with_a_time()))]
pub struct Sort {
    /// Which ids
    #[command(flatten)]
    pub ids: Ids,
    /// Files to read; - or no file means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Make a key for hidden numbers, or print the check values of keys
///
/// Without a file, prints a new key. With a file of keys, prints the check value of each: six hexadecimal digits that tell
/// keys apart without showing them. In the file of txid-agent, they are key = "66e94b", or "1:66e94b" for a key of period 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  (umask 077; txid key > /etc/txid/orders.key)         a file that only its owner may read
  (umask 077; echo \"1 $(txid key)\" > orders.key)       the key of a period
  txid key /etc/txid/orders.key                        its check value")]
pub struct Key {
    /// The file of keys
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Print the images of numbers, one per line
///
/// For a number without an image, an empty line is printed and the error is reported; the exit status is then 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid hide --key orders.key --name orders --digits 10 42
  txid hide --key orders.key --name orders --letters 8 --check < numbers")]
pub struct Hide {
    /// Which images
    #[command(flatten)]
    pub series: Series,
    /// The numbers; reads lines of standard input if none are given
    #[arg(value_name = "NUMBER")]
    pub numbers: Vec<String>,
}

/// Print the numbers of images, one per line
///
/// For a text that is not an image, an empty line is printed and the error is reported; the exit status is then 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  txid reveal --key orders.key --name orders --digits 10 5761677444
  cut -f1 shown.tsv | txid reveal --key orders.key --name orders --letters 8 --check")]
pub struct Reveal {
    /// Which images
    #[command(flatten)]
    pub series: Series,
    /// The images; reads lines of standard input if none are given
    #[arg(value_name = "IMAGE")]
    pub images: Vec<String>,
}

/// A series of hidden numbers.
#[derive(clap::Args)]
#[group(skip)]
pub struct Series {
    /// The file of the key, which only its owner may read
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The name of the series; with another name, the images are others
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// How many digits images have, 6 to 19
    #[arg(long, value_name = "COUNT", required_unless_present = "letters")]
    pub digits: Option<u32>,
    /// How many letters images have, 4 to 13: 0-9 and a-z without i, l, o and u
    #[arg(long, value_name = "COUNT", conflicts_with = "digits")]
    pub letters: Option<u32>,
    /// Images end with a check digit
    #[arg(long)]
    pub check: bool,
    /// Print one JSON object on each line
    #[arg(long)]
    pub json: bool,
}
