//! Metrics in the text format of Prometheus.

use std::path::Path;
use txid_agent::keeper::notes;

/// What the name of each begins with.
const PREFIX: &str = "txid_agent_";

/// Its name after that, its type, what it means, and its value for a lease or a segment.
pub type Metric<T> = (&'static str, &'static str, &'static str, fn(&T) -> f64);

/// The labels of a lease or a segment: its name, and its store as the agent has written it beside the file.
pub fn labels(name: &str, page: &Path) -> String {
    let store = notes::read(page, notes::STORE).unwrap_or_default();
    format!("name=\"{name}\",store=\"{}\"", store.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The program itself.
pub fn build_info() -> String {
    let head = head("build_info", "gauge", "1; the label is the version.");
    format!("{head}{PREFIX}build_info{{version=\"{}\"}} 1\n", env!("CARGO_PKG_VERSION"))
}

/// A family for each of `metrics`, with a sample for each of `all`.
pub fn samples<T>(metrics: &[Metric<T>], all: &[T], labels: fn(&T) -> &str) -> String {
    let mut text = String::new();
    for (metric, kind, help, value) in metrics {
        text += &head(metric, kind, help);
        for it in all {
            let value = value(it);
            let value = if value.is_finite() { value.to_string() } else { "+Inf".to_owned() };
            text += &format!("{PREFIX}{metric}{{{}}} {value}\n", labels(it));
        }
    }
    text
}

/// A family with a sample for each state that `all` may be in: 1 for the current one, 0 for the others. So an alert may
/// ask for one of them at any time.
pub fn states<'a>(
    metric: &str,
    help: &str,
    all: impl Iterator<Item = (&'a str, &'static str)>,
    states: &[&'static str],
) -> String {
    let mut text = head(metric, "gauge", help);
    for (labels, current) in all {
        for state in states {
            let value = u8::from(*state == current);
            text += &format!("{PREFIX}{metric}{{{labels},state=\"{state}\"}} {value}\n");
        }
    }
    text
}

/// The metrics as OpenMetrics, where a counter's family has a name without `_total`.
pub fn open_metrics(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(_) => line.replacen("_total ", " ", 1) + "\n",
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect::<String>() + "# EOF\n"
}

fn head(metric: &str, kind: &str, help: &str) -> String {
    format!("# HELP {PREFIX}{metric} {help}\n# TYPE {PREFIX}{metric} {kind}\n")
}
