//! `txid-agent nodes`: lists the nodes and their holders.

use super::records::{group, state};
use crate::args::Nodes;
use crate::config;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use txid_agent::store::{self, Store};
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::utc;

pub fn run(args: &Nodes) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&config::store(&args.group.from)?)?;
    let is_whole = show(&mut *store, &args.group.name, args.json, &mut stdout().lock(), &mut stderr())?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the records to `out`, and why some cannot be shown to `log`. Returns whether all were shown.
fn show(
    store: &mut dyn Store,
    name: &str,
    is_json: bool,
    out: &mut impl Write,
    log: &mut impl Write,
) -> anyhow::Result<bool> {
    let (group, _) = group(store, name)?;
    let prefix = Group::nodes(name);
    let mut nodes: BTreeMap<u64, NodeRecord> = BTreeMap::new();
    let mut bad = BTreeMap::new();
    store.list(&prefix, &mut |key, record| {
        let number = key.strip_prefix(&prefix).and_then(|number| number.parse().ok());
        match (number, NodeRecord::parse(&record.bytes)) {
            (Some(node), Ok(record)) => _ = nodes.insert(node, record),
            (_, parsed) => {
                let why = parsed.err().map_or("not the key of a node".to_owned(), |bad| bad.to_string());
                bad.insert(key.to_owned(), why);
            }
        }
    })?;
    for (key, why) in &bad {
        writeln!(log, "txid-agent: {key}: {why}")?;
    }
    if is_json {
        for (node, record) in nodes {
            let NodeRecord { generation, limit_ms, owner, .. } = &record;
            let (state, until) = (state(&record), utc(*limit_ms));
            let shown =
                json!({ "node": node, "state": state, "until": until, "generation": generation, "owner": owner });
            writeln!(out, "{shown}")?;
        }
        return Ok(bad.is_empty());
    }
    let floor = if group.floor_ms == Group::UNSET { "not set yet".to_owned() } else { utc(group.floor_ms) };
    writeln!(out, "layout {}, floor {floor}", group.layout)?;
    writeln!(out, "{:>8}  {:8}  {:24}  {:>10}  OWNER", "NODE", "STATE", "UNTIL", "GENERATION")?;
    for (node, record) in nodes {
        let (state, until) = (state(&record), utc(record.limit_ms));
        writeln!(out, "{node:>8}  {state:8}  {until:24}  {:>10}  {}", record.generation, record.owner)?;
    }
    Ok(bad.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::{NODE, directory, fill};
    use super::*;

    #[test]
    fn nodes_are_shown_in_their_order_and_what_is_none_is_named() {
        let (directory, mut store) = directory();
        let mut shown = |is_json| {
            let (mut out, mut log) = (Vec::new(), Vec::new());
            let shown = show(&mut *store, "orders", is_json, &mut out, &mut log).map_err(|error| error.to_string());
            (shown, String::from_utf8([out, log].concat()).unwrap())
        };
        assert_eq!(shown(false), (Err("the store has no nodes with the name orders".to_owned()), String::new()));
        let group = |floor_ms: i64| {
            format!("txid-group 1 floor={floor_ms} made=0 id=00000000000000000000000000000001 layout=snowflake")
        };
        fill(&directory, "meta", &group(i64::MAX));
        let head = "    NODE  STATE     UNTIL                     GENERATION  OWNER\n";
        assert_eq!(shown(false), (Ok(true), format!("layout snowflake, floor not set yet\n{head}")));
        fill(&directory, "meta", &group(1_700_000_000_000));
        fill(&directory, "node/10", NODE);
        fill(&directory, "node/9", &NODE.replace("held", "released"));
        let floor = "layout snowflake, floor 2023-11-14T22:13:20.000Z";
        let nine = "       9  released  2023-11-14T22:13:20.123Z           3  web-1";
        let ten = "      10  held      2023-11-14T22:13:20.123Z           3  web-1";
        let table = format!("{floor}\n{head}{nine}\n{ten}\n");
        assert_eq!(shown(false), (Ok(true), table.clone()));
        let json = |node, state: &str| {
            format!(
                r#"{{"generation":3,"node":{node},"owner":"web-1","state":"{state}","until":"2023-11-14T22:13:20.123Z"}}"#
            )
        };
        let lines = format!("{}\n{}\n", json(9, "released"), json(10, "held"));
        assert_eq!(shown(true), (Ok(true), lines.clone()));
        fill(&directory, "node/x", NODE);
        fill(&directory, "node/1", "nonsense");
        let bad = "txid-agent: orders/node/1: 'nonsense' is not a record of this version of txid-agent\n\
                   txid-agent: orders/node/x: not the key of a node\n";
        assert_eq!(shown(false), (Ok(false), format!("{table}{bad}")));
        assert_eq!(shown(true), (Ok(false), format!("{lines}{bad}")));
    }
}
