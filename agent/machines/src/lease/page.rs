//! Reads and writes the page that workers have mapped, as the state machine says.

use super::event::Event;
use super::protocol::{PageView, Write};
use txid::snowflake::{LeaseNews, LeasePage};

/// What the agent of a lease finds in its page.
pub fn look(page: &LeasePage) -> PageView {
    let view = page.view();
    PageView {
        node: view.node,
        generation: view.generation,
        token: view.token,
        limit_ms: view.confirmed_ms,
        noted_ms: view.noted_ms,
        free_ms: view.free_ms,
        is_closed: view.is_closed,
    }
}

/// Writes to the page.
pub fn write(page: &LeasePage, write: Write) {
    match write {
        Write::Close => drop(page.close()),
        Write::Open { node, start_ms } => page.open(node, start_ms),
        Write::Generation { generation, token } => page.set_generation(generation, token),
        Write::Note { limit_ms } => page.note(limit_ms),
        Write::Limit { node, limit_ms } => page.set_limit(node, limit_ms),
    }
}

/// Stores the reason in the page, for the errors of processes that cannot make ids.
pub fn say(page: &LeasePage, event: &Event) {
    page.say(match event {
        Event::Taken { .. } | Event::Resumed { .. } | Event::ClockRight => LeaseNews::Held,
        Event::Released { .. } | Event::NotReleased { .. } => LeaseNews::Released,
        Event::Lost { .. } => LeaseNews::Lost,
        Event::Cloned { .. } => LeaseNews::Copied,
        Event::ClockOff { .. } => LeaseNews::ClockOff,
        Event::Jumped { .. } => LeaseNews::Asking,
        Event::NoneFree(_) | Event::UsedUp(_) => LeaseNews::NoneFree,
        Event::NewGroup { .. } | Event::Floor { .. } | Event::Forgotten { is_ours: false, .. } => LeaseNews::Waiting,
        Event::Ahead { .. }
        | Event::Forgotten { .. }
        | Event::StoreAway(_)
        | Event::Conflicts { .. }
        | Event::StoreBack => return,
    });
}
