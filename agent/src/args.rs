//! The command line, and nothing else.

use clap::Parser;
use jiff::{Span, SpanRelativeTo, Timestamp};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Lease snowflake node ids, and reserve ranges of numbers, in an existing store
#[derive(Parser)]
#[command(
    name = "txid-agent",
    version,
    after_help = "\
A store is one of:
  redis://HOST, valkey://HOST           rediss://HOST with TLS; redis+sentinel://HOST/MASTER
  etcd://HOST,HOST/PREFIX               etcds://HOST with TLS
  mysql://USER@HOST/DATABASE            or mariadb://
  postgres://USER@HOST/DATABASE         or postgresql://
  zookeeper://HOST,HOST/PREFIX
  consul://HOST/PREFIX                  consuls://HOST with TLS
  file:///var/lib/txid/leases           a directory: one host, or a file system that hosts share
Without --store, the store is that of TXID_STORE, or of the --config file. A password is read from
TXID_STORE_PASSWORD, or from ?password-file=FILE. Other options in the URL:
  timeout=3s  tls=1  ca=FILE  cert=FILE&key=FILE  may-lose-writes=1  wait=N (Redis)  table=NAME (SQL)

Examples:
  txid-agent run --store etcd://10.0.0.5:2379/txid --node orders=snowflake -- nginx -g 'daemon off;'
  txid-agent run --store 'mysql://app@10.0.0.5/leaf?tls=1' --segment invoices -- nginx -g 'daemon off;'
  txid-agent run --store zookeeper://10.0.0.5/snowflake/LEAF.NAME --node orders=leaf_forever -- nginx -g 'daemon off;'
  txid-agent run --store etcd://10.0.0.5/txid --node orders=snowflake --env WORKER_ID={orders} -- java -jar app.jar
  txid-agent run --config /etc/txid/agent.toml
  txid-agent status

The exit status is 1 after an error, and 2 if the command line is wrong. `run` exits with its child's status, and `status` \
says more with its own."
)]
pub struct Args {
    #[command(subcommand)]
    pub subcommand: Subcommand,
}

#[derive(clap::Subcommand)]
pub enum Subcommand {
    Run(Run),
    Check(Check),
    Status(Status),
    Nodes(Nodes),
    Release(Release),
    SetFloor(SetFloor),
    RaiseNumber(RaiseNumber),
}

/// Maintain leases and segments, and run a child that uses them
///
/// For each node, renews its lease and keeps it in a file DIR/NAME, from which processes generate ids. For each segment,
/// keeps a file DIR/TAG.segment, from which processes take numbers, and prefetches the next range. On SIGTERM, releases the
/// nodes.
///
/// Starts the child, if one is given, when all leases and segments are live. Forwards the signals TERM, INT, QUIT, HUP,
/// USR1, USR2 and WINCH, and exits with the child's status. Without a child, HUP reloads the --config file, if it is valid
/// and the store has what it needs, and releases the nodes that are no longer in it.
///
/// With --env, the child generates ids itself, with a node from its environment. All its processes are terminated before the
/// lease expires, and it restarts when there is a lease.
#[derive(clap::Args, Clone, Default)]
pub struct Run {
    #[command(flatten)]
    pub from: From,
    /// A group to lease a node in, and the layout of its ids: a name (snowflake, sonyflake, uid, leaf, snowflake53,
    /// discord, instagram) or its parts
    ///
    /// With worker_node or worker_node:LAYOUT, new nodes get their numbers from UidGenerator's table WORKER_NODE
    /// (MySQL, PostgreSQL); with leaf_forever or leaf_forever:LAYOUT, from Leaf's path in ZooKeeper. No node is then used
    /// by both.
    #[arg(long = "node", value_name = "GROUP=LAYOUT", value_parser = node)]
    pub nodes: Vec<(String, String)>,
    /// A tag to reserve ranges of numbers from, and the smallest range to reserve [default: the tag's own step]
    #[arg(long = "segment", value_name = "TAG[=STEP]", value_parser = segment)]
    pub segments: Vec<(String, Option<u64>)>,
    /// The largest range of a segment to reserve [default: 1000000]
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub max_step: Option<u64>,
    /// Create tags that the store does not have
    #[arg(long)]
    pub create: bool,
    /// The directory of the files [default: /run/txid]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The TTL of leases: how long ids continue when the store is down, from 2s to 1d [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub lease_time: Option<Duration>,
    /// The name of this host in the store [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub host_name: Option<String>,
    /// The maximum clock skew between this host and the store, from 100ms to 10s [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_skew: Option<Duration>,
    /// An environment variable of the child, with nodes in its value: WORKER_ID={orders}
    ///
    /// {orders:0..5} are the lowest five bits of the node, and {orders:5..10} the next five. {{ and }} are braces. The
    /// default of --max-skew is then 2s.
    #[arg(long = "env", value_name = "VARIABLE=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
    /// With --env: the child gets SIGKILL this long before a lease expires, and SIGTERM at three times that [default: 5s]
    ///
    /// It must be at least twice --max-skew plus 0.5s, and at most a seventh of --lease-time. A random jitter of up to a fifth
    /// of --lease-time makes both signals earlier, so that hosts do not stop together in an outage of the store.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub margin: Option<Duration>,
    /// With --env: how far ahead of the clock the child stamps ids [default: 0s]
    ///
    /// Some generators borrow future times under load, or to fill a buffer. The child is terminated this much earlier, and the
    /// next one starts this much later. Three times this plus seven times --margin must be at most --lease-time.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub child_runs_ahead: Option<Duration>,
    /// Do not wait for leases that an empty store may have lost: ids repeat if it ever had leases
    #[arg(long)]
    pub assume_unused_store: bool,
    /// Whether the child waits until all is live, or starts at once [default: when-live]
    ///
    /// A child that waits does not start while the store is down, and always starts with ids. `at-once` is for one that handles
    /// their absence, such as nginx with `node=lease`; /readyz of --listen says when there are some. Not with --env.
    #[arg(long, value_parser = ["when-live", "at-once"], value_name = "WHEN")]
    pub start: Option<String>,
    /// Serve /metrics, /healthz and /readyz over HTTP, at PORT on localhost, IP:PORT, or unix:PATH
    ///
    /// /healthz is 200 while the agent works, /readyz while all leases and segments are live. There is no TLS, and no
    /// authentication.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<Listen>,
    /// The format of the log [default: text]
    ///
    /// `json` is one object per line: time, level (info, warning, error), group, node, event and text.
    #[arg(long, value_parser = ["text", "json"], value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// The child: a command to run when there are leases
    #[arg(last = true, value_name = "COMMAND")]
    pub child: Vec<String>,
}

/// Validate the options and the file of 'txid-agent run', and do nothing else
///
/// The store is not asked, unless --ask is given.
#[derive(clap::Args)]
pub struct Check {
    /// Ask the store: its address, TLS, password, permissions, clock, durability and quota
    ///
    /// Prints a line for each check that passes. The exit status is 1 if something would stop the agent, or leave it without ids.
    /// To try the permissions, it writes the record GROUP/freed, as agents do when they release a node: run it as the agent's user.
    #[arg(long)]
    pub ask: bool,
    #[command(flatten)]
    pub run: Run,
}

/// Show the leases and segments of this host
///
/// The exit status is 0 if ids and numbers can be made from all of them, 1 if not, and 2 after an error.
#[derive(clap::Args)]
pub struct Status {
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "prometheus")]
    pub json: bool,
    /// Print metrics for Prometheus
    #[arg(long)]
    pub prometheus: bool,
    /// The directory of the files
    #[arg(long, value_name = "DIR", default_value = "/run/txid")]
    pub dir: PathBuf,
    /// The files to show, instead of all in DIR
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// List the nodes in the store with their holders
#[derive(clap::Args)]
pub struct Nodes {
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub group: Group,
}

/// Release the node of a dead host, so that another host need not wait for it
///
/// If the host still holds the node, it loses it at its next renewal. Ids do not repeat either way: the next holder
/// starts where the lease ends.
#[derive(clap::Args)]
pub struct Release {
    #[command(flatten)]
    pub group: Group,
    /// The number of the node
    pub node: u64,
}

/// Set the floor of a group, before which no lease starts, after a backup of the store was restored
///
/// The restored store may have lost leases. No id repeats if the floor is after the end of all of them. The default is late
/// enough, unless an agent has a longer --lease-time than the one given here.
#[derive(clap::Args)]
pub struct SetFloor {
    #[command(flatten)]
    pub group: Group,
    /// The longest --lease-time of all agents
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub lease_time: Duration,
    /// The floor, such as 2026-11-21T22:00:00Z, at most two days ahead
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
}

/// Raise the number of a tag, after a backup of the store was restored
///
/// The restored store may have lost ranges, and numbers would repeat. Each host's log and 'txid-agent status' show its
/// highest number: raise the tag's number above all of them. The number never goes down.
#[derive(clap::Args)]
pub struct RaiseNumber {
    #[command(flatten)]
    pub from: From,
    /// The tag, as in --segment TAG
    #[arg(value_name = "TAG", value_parser = group_name)]
    pub tag: String,
    /// The lowest number that the next range may start at
    #[arg(value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub number: u64,
}

#[derive(clap::Args)]
pub struct Group {
    #[command(flatten)]
    pub from: From,
    /// The group, as in --node GROUP=LAYOUT
    #[arg(value_name = "GROUP", value_parser = group_name)]
    pub name: String,
}

#[derive(clap::Args, Clone, Default)]
pub struct From {
    /// Read options that are not given here from this TOML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The store, see 'txid-agent --help' [default: TXID_STORE]
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
}

/// Where `--listen` listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let on_this_host = text.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let address = on_this_host.ok().or_else(|| text.parse().ok()).filter(|address| address.port() != 0);
        address
            .map(Self::Tcp)
            .ok_or_else(|| format!("'{text}' is not PORT, IP:PORT or unix:PATH, such as 127.0.0.1:9464"))
    }
}

fn node(text: &str) -> Result<(String, String), String> {
    let (name, layout) = text.split_once('=').ok_or("write GROUP=LAYOUT, such as orders=snowflake")?;
    Ok((group_name(name)?, layout.to_string()))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write VARIABLE=VALUE, such as WORKER_ID={orders}")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn segment(text: &str) -> Result<(String, Option<u64>), String> {
    match text.split_once('=') {
        None => Ok((group_name(text)?, None)),
        Some((tag, step)) => Ok((group_name(tag)?, Some(count(step)?))),
    }
}

pub fn count(text: &str) -> Result<u64, String> {
    // The range of Leaf's column.
    let count = text.parse().ok().filter(|count| (1..=i32::MAX as u64).contains(count));
    count.ok_or_else(|| format!("'{text}' is not a count from 1 to {}", i32::MAX))
}

/// A name that is part of a key in each store, and the name of a file.
pub fn group_name(name: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(format!(
            "'{name}' is not a name: use 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'"
        ));
    }
    Ok(name.to_owned())
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().ok().and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let duration = span.and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| format!("'{text}' is not a time, such as 60s, 5m or 1d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_a_day() {
        for (text, ms) in [("60s", 60_000), ("5m", 300_000), ("1d", 86_400_000), ("1h 30m", 5_400_000), ("1.5s", 1_500)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "60", "soon", "-1s", "1mo"] {
            assert_eq!(duration(text), Err(format!("'{text}' is not a time, such as 60s, 5m or 1d")));
        }
    }

    #[test]
    fn a_name_fits_into_a_key_and_into_a_directory() {
        let longest = "x".repeat(64);
        for name in ["a", "a-b_c.D9", &longest] {
            assert_eq!(group_name(name).as_deref(), Ok(name));
        }
        for name in ["", ".", ".a", "a/b", "a b", "\u{e4}", &format!("{longest}x")] {
            let why = "is not a name: use 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'";
            assert_eq!(group_name(name), Err(format!("'{name}' {why}")));
        }
    }

    #[test]
    fn nodes_segments_and_variables() {
        let pair = |one: &str, other: &str| Ok((one.to_owned(), other.to_owned()));
        assert_eq!(node("orders=a=b"), pair("orders", "a=b"));
        assert_eq!(node("orders").unwrap_err(), "write GROUP=LAYOUT, such as orders=snowflake");
        assert!(node(".a=snowflake").is_err() && segment(".a").is_err() && segment(".a=5").is_err());
        assert_eq!(variable("A={orders}=b"), pair("A", "{orders}=b"));
        assert_eq!(variable("A").unwrap_err(), "write VARIABLE=VALUE, such as WORKER_ID={orders}");
        assert_eq!(segment("a"), Ok(("a".to_owned(), None)));
        assert_eq!(segment("a=2147483647"), Ok(("a".to_owned(), Some(2_147_483_647))));
        for step in ["0", "2147483648", "-1", "", "many"] {
            let why = format!("'{step}' is not a count from 1 to 2147483647");
            assert_eq!(segment(&format!("a={step}")), Err(why));
        }
    }

    /// The tests of what they tell of are elsewhere.
    #[test]
    fn what_scripts_rely_on() {
        use clap::CommandFactory;
        let words = |help: String| help.split_whitespace().collect::<Vec<_>>().join(" ");
        let help = |name| words(Args::command().find_subcommand_mut(name).unwrap().render_long_help().to_string());
        for (found, said) in [
            (
                words(Args::command().render_long_help().to_string()),
                "The exit status is 1 after an error, and 2 if the command line is wrong. `run` exits with its child's status, and \
                 `status` says more with its own.",
            ),
            (
                help("run"),
                "Starts the child, if one is given, when all leases and segments are live. Forwards the signals TERM, INT, QUIT, HUP, \
                 USR1, USR2 and WINCH, and exits with the child's status. Without a child, HUP reloads the --config file, if it is \
                 valid and the store has what it needs",
            ),
            (help("run"), "{orders:0..5} are the lowest five bits of the node, and {orders:5..10} the next five."),
            (
                help("status"),
                "The exit status is 0 if ids and numbers can be made from all of them, 1 if not, and 2 after an error.",
            ),
            (help("check"), "The store is not asked, unless --ask is given."),
            (help("release"), "If the host still holds the node, it loses it at its next renewal."),
            (
                help("set-floor"),
                "The default is late enough, unless an agent has a longer --lease-time than the one given here.",
            ),
            (help("set-floor"), "The floor, such as 2026-11-21T22:00:00Z, at most two days ahead"),
            (help("raise-number"), "raise the tag's number above all of them. The number never goes down."),
        ] {
            assert!(found.contains(said), "{said}");
        }
    }

    /// As the texts of `--help` say.
    #[test]
    fn what_nobody_says() {
        let parse = |line: &str| Args::try_parse_from(line.split(' ')).map(|args| args.subcommand);
        let Ok(Subcommand::Status(it)) = parse("txid-agent status") else { panic!("no status") };
        assert_eq!((it.dir.to_str(), it.files.len(), it.json, it.prometheus), (Some("/run/txid"), 0, false, false));
        assert!(parse("txid-agent status --json --prometheus").is_err());
        let Ok(Subcommand::SetFloor(it)) = parse("txid-agent set-floor orders") else { panic!("no set-floor") };
        assert_eq!((it.lease_time, it.at), (Duration::from_secs(60), None));
        let number = |number: &str| parse(&format!("txid-agent raise-number a {number}")).is_ok();
        assert_eq!(["0", "9223372036854775807", "9223372036854775808", "-1"].map(number), [true, true, false, false]);
    }
}
