//! Asks the store for all that a configuration needs of it, before anything begins or changes.

use crate::config::Config;
use crate::node::Node;
use crate::subcommand::records::tell_waiting;
use anyhow::{Context, bail, ensure};
use std::ops::Range;
use txid::snowflake::{LeasePage, LeaseView};
use txid_agent::store::{Durability, Open, Store, share};
use txid_agent_machines::lease::{Group, NodeRecord, Rules};
use txid_agent_machines::segment::Failure;
use txid_agent_machines::store::{Put, Taken};

/// Opens the store of `config`, and asks it. Fails for what would stop the agent, or leave it without ids. `tell` gets a line for
/// each thing that is right.
pub fn try_out(config: &Config, mut tell: impl FnMut(String)) -> anyhow::Result<Open> {
    let open = share(&config.store)?;
    let mut store = open();
    for node in &config.nodes {
        node.fits(&*store)?;
        let known = ask_for_node(&mut *store, config, node).with_context(|| node.name.clone())?;
        tell(format!("{}: {known}; this user may write", node.name));
    }
    for (tag, _) in &config.segments {
        let found = store.take(tag, Some(0), 0).with_context(|| tag.clone())?;
        if let Some(why) = store.durability_of_numbers().why() {
            bail!("{tag}: {}", Failure::MayLose(why.to_owned()));
        }
        match found {
            Taken::NoTag if config.create => tell(format!("{tag}: the store has no such tag yet")),
            Taken::NoTag => bail!("{tag}: {}", Failure::NoTag),
            Taken::Ended => bail!("{tag}: there are no more numbers"),
            Taken::Range { range: Range { end: number, .. }, .. } | Taken::WentDown { number } => {
                tell(format!("{tag}: the next number is {number}"));
            }
        }
    }
    look_at(&mut *store, config, tell)?;
    Ok(open)
}

/// Whether the store has the group of a node already. Fails if no lease can be had there, or if this host has one of another store.
fn ask_for_node(store: &mut dyn Store, config: &Config, node: &Node) -> anyhow::Result<&'static str> {
    let rules = Rules::new(&node.name, &config.host_name, &node.layout, false);
    let group = store.read(&Group::key(&node.name))?.map(|record| Group::parse(&record.bytes)).transpose()?;
    if let Some(Group { layout, .. }) = &group {
        let wanted = &rules.layout;
        ensure!(layout == wanted, "the store has it with the layout {layout}, not {wanted}; use another name");
    }
    let held = LeasePage::attach(&config.dir.join(&node.name)).map(|page| page.view()).ok();
    let is_live = |it: &LeaseView| it.generation > 0 && it.limit_ms.is_some_and(|ms| ms > txid::system_ms());
    if let Some(LeaseView { node, generation, token, .. }) = held.filter(is_live) {
        let record = store.read(&Group::node_key(&rules.group, node))?;
        let found = record.and_then(|record| NodeRecord::parse(&record.bytes).ok());
        ensure!(
            found.is_some_and(|found| (found.generation, found.token) == (generation, token)),
            "it does not have the lease of node {node} that this host has: to move to another store, stop all agents first"
        );
    }
    // Agents look at this record while no node is free; they look once more then. Another one may write it at the same time.
    if let Put::Unknown(error) = tell_waiting(store, &node.name)? {
        return Err(error.into());
    }
    Ok(group.map_or("the store has no such group yet", |_| "the store has this group, with this layout"))
}

/// What the store says of itself.
fn look_at(store: &mut dyn Store, config: &Config, mut tell: impl FnMut(String)) -> anyhow::Result<()> {
    match store.clock()? {
        None => tell("the store shows no clock, so a wrong clock of this host is not noticed".to_owned()),
        Some(time) => {
            let now_ms = txid::system_ms();
            let (least, most) = (now_ms - time.latest_ms, now_ms - time.earliest_ms);
            let (off_ms, allowed) = (if least > 0 { least } else { most.min(0) }, config.max_skew);
            ensure!(
                off_ms.unsigned_abs() as u128 <= allowed.as_millis(),
                "this host's clock is {off_ms} ms ahead of the store's, more than --max-skew {allowed:?}: no lease would be taken"
            );
            tell(format!("the clock is {least} to {most} ms ahead of the store's; --max-skew is {allowed:?}"));
        }
    }
    tell(match store.durability() {
        Durability::MayLose { why } => {
            format!(
                "the store can lose a write that it has confirmed ({why}), so a lease starts 60 s after the end of the last one"
            )
        }
        Durability::Said { may_lose } => format!("may-lose-writes={} in the URL", u8::from(*may_lose)),
        Durability::Durable | Durability::Unknown => "the store keeps what it confirms".to_owned(),
    });
    // To ask for it needs rights that an agent can do without.
    if let Some(room) = store.room().ok().flatten() {
        let line = format!("the store has used {} of the {} bytes of its quota", room.used, room.quota);
        ensure!(room.used < room.quota / 10 * 9, "{line}: without room, no lease is renewed");
        tell(line);
    }
    Ok(())
}
