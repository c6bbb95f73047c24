//! `txid-agent set-floor`: for a store that was restored from a backup.

use super::records::change;
use crate::args::SetFloor;
use crate::config;
use anyhow::{Context, bail};
use std::process::ExitCode;
use txid_agent::keeper::random;
use txid_agent::store;
use txid_agent_machines::lease::{Group, Rules};
use txid_agent_machines::utc;

/// A lease is at most a day long, and clocks may be off.
const FURTHEST_MS: u64 = 2 * 24 * 60 * 60 * 1000;

pub fn run(args: &SetFloor) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&config::store(&args.group.from)?)?;
    let key = Group::key(&args.group.name);
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
    change(&mut *store, &key, |found| {
        let found = found.with_context(|| format!("the store has no nodes with the name {}", args.group.name))?;
        let mut group = Group::parse(found)?;
        if wanted_ms < group.floor_ms && group.floor_ms != Group::UNSET {
            bail!("the floor is already at {}, and never goes back", utc(group.floor_ms));
        }
        group.floor_ms = wanted_ms;
        group.id = random();
        Ok(group.to_string().into_bytes())
    })?;
    println!("from now on, no lease of {} starts before {}", args.group.name, utc(wanted_ms));
    Ok(ExitCode::SUCCESS)
}
