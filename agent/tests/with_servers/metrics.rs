//! What an operator sees in Prometheus, and what wakes one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use crate::fleet::directory::Directory;
use crate::servers::{Server, http, run, until};

/// A host with an agent that keeps a lease and a segment.
struct Host {
    directory: Directory,
    agent: Child,
}

impl Host {
    fn new() -> Self {
        let directory = Directory::new();
        let agent = directory.start(&["--segment", "invoices", "--create"]);
        Self { directory, agent }
    }

    fn metrics(&self) -> String {
        String::from_utf8(self.directory.status(&["--prometheus"]).stdout).unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.agent.kill().unwrap();
        self.agent.wait().unwrap();
    }
}

/// A file of the project.
fn path(name: &str) -> String {
    format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))
}

fn contents(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

/// A table of Markdown: what `status --prometheus` says of each family, with the states that it may have.
fn table(metrics: &str) -> String {
    let mut rows = "| metric | type | meaning |\n|---|---|---|\n".to_owned();
    for family in metrics.split("# HELP ").skip(1) {
        let mut lines = family.lines();
        let (name, help) = lines.next().and_then(|line| line.split_once(' ')).unwrap();
        let kind = lines.next().and_then(|line| line.rsplit(' ').next()).unwrap();
        let states: Vec<_> =
            lines.filter_map(|line| Some(format!("`{}`", line.split("state=\"").nth(1)?.split('"').next()?))).collect();
        let states = if states.is_empty() { String::new() } else { format!(" `state`: {}.", states.join(", ")) };
        rows += &format!("| `{name}` | {kind} | {help}{states} |\n");
    }
    rows
}

/// TXID_BLESS=1 writes it between its marks.
#[test]
fn the_page_has_each_metric() {
    let (page, metrics) = (path("agent/docs/metrics.md"), Host::new().metrics());
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("status --prometheus prints -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of metrics -->").unwrap();
    let written = format!("{before}status --prometheus prints -->\n{}<!-- end of metrics -->{after}", table(&metrics));
    if std::env::var_os("TXID_BLESS").is_some() {
        fs::write(&page, &written).unwrap();
    }
    assert_eq!(fs::read_to_string(&page).unwrap(), written, "TXID_BLESS=1 writes the table");
}

/// Runs promtool on an input; returns what it says, and whether it is content.
pub fn promtool(arguments: &[&str], input: &str) -> (bool, String) {
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("promtool: scripts/need.sh stores installs it");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_metrics_are_named_by_the_rules_of_prometheus() {
    let metrics = Host::new().metrics();
    assert_eq!(promtool(&["check", "metrics"], &metrics), (true, String::new()));
    let (is_content, _) = promtool(&["check", "metrics"], &metrics.replace("renewals_total", "renewals"));
    assert!(!is_content, "promtool finds nothing");
}

#[test]
fn each_alert_fires_when_it_should_and_only_then() {
    let tests = path("agent/tests/with_servers/alerts.yml");
    let (is_content, said) = promtool(&["test", "rules", &tests], "");
    assert!(is_content, "{said}");
    let names = |text: String, key: &str| -> BTreeSet<String> {
        text.lines().filter_map(|line| Some(line.split_once(key)?.1.split(',').next()?.trim().to_owned())).collect()
    };
    assert_eq!(
        names(contents("examples/agent/alerts.yml"), "- alert:"),
        names(fs::read_to_string(tests).unwrap(), "alertname:")
    );
}

/// When half of their leases has passed, and when no host has ids any more. promtool holds at most 10,000 samples for an expression.
#[test]
fn an_outage_of_three_hundred_hosts_is_one_page() {
    let rules = path("examples/agent/alerts.yml");
    let mut tests = format!(
        "rule_files: [{rules}]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n      \
         - {{series: txid_agent_build_info, values: 1x30}}\n"
    );
    for host in 0..300 {
        let mut series = |metric: &str, more: &str, values: &str| {
            let labels = format!("instance=\"{host}\",store=\"etcd\",name=\"orders\"{more}");
            tests += &format!("      - {{series: 'txid_agent_lease_{metric}{{{labels}}}', values: '{values}'}}\n");
        };
        series("live", "", "1x4 0x20");
        series("left_ratio", "", "1 1 0.75 0.5 0.25 0x20");
        series("contact_timestamp_seconds", "", "0 15x30");
        series("state", ",state=\"held\"", "1x30");
    }
    tests += "    promql_expr_test:\n";
    for (time, severity, alerts) in
        [("45s", "critical", 0), ("75s", "critical", 1), ("75s", "warning", 300), ("5m", "critical", 1)]
    {
        let samples = if alerts == 0 { String::new() } else { format!("{{value: {alerts}}}") };
        let count = format!("count(ALERTS{{alertstate=\"firing\",severity=\"{severity}\"}})");
        tests += &format!("      - {{expr: '{count}', eval_time: {time}, exp_samples: [{samples}]}}\n");
    }
    let directory = Directory::new();
    fs::write(directory.path("tests.yml"), tests).unwrap();
    let (is_content, said) = promtool(&["test", "rules", directory.path("tests.yml").to_str().unwrap()], "");
    assert!(is_content, "{said}");
}

/// What Prometheus answers.
fn get(prometheus: &Server, path: &str) -> serde_json::Value {
    let body = http(prometheus.port, "GET", path, "").unwrap_or_else(|| panic!("{path}: no answer"));
    serde_json::from_str(&body).unwrap()
}

/// The samples that an expression has now.
fn query(prometheus: &Server, expression: &str) -> Vec<serde_json::Value> {
    let escaped = percent_encoding::utf8_percent_encode(expression, percent_encoding::NON_ALPHANUMERIC);
    let answer = get(prometheus, &format!("/api/v1/query?query={escaped}"));
    answer["data"]["result"].as_array().unwrap().clone()
}

/// A real agent, whose metrics are written as the documents say; a real node_exporter, and a real Prometheus.
#[test]
fn prometheus_runs_each_expression_of_the_dashboard_and_no_alert_fires() {
    let host = Host::new();
    let textfiles = host.directory.path("textfiles");
    fs::create_dir(&textfiles).unwrap();
    let documents = contents("agent/docs/metrics.md");
    let (_, script) = documents.split_once("```sh\n").unwrap();
    let script = script.split("```").next().unwrap();
    // The unit does the same.
    let unit = contents("examples/agent/txid-metrics.service");
    for command in ["txid-agent status --prometheus", "mv "] {
        assert!(script.contains(command) && unit.contains(command), "{command}");
    }
    let script = script
        .replace("/var/lib/prometheus/node-exporter", textfiles.to_str().unwrap())
        .replace("--prometheus", &format!("--prometheus --dir {}/run", host.directory.0.path().display()))
        .replace("txid-agent ", concat!("'", env!("CARGO_BIN_EXE_txid-agent"), "' "));
    // As its timer does again and again: metrics that are old raise an alert.
    let write = || run(Command::new("sh").args(["-ec", &script]));
    write();

    let exporter = Server::start(
        |_| {},
        move |_, port| {
            let mut command = Command::new("prometheus-node-exporter");
            command.args(["--collector.disable-defaults", "--collector.textfile"]);
            command.arg(format!("--collector.textfile.directory={}", textfiles.display()));
            command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
            command
        },
    );
    let configuration = format!(
        "global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}\nrule_files: [{}]\nscrape_configs:\n  \
         - {{job_name: node, static_configs: [{{targets: ['127.0.0.1:{}']}}]}}\n",
        path("examples/agent/alerts.yml"),
        exporter.port
    );
    let prometheus = Server::start(
        |directory| fs::write(directory.join("prometheus.yml"), configuration).unwrap(),
        |directory, port| {
            let mut command = Command::new("prometheus");
            command.arg(format!("--config.file={}/prometheus.yml", directory.display()));
            command.arg(format!("--storage.tsdb.path={}/data", directory.display()));
            command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
            command
        },
    );
    until("Prometheus is not ready", || http(prometheus.port, "GET", "/-/ready", "").is_some());
    // Two, because a rate needs them.
    until("no samples", || !query(&prometheus, "count_over_time(txid_agent_lease_live[1m]) > 1").is_empty());

    let dashboard: serde_json::Value = serde_json::from_str(&contents("examples/agent/dashboard.json")).unwrap();
    assert!(dashboard["description"].as_str().unwrap().contains("not opened in Grafana"));
    let panels = dashboard["panels"].as_array().unwrap();
    assert_eq!(panels.len(), 8);
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let expression = target["expr"].as_str().unwrap();
        let samples = query(&prometheus, expression);
        assert!(!samples.is_empty(), "{expression}: nothing");
        for label in target["legendFormat"].as_str().unwrap().split("{{").skip(1) {
            let label = label.split("}}").next().unwrap();
            assert!(samples.iter().all(|sample| sample["metric"][label].is_string()), "{expression}: no {label}");
        }
    }

    let rules = get(&prometheus, "/api/v1/rules");
    let rules = rules["data"]["groups"][0]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), contents("examples/agent/alerts.yml").matches("- alert:").count());
    until("the rules are not evaluated", || {
        let rules = get(&prometheus, "/api/v1/rules");
        rules["data"]["groups"][0]["rules"].as_array().unwrap().iter().all(|rule| rule["health"] == "ok")
    });
    until("an alert fires", || {
        write();
        let alerts = query(&prometheus, "ALERTS");
        if alerts.is_empty() { Ok(()) } else { Err(format!("{alerts:?}")) }
    });
}
