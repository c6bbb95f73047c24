//! The pages that this process, or a process it was forked from, has opened.
//!
//! A lock-free list that only grows: a child that is forked while another thread adds to it can use it at once.

use super::file::Identity;
use super::page::{Header, Page};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A page, and how to find it.
pub(super) struct Known {
    pub(super) page: Page,
    pub(super) header: Header,
    pub(super) file: Option<FileId>,
}

/// The file of a page: its path, and which file that was when it was opened.
#[derive(PartialEq)]
pub(super) struct FileId {
    pub(super) path: PathBuf,
    pub(super) identity: Identity,
}

impl Known {
    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.file.as_ref().is_some_and(|file| file.path == path)
    }
}

struct Entry {
    known: Known,
    older: *const Entry,
}

static NEWEST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

/// The known page for which `is_wanted` holds.
pub(super) fn find(is_wanted: &dyn Fn(&Known) -> bool) -> Option<&'static Known> {
    find_from(NEWEST.load(Ordering::Acquire), is_wanted)
}

fn find_from(newest: *const Entry, is_wanted: &dyn Fn(&Known) -> bool) -> Option<&'static Known> {
    // SAFETY: an entry is complete before it is in the list, and is never changed or freed.
    let mut entry = unsafe { newest.as_ref() };
    while let Some(Entry { known, older }) = entry {
        if is_wanted(known) {
            return Some(known);
        }
        // SAFETY: as above.
        entry = unsafe { older.as_ref() };
    }
    None
}

/// Adds a page; if another thread has added one in the meantime for which `is_same` holds, returns that one.
#[inline(never)]
pub(super) fn enter(known: Known, is_same: &dyn Fn(&Known) -> bool) -> &'static Known {
    let entry = Box::leak(Box::new(Entry { known, older: ptr::null() }));
    let mut newest = NEWEST.load(Ordering::Acquire);
    loop {
        if let Some(other) = find_from(newest, is_same) {
            return other;
        }
        entry.older = newest;
        match NEWEST.compare_exchange_weak(newest, entry, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return &entry.known,
            Err(newer) => newest = newer,
        }
    }
}
