//! `txid-agent release`: frees a node of a host that is gone.

use super::records::{change, group, time};
use crate::args::Release;
use anyhow::Context;
use std::process::ExitCode;
use txid_agent::store;
use txid_agent_machines::lease::{Group, NodeRecord};

pub fn run(args: &Release) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&args.group.store)?;
    group(&mut *store, &args.group.name)?;
    let mut done = String::new();
    change(&mut *store, &Group::node_key(&args.group.name, args.node), |found| {
        let found = found.with_context(|| format!("node {} of {} was never leased", args.node, args.group.name))?;
        let mut record = NodeRecord::parse(found)?;
        done = if record.held {
            format!(
                "took node {} from {}; its next holder starts at {}",
                args.node,
                record.owner,
                time(record.limit_ms)
            )
        } else {
            format!("node {} is already free", args.node)
        };
        // The limit stays, because it keeps ids apart.
        record.held = false;
        Ok(record.to_string().into_bytes())
    })?;
    println!("{done}");
    Ok(ExitCode::SUCCESS)
}
