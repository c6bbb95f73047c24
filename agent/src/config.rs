//! What `txid-agent run` is to do: the command line, completed by the environment and a file.

use crate::args::{self, From, Run};
use crate::environment::Variable;
use crate::node::Node;
use anyhow::{Context, anyhow, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use txid::hidden::KeyCheck;
use txid_agent::store::{STORE_VARIABLE, secret};

/// How long SIGKILL takes to end the processes of a child.
const KILL: Duration = Duration::from_millis(500);

pub struct Config {
    pub store: String,
    pub nodes: Vec<Node>,
    pub segments: Vec<(String, Option<u64>)>,
    /// The check values of the keys that hide numbers, by their tags.
    pub keys: BTreeMap<String, Vec<KeyCheck>>,
    pub max_step: u64,
    pub create: bool,
    pub dir: PathBuf,
    pub lease_time: Duration,
    pub host_name: String,
    pub max_skew: Duration,
    pub assume_unused_store: bool,
    /// The variables of the child that contain nodes.
    pub env: Vec<Variable>,
    pub margin: Duration,
    /// How far ahead of the clock the child stamps ids.
    pub child_runs_ahead: Duration,
    pub child: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    store: Option<String>,
    dir: Option<PathBuf>,
    lease_time: Option<Time>,
    host_name: Option<String>,
    max_skew: Option<Time>,
    nodes: BTreeMap<String, String>,
    /// A table of its own for each tag.
    segments: BTreeMap<String, Segment>,
    max_step: Option<Count>,
    env: BTreeMap<String, String>,
    margin: Option<Time>,
    child_runs_ahead: Option<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Segment {
    step: Option<Count>,
    #[serde(default)]
    key_checks: Vec<KeyText>,
}

/// Values that are written as on the command line.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Time(Duration);

#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Count(u64);

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct KeyText(KeyCheck);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        args::duration(&text).map(Self)
    }
}

impl TryFrom<u64> for Count {
    type Error = String;

    fn try_from(count: u64) -> Result<Self, String> {
        args::count(&count.to_string()).map(Self)
    }
}

impl TryFrom<String> for KeyText {
    type Error = txid::hidden::NoKeyCheck;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// The store that a subcommand other than `run` asks.
pub fn store(from: &From) -> anyhow::Result<String> {
    let file = File::of(from)?;
    find_store(from.store.clone(), file.store)
}

fn find_store(given: Option<String>, in_file: Option<String>) -> anyhow::Result<String> {
    let store = given.or_else(|| secret(STORE_VARIABLE)).or(in_file);
    store.context("--store URL is missing: the store that leases and segments come from")
}

impl Config {
    pub fn new(args: Run) -> anyhow::Result<Self> {
        let file = File::of(&args.from)?;
        let shown = args.from.config.as_deref().unwrap_or(Path::new("")).display();
        let time = |given: Option<Duration>, in_file: Option<Time>, unless: u64| {
            given.or(in_file.map(|Time(time)| time)).unwrap_or(Duration::from_secs(unless))
        };
        // The command line takes the place of all that is in the file.
        let table =
            |given: Vec<(String, String)>, option: &str, in_file: BTreeMap<String, String>| match given.is_empty() {
                true => (format!("{shown}: {option}"), in_file.into_iter().collect()),
                false => (format!("--{}", option.trim_end_matches('s')), given),
            };
        let (place, given) = table(args.nodes, "nodes", file.nodes);
        let node = |(name, layout): &(String, String)| Node::new(name, layout).map_err(|why| anyhow!("{place}: {why}"));
        let nodes = given.iter().map(node).collect::<anyhow::Result<Vec<_>>>()?;
        let (mut segments, mut keys) = (args.segments, BTreeMap::new());
        let are_given = !segments.is_empty();
        for (tag, Segment { step, key_checks }) in file.segments {
            let tag = args::group_name(&tag).map_err(|why| anyhow!("{shown}: segments: {why}"))?;
            if !key_checks.is_empty() {
                keys.insert(tag.clone(), key_checks.into_iter().map(|KeyText(check)| check).collect());
            }
            if !are_given {
                segments.push((tag, step.map(|Count(step)| step)));
            }
        }
        let (place, given) = table(args.env, "env", file.env);
        let variable = |(name, value): &(String, String)| {
            Variable::parse(name, value, &nodes).map_err(|why| anyhow!("{place}: {why}"))
        };
        let env = given.iter().map(variable).collect::<anyhow::Result<Vec<_>>>()?;
        let config = Self {
            store: find_store(args.from.store, file.store)?,
            dir: args.dir.or(file.dir).unwrap_or_else(|| "/run/txid".into()),
            lease_time: time(args.lease_time, file.lease_time, 60),
            host_name: match args.host_name.or(file.host_name) {
                Some(name) => name,
                None => host_name()?,
            },
            max_skew: time(args.max_skew, file.max_skew, if env.is_empty() { 10 } else { 2 }),
            assume_unused_store: args.assume_unused_store,
            env,
            margin: time(args.margin, file.margin, 5),
            child_runs_ahead: time(args.child_runs_ahead, file.child_runs_ahead, 0),
            nodes,
            segments,
            keys,
            max_step: args.max_step.or(file.max_step.map(|Count(step)| step)).unwrap_or(1_000_000),
            create: args.create,
            child: args.child,
        };
        config.check()?;
        Ok(config)
    }

    /// The nodes that the child finds in its environment, each once.
    pub fn nodes_of_child(&self) -> Vec<&Node> {
        let is_used = |node: &&Node| self.env.iter().any(|variable| variable.nodes().any(|name| name == node.name));
        self.nodes.iter().filter(is_used).collect()
    }

    /// How far ids of the child may be ahead of this host's clock: agents' clocks differ, and programs may run ahead of theirs.
    pub fn most_ahead(&self) -> Duration {
        2 * self.max_skew + self.child_runs_ahead
    }

    fn check_env(&self) -> anyhow::Result<()> {
        ensure!(!self.child.is_empty(), "--env is for a child: write its command after --");
        once("variable", self.env.iter().map(|variable| &variable.name))?;
        let Self { lease_time, max_skew, margin, child_runs_ahead, .. } = *self;
        // The clock may be stepped from one end of what the guard allows to the other.
        let least = 2 * max_skew + KILL;
        ensure!(
            margin >= least,
            "--margin {margin:?} is less than {least:?}: twice --max-skew {max_skew:?} plus {KILL:?} to end the child"
        );
        let least = 7 * margin + 3 * child_runs_ahead;
        let and_three = match child_runs_ahead {
            Duration::ZERO => String::new(),
            ahead => format!(" plus three times --child-runs-ahead {ahead:?}, {least:?}"),
        };
        ensure!(
            lease_time >= least,
            "--lease-time {lease_time:?} is less than seven times --margin {margin:?}{and_three}: the child would end although the \
             store answers"
        );
        Ok(())
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            !self.nodes.is_empty() || !self.segments.is_empty(),
            "nothing to do: give --node GROUP=LAYOUT, such as --node orders=snowflake, or --segment TAG"
        );
        once("node", self.nodes.iter().map(|node| &node.name))?;
        once("segment", self.segments.iter().map(|(tag, _)| tag))?;
        for Node { name, layout, .. } in &self.nodes {
            let (first_ms, last_ms) = layout.range_ms().into_inner();
            ensure!(
                (first_ms..=last_ms).contains(&txid::system_ms()),
                "the layout of the node {name} has ids from {} to {}: take another epoch or more time_bits, as in \
                 time_bits=30,node_bits=20,sequence_bits=13,unit_ms=1000,epoch=2016-05-19T16:00:00Z",
                date(first_ms),
                date(last_ms)
            );
        }
        let day = Duration::from_secs(24 * 60 * 60);
        ensure!(
            (Duration::from_secs(2)..=day).contains(&self.lease_time),
            "--lease-time {:?} is not between 2s and 1d",
            self.lease_time
        );
        ensure!(
            (Duration::from_millis(100)..=MOST_SKEW).contains(&self.max_skew),
            "--max-skew {:?} is not between 100ms and {MOST_SKEW:?}: no other host of the group expects more",
            self.max_skew
        );
        if !self.env.is_empty() {
            self.check_env()?;
        }
        let name = &self.host_name;
        let is_text = !name.is_empty() && name.len() <= 255 && !name.chars().any(char::is_control);
        ensure!(is_text, "--host-name {name:?} is not one line of at most 255 bytes");
        Ok(())
    }
}

/// Fails if one of these names comes twice.
fn once<'a>(kind: &str, names: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    names.into_iter().try_for_each(|name| {
        ensure!(known.insert(name), "the {kind} {name} was given twice");
        Ok(())
    })
}

impl File {
    fn of(from: &From) -> anyhow::Result<Self> {
        let Some(path) = &from.config else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            anyhow!("{} line {line}: {}", path.display(), error.message().trim())
        })
    }
}

fn date(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| format!("{ms} ms"), |time| time.to_string())
}

fn host_name() -> anyhow::Result<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    ensure!(!name.is_empty(), "this host has no name: give --host-name");
    Ok(name)
}

/// No host may let its clock be further off the store's than this.
pub const MOST_SKEW: Duration = Duration::from_millis(txid_agent_machines::lease::Rules::MOST_SKEW_MS);

#[cfg(test)]
mod schema;

#[cfg(test)]
pub mod tests {
    use super::*;
    use clap::Parser;

    /// What `txid-agent run` with one node and these options does.
    pub fn config(options: &[&str]) -> anyhow::Result<Config> {
        let line = ["txid-agent", "run", "--store", "file:///none", "--node", "orders=snowflake"];
        let args::Subcommand::Run(run) = args::Args::parse_from(line.iter().chain(options)).subcommand else {
            unreachable!("it is run")
        };
        Config::new(run)
    }

    #[test]
    fn an_agent_is_named_as_its_host_unless_it_has_a_name() {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(config(&[]).unwrap().host_name, host.trim_end());
        let longest = "x".repeat(255);
        assert_eq!(config(&["--host-name", &longest]).unwrap().host_name, longest);
        for name in ["", "two\nlines", &format!("{longest}x")] {
            let why = config(&["--host-name", name]).err().unwrap().to_string();
            assert!(why.ends_with("is not one line of at most 255 bytes"), "{why}");
        }
    }

    /// As `txid-agent run --help` says.
    #[test]
    fn what_nobody_says() {
        let it = config(&[]).unwrap();
        assert_eq!((it.dir.to_str(), it.max_step, it.create), (Some("/run/txid"), 1_000_000, false));
        let times = [it.lease_time, it.max_skew, it.margin, it.child_runs_ahead].map(|time| time.as_secs());
        assert_eq!(times, [60, 10, 5, 0]);
        assert_eq!(config(&["--env", "N={orders}", "--", "true"]).unwrap().max_skew, Duration::from_secs(2));
    }

    /// The floor of an emptied store allows for so much, whatever the host that makes it is told.
    #[test]
    fn no_clock_may_be_off_by_more_than_others_expect() {
        for (skew, is_right) in [("99ms", false), ("100ms", true), ("10s", true), ("10001ms", false), ("1d", false)] {
            assert_eq!(config(&["--max-skew", skew]).is_ok(), is_right, "{skew}");
        }
    }

    #[test]
    fn a_lease_is_long_enough_to_end_the_child_in_time() {
        let why = |options: &str| {
            let line = format!("--env N={{orders}} --max-skew 250ms {options} -- true");
            let found = config(&line.split(' ').collect::<Vec<_>>());
            found.err().map(|why| why.to_string()).unwrap_or_default()
        };
        assert_eq!(why("--margin 1s --lease-time 7s"), "");
        assert_eq!(why("--margin 1s --lease-time 13s --child-runs-ahead 2s"), "");
        assert!(
            why("--margin 999ms --lease-time 7s")
                .starts_with("--margin 999ms is less than 1s: twice --max-skew 250ms ")
        );
        let short = why("--margin 1s --lease-time 6999ms");
        assert!(short.starts_with("--lease-time 6.999s is less than seven times --margin 1s: "), "{short}");
        let short = why("--margin 1s --lease-time 12999ms --child-runs-ahead 2s");
        assert!(short.contains("--margin 1s plus three times --child-runs-ahead 2s, 13s: "), "{short}");
    }

    #[test]
    fn ids_of_a_child_are_as_far_ahead_as_clocks_differ_and_it_runs() {
        let ahead = |options: &[&str]| config(options).unwrap().most_ahead();
        assert_eq!(ahead(&["--max-skew", "200ms"]), Duration::from_millis(400));
        assert_eq!(ahead(&["--max-skew", "200ms", "--child-runs-ahead", "3s"]), Duration::from_millis(3_400));
    }
}
