//! Reads and writes the page that workers have mapped, as the state machine says.

use txid::snowflake::{LeaseNews, LeasePage};
use txid_agent_machines::lease::{Event, PageView, Write};

/// The contents of the page, as the machine sees them.
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
pub fn set_news(page: &LeasePage, event: &Event) {
    page.set_news(match event {
        Event::Taken { .. } | Event::Resumed(_) | Event::ClockRight => LeaseNews::Held,
        Event::Released(_) | Event::NotReleased { .. } => LeaseNews::Released,
        Event::Lost { .. } => LeaseNews::Lost,
        Event::Cloned(_) => LeaseNews::Copied,
        Event::ClockOff(_) => LeaseNews::ClockOff,
        Event::Jumped(_) => LeaseNews::Asking,
        Event::NoneFree(_) | Event::UsedUp(_) => LeaseNews::NoneFree,
        Event::NewGroup(_) | Event::Floor(_) | Event::Forgotten { is_ours: false, .. } => LeaseNews::Waiting,
        Event::Ahead(_)
        | Event::Forgotten { .. }
        | Event::StoreAway(_)
        | Event::Conflicts { .. }
        | Event::StoreBack => return,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use txid::snowflake::Layout;
    use txid_agent_machines::lease::NoneFree;
    use txid_agent_machines::store::{Numbering, StoreError};

    const START_MS: i64 = 1_795_000_000_000;

    fn page() -> LeasePage {
        let layout: Layout = "snowflake".parse().unwrap();
        LeasePage::in_memory(&layout, 1).unwrap()
    }

    #[test]
    fn what_is_written_is_found() {
        let page = page();
        let limit_ms = START_MS + 60_000;
        write(&page, Write::Open { node: 7, start_ms: START_MS });
        write(&page, Write::Generation { generation: 2, token: 9 });
        write(&page, Write::Note { limit_ms });
        let view = look(&page);
        assert_eq!((view.is_closed, view.limit_ms, view.noted_ms), (false, i64::MIN, limit_ms));
        write(&page, Write::Limit { node: 7, limit_ms });
        let view = look(&page);
        assert_eq!((view.node, view.generation, view.token, view.limit_ms), (7, 2, 9, limit_ms));
        write(&page, Write::Close);
        assert!(look(&page).is_closed);
    }

    #[test]
    fn the_reason_stays_until_there_is_another() {
        let page = page();
        set_news(&page, &Event::Lost { node: 7, now: String::new() });
        assert_eq!(page.view().news, LeaseNews::Lost);
        let error = StoreError::TimedOut { store: "here".to_owned(), ms: 7 };
        for event in [
            Event::StoreBack,
            Event::Forgotten { node: 7, is_ours: true },
            Event::Ahead(7),
            Event::StoreAway(error),
            Event::Conflicts { key: "orders/node/7".to_owned(), count: 6 },
        ] {
            set_news(&page, &event);
            assert_eq!(page.view().news, LeaseNews::Lost, "{event}");
        }
        let none = NoneFree { nodes: 1, live: 1, unreadable: 0, next: Vec::new() };
        for (event, news) in [
            (Event::Taken { node: 7, generation: 1, tries: 1 }, LeaseNews::Held),
            (Event::NotReleased { node: 7, free_ms: 0 }, LeaseNews::Released),
            (Event::NoneFree(none), LeaseNews::NoneFree),
            (Event::NewGroup(7), LeaseNews::Waiting),
            (Event::UsedUp(Numbering::WorkerNode), LeaseNews::NoneFree),
            (Event::Floor(7), LeaseNews::Waiting),
            (Event::Lost { node: 7, now: String::new() }, LeaseNews::Lost),
            (Event::Forgotten { node: 7, is_ours: false }, LeaseNews::Waiting),
            (Event::Cloned(7), LeaseNews::Copied),
            (Event::ClockOff(11_000), LeaseNews::ClockOff),
            (Event::ClockRight, LeaseNews::Held),
            (Event::Jumped(11_000), LeaseNews::Asking),
            (Event::Resumed(7), LeaseNews::Held),
            (Event::Released(7), LeaseNews::Released),
        ] {
            set_news(&page, &event);
            assert_eq!(page.view().news, news, "{event}");
        }
    }
}
