//! Which thread of its process this is.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// A number that no other thread of the process has; the first thread to ask gets 0.
#[inline]
pub(crate) fn get() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static NUMBER: Cell<Option<u32>> = const { Cell::new(None) };
    }
    NUMBER.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        NUMBER.set(Some(number));
        number
    })
}
