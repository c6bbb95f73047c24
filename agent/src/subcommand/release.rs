//! `txid-agent release`: frees a node of a host that is gone.

use super::records::{change, group, tell_waiting};
use crate::args::Release;
use crate::config;
use anyhow::Context;
use txid_agent::store::{self, Store};
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::utc;

pub fn run(args: &Release) -> anyhow::Result<String> {
    release(&mut *store::open(&config::store(&args.group.from)?)?, &args.group.name, args.node)
}

/// Tells what was done.
fn release(store: &mut dyn Store, name: &str, node: u64) -> anyhow::Result<String> {
    group(store, name)?;
    let mut done = String::new();
    change(store, &Group::node_key(name, node), |found| {
        let found = found.with_context(|| format!("node {node} of {name} was never leased"))?;
        let mut record = NodeRecord::parse(found)?;
        done = if record.held {
            format!("took node {node} from {}; its next holder starts at {}", record.owner, utc(record.limit_ms))
        } else {
            format!("node {node} is already free")
        };
        // The limit stays, because it keeps ids apart.
        record.held = false;
        Ok(record.to_string().into_bytes())
    })?;
    tell_waiting(store, name)?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::{NODE, directory, fill};
    use super::*;

    #[test]
    fn a_node_that_is_taken_is_free_from_its_limit_on() {
        let (directory, mut store) = directory();
        let mut said = |node| release(&mut *store, "orders", node).unwrap_or_else(|error| error.to_string());
        assert_eq!(said(7), "the store has no nodes with the name orders");
        fill(&directory, "meta", "txid-group 1 floor=0 made=0 id=00000000000000000000000000000001 layout=snowflake");
        assert_eq!(said(7), "node 7 of orders was never leased");
        assert!(!directory.path().join("orders/freed").exists());
        fill(&directory, "node/7", NODE);
        assert_eq!(said(7), "took node 7 from web-1; its next holder starts at 2023-11-14T22:13:20.123Z");
        let read = |key: &str| std::fs::read_to_string(directory.path().join("orders").join(key)).unwrap();
        assert_eq!(read("node/7"), NODE.replace("held", "released"));
        let freed = read("freed");
        assert!(freed.starts_with("txid-freed 1 token="), "{freed}");
        assert_eq!(said(7), "node 7 is already free");
        assert_ne!(read("freed"), freed, "hosts that wait for a node would not look again");
        fill(&directory, "node/8", "nonsense");
        assert_eq!(said(8), "'nonsense' is not a record of this version of txid-agent");
        assert_eq!(read("node/8"), "nonsense");
    }
}
