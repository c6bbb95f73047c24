//! The records of leases, read and changed by a person.

use anyhow::{Context, bail};
use txid_agent::store::Store;
use txid_agent_machines::lease::{Group, NodeRecord};
use txid_agent_machines::store::{Expected, Put, Record, Version};

/// The record of a group, and its version.
pub(super) fn group(store: &mut dyn Store, name: &str) -> anyhow::Result<(Group, Version)> {
    let Some(Record { bytes, version }) = store.read(&Group::key(name))? else {
        bail!("the store has no nodes with the name {name}");
    };
    Ok((Group::parse(&bytes)?, version))
}

/// Changes one record. An agent may change it at the same time, so conflicts are retried; `change` gets the current
/// record.
pub(super) fn change(
    store: &mut dyn Store,
    key: &str,
    mut change: impl FnMut(Option<&[u8]>) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<()> {
    for _ in 0..10 {
        let found = store.read(key)?;
        let bytes = change(found.as_ref().map(|record| record.bytes.as_slice()))?;
        let Some(record) = found else { bail!("the record {key} is gone") };
        match store.put(key, &Expected::Version(record.version), &bytes)? {
            Put::Written(_) => return Ok(()),
            Put::Conflict => {}
            Put::Unknown(error) => {
                return Err(error).context("this may or may not have been written: check, and try again");
            }
        }
    }
    bail!("{key} keeps changing: try again")
}

/// The state of a record for people: held or released.
pub(super) fn state(record: &NodeRecord) -> &'static str {
    if record.held { "held" } else { "released" }
}
