//! The segments in `txid-agent status`.

use super::metrics::{Metric, labels, samples, states};
use serde_json::json;
use std::path::Path;
use txid::segment::{Segment, SegmentNews, SegmentStats};
use txid_agent_machines::utc;

const STARTING: &str = "starting";

/// The contents of one file.
pub struct Numbers {
    name: String,
    labels: String,
    stats: SegmentStats,
}

impl Numbers {
    /// Whether a file is a segment's, by its name.
    pub fn are_in(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "segment")
    }

    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { labels: labels(&name, path), name, stats: Segment::attach(path)?.stats() })
    }

    fn left(&self) -> u64 {
        self.stats.left + self.stats.next
    }

    pub fn is_live(&self) -> bool {
        self.left() > 0
    }

    /// What the agent last reported; before its first word from the store, that it is starting.
    fn state(&self) -> &'static str {
        match self.stats {
            SegmentStats { contact_ms: None, news: SegmentNews::Serving, .. } if self.left() == 0 => STARTING,
            _ => self.stats.news.name(),
        }
    }

    pub fn text(&self) -> String {
        let Self { name, stats, .. } = self;
        let lasts = match stats.lasts_ms() {
            Some(ms) => format!("for {} s at {} a second", ms / 1000, rate(stats)),
            None => "none are taken now".to_owned(),
        };
        let contact = stats.contact_ms.map_or("never".to_owned(), utc);
        format!(
            "{name}: {} numbers left up to {}, {lasts}; takes {} at a time; the store last answered {contact}; {} ranges, {} failures; {}",
            self.left(),
            stats.granted,
            stats.step,
            stats.fetches,
            stats.failures,
            self.state()
        )
    }

    pub fn json(&self) -> String {
        let Self { name, stats, .. } = self;
        json!({
            "name": name,
            "live": self.is_live(),
            "left": stats.left,
            "next": stats.next,
            "granted": stats.granted,
            "step": stats.step,
            "rate": rate(stats),
            "lasts_ms": stats.lasts_ms(),
            "contact": stats.contact_ms.map(utc),
            "ranges": stats.fetches,
            "failures": stats.failures,
            "news": self.state(),
        })
        .to_string()
    }
}

/// Numbers a second.
fn rate(stats: &SegmentStats) -> f64 {
    stats.rate_milli as f64 / 1e3
}

pub fn prometheus(all: &[Numbers]) -> String {
    let metrics: [Metric<Numbers>; 7] = [
        ("segment_left", "gauge", "Numbers left in both ranges.", |it| it.left() as f64),
        ("segment_rate", "gauge", "Numbers taken per second.", |it| rate(&it.stats)),
        (
            "segment_lasts_seconds",
            "gauge",
            "How long the numbers last at this rate if the store does not answer.",
            |it| it.stats.lasts_ms().map_or(f64::INFINITY, |ms| ms as f64 / 1e3),
        ),
        ("segment_step", "gauge", "Numbers taken from the store at a time.", |it| it.stats.step as f64),
        ("segment_contact_timestamp_seconds", "gauge", "When the store last answered.", |it| {
            it.stats.contact_ms.unwrap_or(0) as f64 / 1e3
        }),
        ("segment_ranges_total", "counter", "Ranges taken from the store.", |it| it.stats.fetches as f64),
        ("segment_failures_total", "counter", "Failed requests to the store.", |it| it.stats.failures as f64),
    ];
    let news = all.iter().map(|it| (&*it.labels, it.state()));
    let all_states: Vec<_> = [STARTING].into_iter().chain(SegmentNews::ALL.map(SegmentNews::name)).collect();
    samples(&metrics, all, |it| &it.labels) + &states("segment_state", "1 for the current state.", news, &all_states)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn numbers() -> Numbers {
        let stats = SegmentStats {
            left: 300,
            next: 700,
            granted: 5_000,
            step: 800,
            rate_milli: 2_500,
            contact_ms: Some(1_700_000_000_500),
            fetches: 5,
            failures: 6,
            news: SegmentNews::Serving,
        };
        Numbers { name: "invoices".to_owned(), labels: "name=\"invoices\"".to_owned(), stats }
    }

    #[test]
    fn a_segment_whose_store_never_answered_does_not_serve() {
        let mut numbers = numbers();
        numbers.stats = SegmentStats { left: 0, next: 0, contact_ms: None, ..numbers.stats };
        let text = "invoices: 0 numbers left up to 5000, for 0 s at 2.5 a second; takes 800 at a time; the store last answered \
                    never; 5 ranges, 6 failures; starting";
        assert_eq!(numbers.text(), text);
        assert!(numbers.json().contains("\"news\":\"starting\"") && !numbers.is_live());
        assert!(prometheus(&[numbers]).contains("state=\"serving\"} 0\n"));
        // It has numbers of an agent before.
        let stats = SegmentStats { contact_ms: None, ..self::numbers().stats };
        assert!(Numbers { name: "a".to_owned(), labels: String::new(), stats }.text().ends_with("; serving"));
        let stats = SegmentStats { rate_milli: 0, ..stats };
        let text = "a: 1000 numbers left up to 5000, none are taken now; takes 800 at a time; the store last answered never; 5 \
                    ranges, 6 failures; serving";
        assert_eq!(Numbers { name: "a".to_owned(), labels: String::new(), stats }.text(), text);
        assert!(Numbers::are_in(Path::new("/run/a.segment")) && !Numbers::are_in(Path::new("/run/segment")));
    }

    /// The lines with values. The others are in the document.
    pub fn samples(text: &str) -> Vec<&str> {
        let document = include_str!("../../docs/metrics.md");
        let (heads, samples): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('#'));
        for head in heads.chunks_exact(2) {
            let (name, help) = head[0].strip_prefix("# HELP ").unwrap().split_once(' ').unwrap();
            let kind = head[1].strip_prefix(&format!("# TYPE {name} ")).unwrap();
            let line = format!("| `{name}` | {kind} | {help} ");
            let is_shown = ["|", "`state`: "].iter().any(|end| document.contains(&format!("{line}{end}")));
            assert!(is_shown, "{line}");
        }
        samples
    }

    #[test]
    fn each_metric_has_its_own_value() {
        let text = prometheus(&[numbers()]);
        assert_eq!(
            samples(&text),
            [
                "txid_agent_segment_left{name=\"invoices\"} 1000",
                "txid_agent_segment_rate{name=\"invoices\"} 2.5",
                "txid_agent_segment_lasts_seconds{name=\"invoices\"} 400",
                "txid_agent_segment_step{name=\"invoices\"} 800",
                "txid_agent_segment_contact_timestamp_seconds{name=\"invoices\"} 1700000000.5",
                "txid_agent_segment_ranges_total{name=\"invoices\"} 5",
                "txid_agent_segment_failures_total{name=\"invoices\"} 6",
                "txid_agent_segment_state{name=\"invoices\",state=\"starting\"} 0",
                "txid_agent_segment_state{name=\"invoices\",state=\"serving\"} 1",
                "txid_agent_segment_state{name=\"invoices\",state=\"no-tag\"} 0",
                "txid_agent_segment_state{name=\"invoices\",state=\"went-down\"} 0",
                "txid_agent_segment_state{name=\"invoices\",state=\"ended\"} 0",
            ]
        );
    }

    #[test]
    fn each_field_has_its_own_value() {
        let status: serde_json::Value = serde_json::from_str(&numbers().json()).unwrap();
        let expected = json!({
            "name": "invoices", "live": true, "left": 300, "next": 700, "granted": 5_000, "step": 800, "rate": 2.5,
            "lasts_ms": 400_000, "contact": "2023-11-14T22:13:20.500Z", "ranges": 5, "failures": 6, "news": "serving",
        });
        assert_eq!(status, expected);
    }
}
