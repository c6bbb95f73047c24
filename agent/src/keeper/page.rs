//! Reads and writes the page that workers have mapped, as the state machine says.

use txid::snowflake::LeasePage;
use txid_agent_machines::lease::{PageView, Write};

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

#[cfg(test)]
mod tests {
    use super::*;
    use txid::snowflake::Layout;

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
}
