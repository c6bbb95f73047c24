//! The command line, and nothing that acts on it.

use crate::config::Node;
use clap::{Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;
use std::time::Duration;
use txid_agent::store::Numbering;

/// Lease snowflake nodes from the store that a team already runs, for all processes of this host
#[derive(Parser)]
#[command(
    name = "txid-agent",
    version,
    after_help = "\
A store is one of:
  redis://HOST, rediss://HOST           Redis, Valkey; redis+sentinel://HOST/MASTER
  etcd://HOST,HOST/PREFIX               etcds://HOST with TLS
  mysql://USER@HOST/DATABASE            MySQL, MariaDB
  postgres://USER@HOST/DATABASE         PostgreSQL
  zookeeper://HOST,HOST/PREFIX
  consul://HOST/PREFIX                  consuls://HOST with TLS
  file:///var/lib/txid/leases           a directory: one host, or a file system that hosts share
A password is taken from TXID_STORE_PASSWORD, or from ?password-file=FILE. Other options in the URL:
  timeout=3s  tls=1  ca=FILE  cert=FILE&key=FILE  may-lose-writes=1  wait=N (Redis)  table=NAME (SQL)

Examples:
  txid-agent run --store etcd://10.0.0.5:2379/txid --node orders=snowflake -- nginx -g 'daemon off;'
  txid-agent run --store mysql://app@10.0.0.5/leaf --segment invoices -- nginx -g 'daemon off;'
  txid-agent run --store zookeeper://10.0.0.5/snowflake/LEAF.NAME --node orders=leaf_forever -- nginx -g 'daemon off;'
  txid-agent run --config /etc/txid/agent.toml
  txid-agent status"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Run(Run),
    Status(Status),
    Nodes(Nodes),
    Release(Release),
    Floor(Floor),
    Raise(Raise),
}

/// Lease nodes, and run a command with them
///
/// Makes DIR/TAG.segment for each segment, which processes take numbers from, and takes the next range before they need it.
/// Makes DIR/NAME for each node, which processes make ids from, and extends the leases until it gets SIGTERM. Then it gives
/// the nodes back.
///
/// With a command, starts it once there is a lease for each node, passes on the signals TERM, INT, QUIT, HUP, USR1, USR2 and
/// WINCH, and ends as it ended.
#[derive(clap::Args)]
pub struct Run {
    /// Take what is not given here from this TOML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where leases are kept: see 'txid-agent --help'
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// A node to lease, and the layout of its ids: a name (snowflake, sonyflake, uid, leaf) or its parts
    ///
    /// With worker_node or worker_node:LAYOUT, new nodes get their numbers from UidGenerator's table WORKER_NODE (MySQL,
    /// PostgreSQL); with leaf_forever or leaf_forever:LAYOUT from Leaf's path in ZooKeeper. So none is also one of theirs.
    #[arg(long = "node", value_name = "NAME=LAYOUT", value_parser = node)]
    pub nodes: Vec<Node>,
    /// A tag to take ranges of numbers of, and how many at a time at least [default: what the tag itself says]
    #[arg(long = "segment", value_name = "TAG[=STEP]", value_parser = segment)]
    pub segments: Vec<(String, Option<u64>)>,
    /// How many numbers of a segment to take at a time at most [default: 1000000]
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub max_step: Option<u64>,
    /// Make the tags that the store does not have
    #[arg(long)]
    pub create: bool,
    /// Where the files are made [default: /run/txid]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// How long ids go on when the store is gone, from 2s to 1d [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub ahead: Option<Duration>,
    /// The name that the store shows for this host [default: the host's]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// How far this host's clock may be off the store's [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_skew: Option<Duration>,
    /// The store was never used: do not wait for leases that it may have lost
    #[arg(long)]
    pub new: bool,
    /// What to run once there are leases
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Tell the state of the leases of this host
///
/// Exit status 0 if every lease is live, else 1.
#[derive(clap::Args)]
pub struct Status {
    /// One JSON object a line
    #[arg(long, conflicts_with = "prometheus")]
    pub json: bool,
    /// As Prometheus reads it
    #[arg(long)]
    pub prometheus: bool,
    /// Where the files are
    #[arg(long, value_name = "DIR", default_value = "/run/txid")]
    pub dir: PathBuf,
    /// The files of leases, instead of all in DIR
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// List who has which node, and until when
#[derive(clap::Args)]
pub struct Nodes {
    #[command(flatten)]
    pub group: Group,
}

/// Take a node from a host that is gone, so that another need not wait until it is idle
///
/// A host that still has it loses it at its next renewal. No id is repeated in either case: the next holder starts where the
/// lease ends.
#[derive(clap::Args)]
pub struct Release {
    #[command(flatten)]
    pub group: Group,
    /// The number of the node
    pub node: u64,
}

/// Let no lease start before a time, as after a backup of the store was restored
///
/// The store may have forgotten leases then. Ids cannot repeat once the floor is later than the end of each lease that was
/// ever granted: that is what it is without --at, if all agents have the --ahead that is given here, or a shorter one.
#[derive(clap::Args)]
pub struct Floor {
    #[command(flatten)]
    pub group: Group,
    /// The longest --ahead of all agents
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub ahead: Duration,
    /// The floor itself, such as 2026-11-21T22:00:00Z
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
}

/// Raise the number of a tag, as after a backup of the store was restored
///
/// The store may have forgotten ranges then, and numbers would repeat. Each host's log and 'txid-agent status' say how far it
/// had come: raise the number past the highest. It never goes down.
#[derive(clap::Args)]
pub struct Raise {
    /// Where tags are kept: see 'txid-agent --help'
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// The tag, as in --segment TAG
    #[arg(value_name = "TAG", value_parser = group_name)]
    pub tag: String,
    /// The number from which on ranges may be taken
    #[arg(value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub number: u64,
}

#[derive(clap::Args)]
pub struct Group {
    /// Where leases are kept: see 'txid-agent --help'
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// The name of the nodes, as in --node NAME=LAYOUT
    #[arg(value_name = "NAME", value_parser = group_name)]
    pub name: String,
}

fn node(text: &str) -> Result<Node, String> {
    let (name, layout) = text.split_once('=').ok_or("write NAME=LAYOUT, such as orders=snowflake")?;
    node_of(name, layout)
}

pub fn node_of(name: &str, layout: &str) -> Result<Node, String> {
    let (numbering, layout) = Numbering::parse(layout).map_err(|error| format!("{name}: {error}"))?;
    Ok(Node { name: group_name(name)?, layout, numbering })
}

fn segment(text: &str) -> Result<(String, Option<u64>), String> {
    match text.split_once('=') {
        None => Ok((group_name(text)?, None)),
        Some((tag, step)) => Ok((group_name(tag)?, Some(count(step)?))),
    }
}

pub fn count(text: &str) -> Result<u64, String> {
    // As many as Leaf's column can hold.
    let count = text.parse().ok().filter(|count| (1..=i32::MAX as u64).contains(count));
    count.ok_or_else(|| format!("'{text}' is not a count from 1 to {}", i32::MAX))
}

/// A name that is a part of a key in each store, and the name of a file.
pub fn group_name(name: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.bytes().all(is_plain) {
        return Err(format!(
            "'{name}' is no name: it may have 64 letters, digits, '-', '_' and '.', and not begin with '.'"
        ));
    }
    Ok(name.to_owned())
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = text.parse::<SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| format!("'{text}' is not a time, such as 60s, 5m or 1d"))
}
