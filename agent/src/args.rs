//! The command line, and nothing that acts on it.

use clap::{Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;
use std::time::Duration;
use txid::snowflake::Layout;

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
}

/// Lease nodes, and run a command with them
///
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
    #[arg(long = "node", value_name = "NAME=LAYOUT", value_parser = node)]
    pub nodes: Vec<(String, Layout)>,
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

#[derive(clap::Args)]
pub struct Group {
    /// Where leases are kept: see 'txid-agent --help'
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// The name of the nodes, as in --node NAME=LAYOUT
    #[arg(value_name = "NAME", value_parser = group_name)]
    pub name: String,
}

fn node(text: &str) -> Result<(String, Layout), String> {
    let (name, layout) = text.split_once('=').ok_or("write NAME=LAYOUT, such as orders=snowflake")?;
    Ok((group_name(name)?, layout.parse().map_err(|error| format!("{error}"))?))
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
