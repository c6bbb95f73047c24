//! `txid-agent status`: shows the leases and segments of this host, read from their files alone.

use super::metrics::{Metric, build_info, labels, samples, states};
use super::numbers::{self, Numbers};
use crate::args::Status;
use anyhow::Context;
use serde_json::json;
use std::fs;
use std::io::{Write, stderr, stdout};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use txid::snowflake::{Generator, Layout, LeaseNews, LeasePage, LeaseView, Refusal};
use txid_agent::keeper::notes;
use txid_agent_machines::utc;

/// The contents of one file.
struct Lease {
    name: String,
    labels: String,
    layout: Layout,
    view: LeaseView,
    left_ms: i64,
    /// How much of its quota the store has used; 0 if that is not known.
    used: f64,
    /// Why a process would get no id now: the answer of the code that it would ask.
    refusal: Option<Refusal>,
}

impl Lease {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let page = LeasePage::attach(path)?;
        let (view, now_ms) = (page.view(), txid::system_ms());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let left_ms = view.limit_ms.map_or(0, |limit_ms| (limit_ms - now_ms).max(0));
        let state = page.state();
        Ok(Self {
            labels: labels(&name, path),
            name,
            layout: *state.layout(),
            view,
            left_ms,
            used: notes::read(path, notes::ROOM).and_then(|used| used.parse().ok()).unwrap_or(0.0),
            refusal: Generator::new(state).refusal_at(now_ms),
        })
    }

    /// The last millisecond of the layout.
    fn layout_ends_ms(&self) -> i64 {
        *self.layout.range_ms().end()
    }

    /// How much of the time that the store granted is left.
    fn left_ratio(&self) -> f64 {
        let granted_ms = self.view.limit_ms.zip(self.view.contact_ms).map_or(0, |(limit, contact)| limit - contact);
        self.left_ms as f64 / granted_ms.max(self.left_ms).max(1) as f64
    }

    fn is_live(&self) -> bool {
        self.refusal.is_none()
    }
}

pub fn run(args: &Status) -> anyhow::Result<ExitCode> {
    let files = if args.files.is_empty() { files(&args.dir)? } else { args.files.clone() };
    let mut unreadable = false;
    let (leases, segments) = read(files, |error| {
        unreadable = true;
        let _ = writeln!(stderr(), "txid-agent: {error:#}");
    });
    let mut out = stdout().lock();
    if args.prometheus {
        write!(out, "{}", all_metrics(&leases, &segments))?;
    } else {
        for lease in &leases {
            writeln!(out, "{}", if args.json { json(lease) } else { text(lease) })?;
        }
        for numbers in &segments {
            writeln!(out, "{}", if args.json { numbers.json() } else { numbers.text() })?;
        }
    }
    let all_live = leases.iter().all(Lease::is_live) && segments.iter().all(Numbers::is_live);
    Ok(if unreadable { ExitCode::from(2) } else { ExitCode::from(u8::from(!all_live)) })
}

/// The metrics of the files in a directory that can be read.
pub fn metrics(dir: &Path) -> String {
    let (leases, segments) = read(files(dir).unwrap_or_default(), drop);
    all_metrics(&leases, &segments)
}

fn all_metrics(leases: &[Lease], segments: &[Numbers]) -> String {
    prometheus(leases) + &numbers::prometheus(segments) + &build_info()
}

/// The contents of the files that can be read. `tell` hears of the others.
fn read(files: Vec<PathBuf>, mut tell: impl FnMut(anyhow::Error)) -> (Vec<Lease>, Vec<Numbers>) {
    let (segments, leases): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| Numbers::are_in(file));
    let leases = leases.iter().filter_map(|file| Lease::read(file).map_err(&mut tell).ok()).collect();
    (leases, segments.iter().filter_map(|file| Numbers::read(file).map_err(&mut tell).ok()).collect())
}

const NO_FILES: &str = "no txid-agent has made its files here, or they were removed, as its log then says";

/// All leases in a directory. Names with a leading dot are locks, and a socket may be the one of --listen.
fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let context = || format!("{}: {NO_FILES}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(context)? {
        let entry = entry.with_context(context)?;
        let is_socket = entry.file_type().is_ok_and(|kind| kind.is_socket());
        if !is_socket && !entry.file_name().to_string_lossy().starts_with('.') {
            files.push(entry.path());
        }
    }
    files.sort();
    anyhow::ensure!(!files.is_empty(), "no leases in {}: {NO_FILES}", dir.display());
    Ok(files)
}

fn text(lease: &Lease) -> String {
    let Lease { name, view, left_ms, refusal, .. } = lease;
    let state = match (refusal, view.limit_ms) {
        (Some(why), _) => format!("no ids: {why}"),
        (None, Some(limit_ms)) => format!("node {}, until {} ({} s left)", view.node, utc(limit_ms), left_ms / 1000),
        (None, None) => "no lease".to_owned(),
    };
    let contact = view.contact_ms.map_or("never".to_owned(), utc);
    format!(
        "{name}: {state}; the store last answered {contact}; {} renewals, {} failures; the layout ends at {}",
        view.renewals,
        view.failures,
        utc(lease.layout_ends_ms())
    )
}

fn json(lease: &Lease) -> String {
    let Lease { name, view, left_ms, refusal, .. } = lease;
    json!({
        "name": name,
        "live": lease.is_live(),
        "reason": refusal.map(|why| why.name()),
        "node": view.limit_ms.map(|_| view.node),
        "limit": view.limit_ms.map(utc),
        "lease_left_ms": left_ms,
        "generation": view.generation,
        "contact": view.contact_ms.map(utc),
        "renewals": view.renewals,
        "failures": view.failures,
        "layout_ends": utc(lease.layout_ends_ms()),
    })
    .to_string()
}

fn prometheus(leases: &[Lease]) -> String {
    let metrics: [Metric<Lease>; 10] = [
        ("lease_live", "gauge", "1 if ids can be made.", |it| f64::from(u8::from(it.is_live()))),
        ("lease_node", "gauge", "The node.", |it| it.view.node as f64),
        ("lease_nodes", "gauge", "How many nodes the layout has.", |it| it.layout.last_node() as f64 + 1.0),
        ("lease_left_seconds", "gauge", "How long ids continue if the store does not answer.", |it| {
            it.left_ms as f64 / 1e3
        }),
        ("lease_left_ratio", "gauge", "How much of that is left since the store last answered.", Lease::left_ratio),
        ("lease_contact_timestamp_seconds", "gauge", "When the store last answered.", |it| {
            it.view.contact_ms.unwrap_or(0) as f64 / 1e3
        }),
        ("lease_renewals_total", "counter", "Renewals of the lease.", |it| it.view.renewals as f64),
        ("lease_failures_total", "counter", "Failed requests to the store.", |it| it.view.failures as f64),
        ("lease_layout_end_timestamp_seconds", "gauge", "When the layout ends.", |it| it.layout_ends_ms() as f64 / 1e3),
        ("lease_store_used_ratio", "gauge", "How much of its quota the store has used; 0 if not known.", |it| it.used),
    ];
    let news = leases.iter().map(|lease| (&*lease.labels, lease.view.news.name()));
    samples(&metrics, leases, |lease| &lease.labels)
        + &states("lease_state", "1 for what the agent last reported.", news, &LeaseNews::ALL.map(LeaseNews::name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> Lease {
        let view = LeaseView {
            node: 17,
            is_closed: false,
            limit_ms: Some(1_700_000_060_000),
            free_ms: 1_700_000_000_001,
            generation: 3,
            token: 4,
            confirmed_ms: 1_700_000_060_000,
            noted_ms: 1_700_000_060_000,
            contact_ms: Some(1_700_000_000_500),
            renewals: 5,
            failures: 6,
            news: LeaseNews::Held,
        };
        Lease {
            name: "orders".to_owned(),
            labels: "name=\"orders\"".to_owned(),
            layout: Layout::SNOWFLAKE53,
            view,
            left_ms: 59_500,
            used: 0.25,
            refusal: None,
        }
    }

    #[test]
    fn each_metric_has_its_own_value() {
        let text = prometheus(&[lease()]);
        assert_eq!(
            numbers::tests::samples(&text),
            [
                "txid_agent_lease_live{name=\"orders\"} 1",
                "txid_agent_lease_node{name=\"orders\"} 17",
                "txid_agent_lease_nodes{name=\"orders\"} 1024",
                "txid_agent_lease_left_seconds{name=\"orders\"} 59.5",
                "txid_agent_lease_left_ratio{name=\"orders\"} 1",
                "txid_agent_lease_contact_timestamp_seconds{name=\"orders\"} 1700000000.5",
                "txid_agent_lease_renewals_total{name=\"orders\"} 5",
                "txid_agent_lease_failures_total{name=\"orders\"} 6",
                "txid_agent_lease_layout_end_timestamp_seconds{name=\"orders\"} 4168849469.439",
                "txid_agent_lease_store_used_ratio{name=\"orders\"} 0.25",
                "txid_agent_lease_state{name=\"orders\",state=\"starting\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"held\"} 1",
                "txid_agent_lease_state{name=\"orders\",state=\"lost\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"copied\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"asking\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"waiting\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"none-free\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"clock-off\"} 0",
                "txid_agent_lease_state{name=\"orders\",state=\"released\"} 0",
            ]
        );
    }

    #[test]
    fn each_field_has_its_own_value() {
        let status: serde_json::Value = serde_json::from_str(&json(&lease())).unwrap();
        let expected = json!({
            "name": "orders", "live": true, "reason": null, "node": 17, "limit": "2023-11-14T22:14:20.000Z", "lease_left_ms": 59_500,
            "generation": 3, "contact": "2023-11-14T22:13:20.500Z", "renewals": 5, "failures": 6,
            "layout_ends": "2102-02-08T13:44:29.439Z",
        });
        assert_eq!(status, expected);
        let text_of = |change: fn(&mut Lease)| {
            let mut lease = lease();
            change(&mut lease);
            text(&lease)
        };
        let rest = "5 renewals, 6 failures; the layout ends at 2102-02-08T13:44:29.439Z";
        let contact = "the store last answered 2023-11-14T22:13:20.500Z";
        let held = format!("orders: node 17, until 2023-11-14T22:14:20.000Z (59 s left); {contact}; {rest}");
        assert_eq!(text_of(|_| {}), held);
        assert_eq!(text_of(|it| it.view.limit_ms = None), format!("orders: no lease; {contact}; {rest}"));
        assert_eq!(text_of(|it| it.view.contact_ms = None), held.replace(contact, "the store last answered never"));
        let why = Refusal::Ended { end_ms: 5, clock_ms: 6 };
        let refused = text_of(|it| it.refusal = Some(Refusal::Ended { end_ms: 5, clock_ms: 6 }));
        assert_eq!(refused, format!("orders: no ids: {why}; {contact}; {rest}"));
    }

    #[test]
    fn a_directory_without_files_is_none_of_an_agent() {
        const NONE: &str = "no txid-agent has made its files here, or they were removed, as its log then says";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::write(path.join(".orders.command"), "").unwrap();
        let why = files(path).unwrap_err();
        assert_eq!(format!("{why:#}"), format!("no leases in {}: {NONE}", path.display()));
        let gone = path.join("gone");
        let why = files(&gone).unwrap_err();
        assert_eq!(format!("{why:#}"), format!("{}: {NONE}: No such file or directory (os error 2)", gone.display()));
        ["b", "a"].iter().for_each(|name| fs::write(path.join(name), "").unwrap());
        assert_eq!(files(path).unwrap(), ["a", "b"].map(|name| path.join(name)));
    }
}
