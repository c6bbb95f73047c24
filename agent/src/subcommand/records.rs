//! The records of leases, read and changed by a person.

use anyhow::{Context, bail};
use txid_agent::keeper::random;
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

/// Hosts that wait for a node look again. If another host changes the record at the same time, they look as well.
pub fn tell_waiting(store: &mut dyn Store, name: &str) -> anyhow::Result<Put> {
    let key = Group::freed_key(name);
    let expected = store.read(&key)?.map_or(Expected::Absent, |record| Expected::Version(record.version));
    Ok(store.put(&key, &expected, Group::freed(random()).as_bytes())?)
}

/// The state of a record for people: held or released.
pub(super) fn state(record: &NodeRecord) -> &'static str {
    if record.held { "held" } else { "released" }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tempfile::TempDir;
    use txid_agent::store::{Durability, Show, open};
    use txid_agent_machines::store::{StoreError, StoreTime};

    /// The record of a node.
    pub const NODE: &str =
        "txid-lease 1 generation=3 limit=1700000000123 token=00000000000000000000000000000001 held owner=web-1";

    /// A store in a directory.
    pub fn directory() -> (TempDir, Box<dyn Store>) {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&format!("file://{}", directory.path().display())).unwrap();
        (directory, store)
    }

    /// Writes a record of the group `orders` there.
    pub fn fill(directory: &TempDir, key: &str, text: &str) {
        let path = directory.path().join("orders").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A store in which each write comes to the same.
    struct Writes(Put, u32);

    impl Store for Writes {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            self.1 += 1;
            Ok(Some(Record::compared_by_bytes(b"old".to_vec())))
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            Ok(self.0.clone())
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("one record is changed")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            unreachable!("it is not asked")
        }

        fn durability(&self) -> &Durability {
            &Durability::Durable
        }
    }

    #[test]
    fn a_change_is_tried_again_if_an_agent_was_faster() {
        let said = |store: &mut dyn Store| {
            let changed = change(store, "orders/meta", |_| Ok(b"new".to_vec()));
            changed.map_or_else(|error| format!("{error:#}"), |()| "done".to_owned())
        };
        let mut faster = Writes(Put::Conflict, 0);
        assert_eq!((said(&mut faster), faster.1), ("orders/meta keeps changing: try again".to_owned(), 10));
        let lost = Put::Unknown(StoreError::TimedOut { store: "here".to_owned(), ms: 7 });
        let why = "this may or may not have been written: check, and try again: here did not answer within 7 ms";
        assert_eq!(said(&mut Writes(lost, 0)), why);
        let (directory, mut store) = directory();
        assert_eq!(said(&mut *store), "the record orders/meta is gone");
        fill(&directory, "meta", "old");
        assert_eq!(said(&mut *store), "done");
        assert_eq!(std::fs::read_to_string(directory.path().join("orders/meta")).unwrap(), "new");
    }
}
