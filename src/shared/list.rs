//! A list that only grows, without locks: a child that is forked while another thread adds to it can use it at once.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

pub(super) struct List<T: 'static> {
    newest: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    item: T,
    older: *const Entry<T>,
}

impl<T> List<T> {
    pub(super) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The newest item for which `is_wanted` holds.
    pub(super) fn find(&self, is_wanted: &dyn Fn(&T) -> bool) -> Option<&'static T> {
        find_from(self.newest.load(Ordering::Acquire), is_wanted)
    }

    /// Adds an item; if another thread has added one in the meantime for which `is_same` holds, returns that one.
    pub(super) fn enter(&self, item: T, is_same: &dyn Fn(&T) -> bool) -> &'static T {
        let entry = Box::leak(Box::new(Entry { item, older: ptr::null() }));
        let mut newest = self.newest.load(Ordering::Acquire);
        loop {
            if let Some(other) = find_from(newest, is_same) {
                return other;
            }
            entry.older = newest;
            match self.newest.compare_exchange_weak(newest, entry, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return &entry.item,
                Err(newer) => newest = newer,
            }
        }
    }
}

fn find_from<T>(newest: *const Entry<T>, is_wanted: &dyn Fn(&T) -> bool) -> Option<&'static T> {
    // SAFETY: an entry is complete before it is in the list, and is never changed or freed.
    let mut entry: Option<&'static Entry<T>> = unsafe { newest.as_ref() };
    while let Some(Entry { item, older }) = entry {
        if is_wanted(item) {
            return Some(item);
        }
        // SAFETY: as above.
        entry = unsafe { older.as_ref() };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_found_first_and_older_ones_stay() {
        let list = List::new();
        let enter = |item: (u8, char)| *list.enter(item, &|known| *known == item);
        assert_eq!([(1, 'a'), (2, 'b'), (1, 'c')].map(enter), [(1, 'a'), (2, 'b'), (1, 'c')]);
        let find = |wanted| list.find(&|known| known.0 == wanted).copied();
        assert_eq!([1, 2, 3].map(find), [Some((1, 'c')), Some((2, 'b')), None]);
    }
}
