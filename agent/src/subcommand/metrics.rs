//! Metrics in the text format of Prometheus.

/// Its name, its type, what it means, and its value for a lease or a segment.
pub type Metric<T> = (&'static str, &'static str, &'static str, fn(&T) -> f64);

/// A family for each of `metrics`, with a sample for each of `all`.
pub fn samples<T>(metrics: &[Metric<T>], all: &[T], name: fn(&T) -> &str) -> String {
    let mut text = String::new();
    for (metric, kind, help, value) in metrics {
        text += &head(metric, kind, help);
        for it in all {
            let value = value(it);
            let value = if value.is_finite() { value.to_string() } else { "+Inf".to_owned() };
            text += &format!("{metric}{{name=\"{}\"}} {value}\n", name(it));
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
    for (name, current) in all {
        for state in states {
            let value = u8::from(*state == current);
            text += &format!("{metric}{{name=\"{name}\",state=\"{state}\"}} {value}\n");
        }
    }
    text
}

fn head(metric: &str, kind: &str, help: &str) -> String {
    format!("# HELP {metric} {help}\n# TYPE {metric} {kind}\n")
}
