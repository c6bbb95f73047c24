//! `txid-agent set-floor`: for a store that was restored from a backup.

use super::records::change;
use crate::args::SetFloor;
use crate::config;
use anyhow::{Context, bail};
use txid_agent::keeper::random;
use txid_agent::store::{self, Store};
use txid_agent_machines::lease::{Group, Rules};
use txid_agent_machines::utc;

/// A lease is at most a day long, and clocks may be off.
const FURTHEST_MS: u64 = 2 * 24 * 60 * 60 * 1000;

pub fn run(args: &SetFloor) -> anyhow::Result<String> {
    set(&mut *store::open(&config::store(&args.group.from)?)?, args)
}

/// Tells what was done.
fn set(store: &mut dyn Store, args: &SetFloor) -> anyhow::Result<String> {
    let name = &args.group.name;
    let key = Group::key(name);
    store.read(&key)?;
    // Agents go by the store's clock.
    let now_ms = store.clock()?.map_or_else(txid::system_ms, |time| time.latest_ms);
    let wanted_ms = match args.at {
        Some(at) => at.as_millisecond(),
        // As the floor of a new group. A store that shows no clock has this host's, which may be off as well.
        None => {
            let start_ms = 2 * Rules::MOST_SKEW_MS + Rules::MAX_DRIFT_MS;
            now_ms + args.lease_time.as_millis() as i64 + start_ms as i64
        }
    };
    if wanted_ms > now_ms.saturating_add_unsigned(FURTHEST_MS) {
        bail!(
            "the floor {} is more than two days ahead: until then no lease could start, and a floor never goes back",
            utc(wanted_ms)
        );
    }
    change(store, &key, |found| {
        let found = found.with_context(|| format!("the store has no nodes with the name {name}"))?;
        let mut group = Group::parse(found)?;
        if wanted_ms < group.floor_ms && group.floor_ms != Group::UNSET {
            bail!("the floor is already at {}, and never goes back", utc(group.floor_ms));
        }
        group.floor_ms = wanted_ms;
        group.id = random();
        Ok(group.to_string().into_bytes())
    })?;
    Ok(format!("from now on, no lease of {name} starts before {}", utc(wanted_ms)))
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::{directory, fill};
    use super::*;
    use crate::args::Args;
    use clap::Parser;
    use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime};

    fn set(store: &mut dyn Store, options: &[&str]) -> String {
        let line = ["txid-agent", "set-floor", "orders"].iter().chain(options);
        let crate::args::Subcommand::SetFloor(args) = Args::parse_from(line).subcommand else { unreachable!() };
        super::set(store, &args).unwrap_or_else(|error| error.to_string())
    }

    /// A store whose clock shows this.
    struct Shows(Box<dyn Store>, i64);

    impl Store for Shows {
        fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
            self.0.read(key)
        }

        fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
            self.0.put(key, expected, bytes)
        }

        fn list(&mut self, _: &str, _: store::Show) -> Result<(), StoreError> {
            unreachable!("there is one record")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            Ok(Some(StoreTime { earliest_ms: 0, latest_ms: self.1 }))
        }

        fn durability(&self) -> &store::Durability {
            self.0.durability()
        }
    }

    #[test]
    fn a_floor_goes_up_and_not_too_far() {
        let (directory, store) = directory();
        let mut store = Shows(store, 1_700_000_000_000);
        assert_eq!(set(&mut store, &[]), "the store has no nodes with the name orders");
        let record = |floor_ms: i64| {
            format!("txid-group 1 floor={floor_ms} made=0 id=00000000000000000000000000000001 layout=snowflake")
        };
        fill(&directory, "meta", &record(i64::MAX));
        let read = || std::fs::read_to_string(directory.path().join("orders/meta")).unwrap();
        // A minute, the clocks of two hosts, and the drift of one.
        let wanted = "from now on, no lease of orders starts before 2023-11-14T22:14:50.000Z";
        assert_eq!(set(&mut store, &[]), wanted);
        assert!(read().starts_with("txid-group 1 floor=1700000090000 made=0 id="), "{}", read());
        assert!(!read().contains(" id=00000000000000000000000000000001 "), "holders of leases would not notice");
        assert_eq!(set(&mut store, &["--at", "2023-11-14T22:14:50Z"]), wanted, "the same is not back");
        let back = "the floor is already at 2023-11-14T22:14:50.000Z, and never goes back";
        assert_eq!(set(&mut store, &["--at", "2023-11-14T22:14:49.999Z"]), back);
        let longer = "from now on, no lease of orders starts before 2023-11-14T22:15:20.000Z";
        assert_eq!(set(&mut store, &["--lease-time", "90s"]), longer);
        let most = "from now on, no lease of orders starts before 2023-11-16T22:13:20.000Z";
        assert_eq!(set(&mut store, &["--at", "2023-11-16T22:13:20Z"]), most);
        let far = "the floor 2023-11-16T22:13:20.001Z is more than two days ahead: until then no lease could start, and a floor \
                   never goes back";
        assert_eq!(set(&mut store, &["--at", "2023-11-16T22:13:20.001Z"]), far);
    }

    #[test]
    fn a_store_without_a_clock_has_this_hosts() {
        let (directory, mut store) = directory();
        fill(&directory, "meta", "txid-group 1 floor=0 made=0 id=00000000000000000000000000000001 layout=snowflake");
        let before_ms = txid::system_ms();
        let said = set(&mut *store, &[]);
        let floor: jiff::Timestamp = said.rsplit_once(' ').unwrap().1.parse().unwrap();
        assert!((before_ms..=txid::system_ms()).contains(&(floor.as_millisecond() - 90_000)), "{said}");
    }
}
