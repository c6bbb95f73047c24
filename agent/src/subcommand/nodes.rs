//! `txid-agent nodes`: lists the nodes and their holders.

use super::records::{group, state};
use crate::args::Nodes;
use crate::config;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use txid_agent::store;
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::utc;

pub fn run(args: &Nodes) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&config::store(&args.group.from)?)?;
    let (group, _) = group(&mut *store, &args.group.name)?;
    let prefix = Group::nodes(&args.group.name);
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
        writeln!(stderr(), "txid-agent: {key}: {why}")?;
    }
    let code = if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    let mut out = stdout().lock();
    if args.json {
        for (node, record) in nodes {
            let NodeRecord { generation, limit_ms, owner, .. } = &record;
            let (state, until) = (state(&record), utc(*limit_ms));
            let shown =
                json!({ "node": node, "state": state, "until": until, "generation": generation, "owner": owner });
            writeln!(out, "{shown}")?;
        }
        return Ok(code);
    }
    let floor = if group.floor_ms == Group::UNSET { "not set yet".to_owned() } else { utc(group.floor_ms) };
    writeln!(out, "layout {}, floor {floor}", group.layout)?;
    writeln!(out, "{:>8}  {:8}  {:24}  {:>10}  OWNER", "NODE", "STATE", "UNTIL", "GENERATION")?;
    for (node, record) in nodes {
        let (state, until) = (state(&record), utc(record.limit_ms));
        writeln!(out, "{node:>8}  {state:8}  {until:24}  {:>10}  {}", record.generation, record.owner)?;
    }
    Ok(code)
}
