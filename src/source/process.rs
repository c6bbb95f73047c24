//! Which process this is.

use super::generation;
use std::cell::Cell;

/// The process id. It is requested once for each thread and process, because a request costs as much as an id.
#[inline]
pub(crate) fn id() -> u32 {
    thread_local! {
        static KNOWN: Cell<(u64, u32)> = const { Cell::new((generation::NONE, 0)) };
    }
    let generation = generation::get();
    let (known_in, id) = KNOWN.get();
    if known_in == generation {
        return id;
    }
    let id = std::process::id();
    KNOWN.set((generation, id));
    id
}
