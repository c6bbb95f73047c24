//! What `txid-agent run` is to do: the command line, completed by a file.

use crate::args::{self, OnLoss, Run};
use crate::environment::Variable;
use crate::node::Node;
use anyhow::{Context, anyhow, bail, ensure};
use clap::ValueEnum;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use txid::hidden::KeyCheck;
use txid_agent_machines::child;

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
    pub ahead: Duration,
    pub name: String,
    pub max_skew: Duration,
    pub new: bool,
    /// The variables of the child that contain nodes.
    pub env: Vec<Variable>,
    pub margin: Duration,
    /// How far ahead of the clock the child stamps ids.
    pub runs_ahead: Duration,
    pub on_loss: child::OnLoss,
    pub child: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    store: Option<String>,
    dir: Option<PathBuf>,
    ahead: Option<String>,
    name: Option<String>,
    max_skew: Option<String>,
    #[serde(default)]
    nodes: BTreeMap<String, String>,
    /// A table of its own for each tag.
    #[serde(default)]
    segments: BTreeMap<String, Segment>,
    max_step: Option<u64>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    margin: Option<String>,
    runs_ahead: Option<String>,
    on_loss: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Segment {
    step: Option<u64>,
    key: Option<String>,
}

impl Config {
    pub fn new(args: Run) -> anyhow::Result<Self> {
        let file = args.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let shown = args.config.as_deref().unwrap_or(Path::new("")).display();
        let duration = |given: Option<Duration>, name: &str, text: Option<String>, unless: u64| match (given, text) {
            (Some(given), _) => Ok(given),
            (None, Some(text)) => args::duration(&text).map_err(|why| anyhow::anyhow!("{shown}: {name}: {why}")),
            (None, None) => Ok(Duration::from_secs(unless)),
        };
        let (place, given) = match args.nodes {
            given if !given.is_empty() => ("--node".to_string(), given),
            _ => (format!("{shown}: nodes"), file.nodes.into_iter().collect()),
        };
        let node = |(name, layout): &(String, String)| {
            Node::new(name, layout).map_err(|why| anyhow::anyhow!("{place}: {why}"))
        };
        let nodes = given.iter().map(node).collect::<anyhow::Result<Vec<_>>>()?;
        let count = |count: Option<u64>, name: &str| {
            let count = count.map(|count| args::count(&count.to_string())).transpose();
            count.map_err(|why| anyhow::anyhow!("{shown}: {name}: {why}"))
        };
        let mut keys = BTreeMap::new();
        for (tag, Segment { key, .. }) in &file.segments {
            let Some(key) = key else { continue };
            let wrong = |why: String| anyhow!("{shown}: segments.{tag}.key: {why}");
            let checks: Result<Vec<KeyCheck>, _> = key.split_whitespace().map(str::parse).collect();
            let checks = checks.map_err(|error| wrong(error.to_string()))?;
            ensure!(!checks.is_empty(), wrong("it is empty; `txid key FILE` prints what it is".to_owned()));
            keys.insert(tag.clone(), checks);
        }
        let mut segments = args.segments;
        if segments.is_empty() {
            for (tag, Segment { step, .. }) in file.segments {
                let step = count(step, &format!("segments.{tag}.step"))?;
                let tag = args::group_name(&tag).map_err(|why| anyhow::anyhow!("{shown}: segments: {why}"))?;
                segments.push((tag, step));
            }
        }
        let (place, given) = match args.env {
            given if !given.is_empty() => ("--env".to_string(), given),
            _ => (format!("{shown}: env"), file.env.into_iter().collect()),
        };
        let variable = |(name, value): &(String, String)| {
            Variable::parse(name, value, &nodes).map_err(|why| anyhow!("{place}: {why}"))
        };
        let env = given.iter().map(variable).collect::<anyhow::Result<Vec<_>>>()?;
        let on_loss = match (args.on_loss, file.on_loss) {
            (Some(given), _) => given,
            (None, Some(text)) => OnLoss::from_str(&text, false)
                .map_err(|_| anyhow!("{shown}: on-loss: '{text}' is neither stop nor keep"))?,
            (None, None) => OnLoss::Stop,
        };
        let config = Self {
            store: args
                .store
                .or(file.store)
                .context("--store URL is missing: the store that leases and segments come from")?,
            dir: args.dir.or(file.dir).unwrap_or_else(|| "/run/txid".into()),
            ahead: duration(args.ahead, "ahead", file.ahead, 60)?,
            name: match args.name.or(file.name) {
                Some(name) => name,
                None => host_name()?,
            },
            max_skew: duration(args.max_skew, "max-skew", file.max_skew, if env.is_empty() { 10 } else { 2 })?,
            new: args.new,
            env,
            margin: duration(args.margin, "margin", file.margin, 5)?,
            runs_ahead: duration(args.runs_ahead, "runs-ahead", file.runs_ahead, 0)?,
            on_loss: match on_loss {
                OnLoss::Stop => child::OnLoss::Stop,
                OnLoss::Keep => child::OnLoss::Keep,
            },
            nodes,
            segments,
            keys,
            max_step: args.max_step.or(count(file.max_step, "max-step")?).unwrap_or(1_000_000),
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
        2 * self.max_skew + self.runs_ahead
    }

    fn check_env(&self) -> anyhow::Result<()> {
        ensure!(!self.child.is_empty(), "--env is for a child: write its command after --");
        let mut names: Vec<&str> = self.env.iter().map(|variable| variable.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("the variable {} was given twice", pair[0]);
        }
        // The clock may be stepped from one end of what the guard allows to the other.
        let least = 2 * self.max_skew + KILL;
        ensure!(
            self.margin >= least,
            "--margin {:?} is less than {least:?}: twice --max-skew {:?} plus {KILL:?} to end the child",
            self.margin,
            self.max_skew
        );
        let least = 7 * self.margin + 3 * self.runs_ahead;
        let and_three = match self.runs_ahead {
            Duration::ZERO => String::new(),
            runs_ahead => format!(" plus three times --runs-ahead {runs_ahead:?}, {least:?}"),
        };
        ensure!(
            self.ahead >= least,
            "--ahead {:?} is less than seven times --margin {:?}{and_three}: the child would end although the store answers",
            self.ahead,
            self.margin
        );
        Ok(())
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            !self.nodes.is_empty() || !self.segments.is_empty(),
            "nothing to do: give --node NAME=LAYOUT, such as --node orders=snowflake, or --segment TAG"
        );
        let mut names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("the node {} was given twice", pair[0]);
        }
        let mut tags: Vec<&str> = self.segments.iter().map(|(tag, _)| tag.as_str()).collect();
        tags.sort_unstable();
        if let Some(pair) = tags.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("the segment {} was given twice", pair[0]);
        }
        for Node { name, layout, .. } in &self.nodes {
            let (first_ms, last_ms) = layout.range_ms().into_inner();
            ensure!(
                (first_ms..=last_ms).contains(&txid::system_ms()),
                "the layout of the node {name} has ids from {} to {}: take another epoch or more time_bits, as in \
                 worker_node:time_bits=30,node_bits=20,sequence_bits=13,unit_ms=1000,epoch=2016-05-19T16:00:00Z",
                date(first_ms),
                date(last_ms)
            );
        }
        let day = Duration::from_secs(24 * 60 * 60);
        ensure!(
            (Duration::from_secs(2)..=day).contains(&self.ahead),
            "--ahead {:?} is not between 2s and 1d",
            self.ahead
        );
        ensure!(
            (Duration::from_millis(100)..=MOST_SKEW).contains(&self.max_skew),
            "--max-skew {:?} is not between 100ms and {MOST_SKEW:?}: no other host of the group expects more",
            self.max_skew
        );
        if !self.env.is_empty() {
            self.check_env()?;
        }
        let is_text = !self.name.is_empty() && self.name.len() <= 255 && !self.name.chars().any(char::is_control);
        ensure!(is_text, "--name {:?} is not one line of at most 255 bytes", self.name);
        Ok(())
    }
}

impl File {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            anyhow::anyhow!("{} line {line}: {}", path.display(), error.message().trim())
        })
    }
}

fn date(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| format!("{ms} ms"), |time| time.to_string())
}

fn host_name() -> anyhow::Result<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    ensure!(!name.is_empty(), "this host has no name: give --name");
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
        assert_eq!(config(&[]).unwrap().name, host.trim_end());
        let longest = "x".repeat(255);
        assert_eq!(config(&["--name", &longest]).unwrap().name, longest);
        for name in ["", "two\nlines", &format!("{longest}x")] {
            let why = config(&["--name", name]).err().unwrap().to_string();
            assert!(why.ends_with("is not one line of at most 255 bytes"), "{why}");
        }
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
        assert_eq!(why("--margin 1s --ahead 7s"), "");
        assert_eq!(why("--margin 1s --ahead 13s --runs-ahead 2s"), "");
        assert!(
            why("--margin 999ms --ahead 7s").starts_with("--margin 999ms is less than 1s: twice --max-skew 250ms ")
        );
        let short = why("--margin 1s --ahead 6999ms");
        assert!(short.starts_with("--ahead 6.999s is less than seven times --margin 1s: "), "{short}");
        let short = why("--margin 1s --ahead 12999ms --runs-ahead 2s");
        assert!(short.contains("--margin 1s plus three times --runs-ahead 2s, 13s: "), "{short}");
    }

    #[test]
    fn ids_of_a_child_are_as_far_ahead_as_clocks_differ_and_it_runs() {
        let ahead = |options: &[&str]| config(options).unwrap().most_ahead();
        assert_eq!(ahead(&["--max-skew", "200ms"]), Duration::from_millis(400));
        assert_eq!(ahead(&["--max-skew", "200ms", "--runs-ahead", "3s"]), Duration::from_millis(3_400));
    }
}
