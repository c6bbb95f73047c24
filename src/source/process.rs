//! Which process this is.

use super::generation;
use super::kept::Kept;
use super::pid::pid;

/// The process id. It is requested once for each thread and process, because a request costs as much as an id.
#[inline]
pub(crate) fn id() -> u32 {
    const UNKNOWN: (u64, u32) = (generation::NONE, 0);
    thread_local! {
        static KNOWN: Kept<(u64, u32)> = const { Kept::new(UNKNOWN) };
    }
    let generation = generation::get();
    KNOWN.with(|kept| {
        kept.step(UNKNOWN, |known| {
            if known.0 != generation {
                *known = (generation, pid());
            }
            known.1
        })
    })
}
