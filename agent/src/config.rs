//! What `txid-agent run` is to do: the command line, completed by the environment and a file.

use crate::args::{self, From, Listen, Run};
use crate::environment::Variable;
use crate::node::Node;
use anyhow::{Context, anyhow, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use txid::hidden::KeyCheck;
use txid_agent::file;
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
    /// The child starts whether or not there are leases.
    pub at_once: bool,
    pub listen: Option<Listen>,
    pub log_is_json: bool,
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
    listen: Option<Parsed<Listen>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Segment {
    step: Option<Count>,
    #[serde(default)]
    key_checks: Vec<Parsed<KeyCheck>>,
}

/// Values that are written as on the command line.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Time(Duration);

#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Count(u64);

#[derive(Deserialize)]
#[serde(try_from = "String", bound = "T: FromStr, T::Err: fmt::Display")]
struct Parsed<T>(T);

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

impl<T: FromStr> TryFrom<String> for Parsed<T> {
    type Error = T::Err;

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
                keys.insert(tag.clone(), key_checks.into_iter().map(|Parsed(check)| check).collect());
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
            at_once: args.start.is_some_and(|when| when == "at-once"),
            listen: args.listen.or(file.listen.map(|Parsed(listen)| listen)),
            log_is_json: args.log_format.is_some_and(|format| format == "json"),
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
        ensure!(!self.at_once, "--start at-once is not for --env: a node is in the child's environment");
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
        let text = file::read(path).with_context(|| path.display().to_string())?;
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
        assert!(config(&["--host-name", "two\nlines"]).is_err());
    }

    /// As `txid-agent run --help` says.
    #[test]
    fn what_nobody_says() {
        let mut command = <args::Args as clap::CommandFactory>::command();
        let help = command.find_subcommand_mut("run").unwrap().render_long_help().to_string();
        for said in [
            "[default: 1000000]",
            "The directory of the files [default: /run/txid]",
            "The TTL of leases: how long ids continue when the store is down, from 2s to 1d [default: 60s]",
            "The maximum clock skew between this host and the store, from 100ms to 10s [default: 10s]",
            "The default of --max-skew is then 2s",
            "SIGKILL this long before a lease expires, and SIGTERM at three times that [default: 5s]",
            "It must be at least twice --max-skew plus 0.5s, and at most a seventh of --lease-time",
            "random jitter of up to a fifth of --lease-time",
            "how far ahead of the clock the child stamps ids [default: 0s]",
            "Three times this plus seven times --margin must be at most --lease-time",
        ] {
            assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{said}");
        }
        let it = config(&[]).unwrap();
        assert_eq!((it.dir.to_str(), it.max_step, it.create), (Some("/run/txid"), 1_000_000, false));
        let times = [it.lease_time, it.max_skew, it.margin, it.child_runs_ahead].map(|time| time.as_secs());
        assert_eq!(times, [60, 10, 5, 0]);
        assert_eq!(config(&["--env", "N={orders}", "--", "true"]).unwrap().max_skew, Duration::from_secs(2));
    }

    fn why(options: &[&str]) -> String {
        config(options).err().map(|why| format!("{why:#}")).unwrap_or_default()
    }

    #[test]
    fn mistakes_are_named() {
        const SKEW: &str = "is not between 100ms and 10s: no other host of the group expects more";
        const ENDED: &str = "the layout of the node a has ids from 1990-01-01T00:00:00Z to 1990-01-01T00:34:57.151Z: take another \
                             epoch or more time_bits, as in \
                             time_bits=30,node_bits=20,sequence_bits=13,unit_ms=1000,epoch=2016-05-19T16:00:00Z";
        let ended = "a=time_bits=21,node_bits=10,sequence_bits=12,unit_ms=1,epoch=631152000000";
        let long = "x".repeat(256);
        for (options, wanted) in [
            (&["--node", "orders=uid"][..], "the node orders was given twice"),
            (&["--segment", "a", "--segment", "a=5"][..], "the segment a was given twice"),
            (&["--env", "W={orders}"][..], "--env is for a child: write its command after --"),
            (&["--env", "W={orders}", "--env", "W={orders}", "--", "app"][..], "the variable W was given twice"),
            (&["--env", "W={users}", "--", "app"][..], "--env: W={users}: there is no node 'users', only orders"),
            (&["--node", ended][..], ENDED),
            (&["--lease-time", "1999ms"][..], "--lease-time 1.999s is not between 2s and 1d"),
            (&["--lease-time", "2s"][..], ""),
            (&["--lease-time", "1d"][..], ""),
            (&["--lease-time", "86400001ms"][..], "--lease-time 86400.001s is not between 2s and 1d"),
            (&["--max-skew", "99ms"][..], &*format!("--max-skew 99ms {SKEW}")),
            (&["--max-skew", "10001ms"][..], &*format!("--max-skew 10.001s {SKEW}")),
            (&["--host-name", ""][..], "--host-name \"\" is not one line of at most 255 bytes"),
            (&["--host-name", &long][..], &*format!("--host-name {long:?} is not one line of at most 255 bytes")),
            (
                &["--node", "a.segment=uid"][..],
                "--node: 'a.segment' ends with .segment, as only the files of segments do: choose another name",
            ),
            (&["--config", "/nowhere/a"][..], "/nowhere/a: No such file or directory (os error 2)"),
        ] {
            assert_eq!(why(options), wanted, "{options:?}");
        }
        let nothing = Config::new(Run {
            from: From { store: Some("file:///none".to_owned()), ..From::default() },
            ..Run::default()
        });
        assert_eq!(
            nothing.err().unwrap().to_string(),
            "nothing to do: give --node GROUP=LAYOUT, such as --node orders=snowflake, or --segment TAG"
        );
        let missing = find_store(None, None).unwrap_err().to_string();
        assert_eq!(missing, "--store URL is missing: the store that leases and segments come from");
        let of = |given: Option<&str>| find_store(given.map(str::to_owned), Some("in the file".to_owned())).unwrap();
        assert_eq!([of(Some("given")), of(None)], ["given", "in the file"]);
    }

    /// But for the nodes, segments and variables, which the command line replaces as a whole.
    #[test]
    fn each_key_of_a_file_counts_unless_the_command_line_has_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "store = 'file:///in-the-file'\ndir = '/dir'\nlease-time = '100s'\nhost-name = 'web-1'\nmax-skew = '1s'\n\
                    max-step = 7\nmargin = '3s'\nchild-runs-ahead = '4s'\nnodes.users = 'sonyflake'\nnodes.eu = 'snowflake'\n\
                    env.A = '{eu}'\nenv.B = '{users}'\n[segments.invoices]\nstep = 5\nkey-checks = ['66e94b-00000001']\n\
                    [segments.bills]\n";
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_str().unwrap();
        let read = |options: &[&str]| {
            let line = [&["txid-agent", "run", "--config", path][..], options].concat();
            let args::Subcommand::Run(run) = args::Args::parse_from(line).subcommand else { unreachable!("it is run") };
            Config::new(run)
        };
        let it = read(&["--", "app"]).unwrap();
        assert_eq!((&*it.store, it.dir.to_str(), &*it.host_name), ("file:///in-the-file", Some("/dir"), "web-1"));
        let times = [it.lease_time, it.max_skew, it.margin, it.child_runs_ahead].map(|time| time.as_secs());
        assert_eq!((times, it.max_step, it.child.len()), ([100, 1, 3, 4], 7, 1));
        let nodes: Vec<_> = it.nodes.iter().map(|node| (&*node.name, node.layout.last_node())).collect();
        assert_eq!(nodes, [("eu", 1023), ("users", 65_535)]);
        assert_eq!(it.segments, [("bills".to_owned(), None), ("invoices".to_owned(), Some(5))]);
        let keys: Vec<_> = it.keys.iter().map(|(tag, checks)| (&**tag, checks[0].to_string())).collect();
        assert_eq!(keys, [("invoices", "66e94b-00000001".to_owned())]);
        assert_eq!(it.env.iter().map(|variable| &*variable.name).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(it.nodes_of_child().iter().map(|node| &*node.name).collect::<Vec<_>>(), ["eu", "users"]);
        assert_eq!(it.most_ahead(), Duration::from_secs(6));

        let options = "--store file:///given --dir /other --host-name web-2 --lease-time 90s --max-skew 500ms --max-step 8 --margin \
                       2s --child-runs-ahead 1s --node orders=sonyflake --segment a --segment b=9 --env C={orders} --create \
                       --assume-unused-store -- app";
        let it = read(&options.split(' ').collect::<Vec<_>>()).unwrap();
        assert_eq!((&*it.store, it.dir.to_str(), &*it.host_name), ("file:///given", Some("/other"), "web-2"));
        let times = [it.lease_time, it.max_skew, it.margin, it.child_runs_ahead].map(|time| time.as_millis());
        assert_eq!((times, it.max_step, it.create), ([90_000, 500, 2_000, 1_000], 8, true));
        assert_eq!(it.segments, [("a".to_owned(), None), ("b".to_owned(), Some(9))]);
        assert!(it.assume_unused_store && it.keys.contains_key("invoices"), "a key is only in the file");
        assert_eq!((it.nodes.len(), it.env.len(), &*it.env[0].name), (1, 1, "C"));

        for (old, new, wanted) in [
            (
                "nodes.users",
                "nodes.'.a'",
                "nodes: '.a' is not a name: use 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'",
            ),
            (
                "segments.bills",
                "segments.'.b'",
                "segments: '.b' is not a name: use 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'",
            ),
            ("'{users}'", "'users'", "env: B has no node in its value: write B={eu}"),
        ] {
            std::fs::write(file.path(), text.replace(old, new)).unwrap();
            let why = read(&["--", "app"]).err().unwrap().to_string();
            assert_eq!(why, format!("{path}: {wanted}"));
        }
        for (old, new, wanted) in [
            ("max-skew = '1s'", "max-skw = '1s'", "5: unknown field `max-skw`, "),
            ("step = 5", "step = 0", "14: '0' is not a count from 1 to 2147483647"),
            ("'100s'", "'often'", "3: 'often' is not a time, such as 60s, 5m or 1d"),
        ] {
            std::fs::write(file.path(), text.replace(old, new)).unwrap();
            let why = read(&["--", "app"]).err().unwrap().to_string();
            assert!(why.starts_with(&format!("{path} line {wanted}")), "{why}");
        }
    }

    /// The floor of an emptied store allows for so much, whatever the host that makes it is told.
    #[test]
    fn no_clock_may_be_off_by_more_than_others_expect() {
        for (skew, is_right) in [("100ms", true), ("10s", true), ("1d", false)] {
            assert_eq!(config(&["--max-skew", skew]).is_ok(), is_right, "{skew}");
        }
    }

    #[test]
    fn a_lease_is_long_enough_to_end_the_child_in_time() {
        let why = |options: &str| {
            let line = format!("--env N={{orders}} --max-skew 250ms {options} -- true");
            why(&line.split(' ').collect::<Vec<_>>())
        };
        assert_eq!(why("--margin 1s --lease-time 7s"), "");
        assert_eq!(why("--margin 1s --lease-time 13s --child-runs-ahead 2s"), "");
        let short = "--margin 999ms is less than 1s: twice --max-skew 250ms plus 500ms to end the child";
        assert_eq!(why("--margin 999ms --lease-time 7s"), short);
        let ends = "the child would end although the store answers";
        let short = format!("--lease-time 6.999s is less than seven times --margin 1s: {ends}");
        assert_eq!(why("--margin 1s --lease-time 6999ms"), short);
        let ahead = "plus three times --child-runs-ahead 2s, 13s";
        let short = format!("--lease-time 12.999s is less than seven times --margin 1s {ahead}: {ends}");
        assert_eq!(why("--margin 1s --lease-time 12999ms --child-runs-ahead 2s"), short);
    }

    #[test]
    fn ids_of_a_child_are_as_far_ahead_as_clocks_differ_and_it_runs() {
        let ahead = |options: &[&str]| config(options).unwrap().most_ahead();
        assert_eq!(ahead(&["--max-skew", "200ms"]), Duration::from_millis(400));
        assert_eq!(ahead(&["--max-skew", "200ms", "--child-runs-ahead", "3s"]), Duration::from_millis(3_400));
    }
}
