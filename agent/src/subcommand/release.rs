//! `txid-agent release`: frees a node of a host that is gone.

use super::records::{change, group};
use crate::args::Release;
use crate::config;
use anyhow::Context;
use std::process::ExitCode;
use txid_agent::keeper::random;
use txid_agent::store;
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::store::Expected;
use txid_agent_machines::utc;

pub fn run(args: &Release) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&config::store(&args.group.from)?)?;
    group(&mut *store, &args.group.name)?;
    let mut done = String::new();
    change(&mut *store, &Group::node_key(&args.group.name, args.node), |found| {
        let found = found.with_context(|| format!("node {} of {} was never leased", args.node, args.group.name))?;
        let mut record = NodeRecord::parse(found)?;
        done = if record.held {
            format!("took node {} from {}; its next holder starts at {}", args.node, record.owner, utc(record.limit_ms))
        } else {
            format!("node {} is already free", args.node)
        };
        // The limit stays, because it keeps ids apart.
        record.held = false;
        Ok(record.to_string().into_bytes())
    })?;
    // Hosts that wait for a node look again.
    let key = Group::freed_key(&args.group.name);
    let expected = store.read(&key)?.map_or(Expected::Absent, |record| Expected::Version(record.version));
    // If another host changes it at the same time, they look as well.
    store.put(&key, &expected, Group::freed(random()).as_bytes())?;
    println!("{done}");
    Ok(ExitCode::SUCCESS)
}
