//! The last position used, in a page that all processes with the same node share.
//!
//! The fields of its header, and its one word:
//!
//! | bytes | what |
//! |---|---|
//! | 16..20 | bits of time, of node, of sequence; 1 if the sequence is before the node |
//! | 24..32 | unit of time in milliseconds |
//! | 32..40 | epoch in milliseconds since 1970-01-01 UTC |
//! | 40..48 | node |
//! | 128..136 | the word |

use super::header::{self, LayoutFields};
use super::layout::Layout;
use super::lease::{Lease, LeasePage, LeaseView};
use super::refusal::Refusal;
use super::state_error::StateError;
use crate::shared::PageError;
use crate::shared::page::Page;
use crate::shared::page_bytes::{self, Kind, PageBytes};
use crate::shared::word::{self, Seal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

static KIND: Kind = Kind {
    magic: b"txidsnow",
    version: 1,
    name: "state",
    advice: "Take another file and another node, or remove it once the clock is past all ids made with it",
    may_be_replaced: false,
};
const NODE_AT: usize = 40;
/// Alone in its cache line, and in the pair of lines that a processor may fetch together.
const WORD_AT: usize = page_bytes::WORDS_AT;

/// The last position used of one layout and node: in a mapped file, or in memory that child processes inherit.
#[derive(Clone, Copy, Debug)]
pub struct State {
    layout: Layout,
    source: Source,
}

/// Where positions come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A page of one node.
    Node { node: u64, word: &'static AtomicU64, seal: Seal },
    /// A page in which an agent grants nodes.
    Lease(Lease),
}

impl State {
    /// Opens the state at `path`, or makes it, and missing directories (0750). Any number of processes may have it open.
    ///
    /// It refuses, and leaves unchanged, a file of another layout or node, a damaged file, anything but a regular file, and
    /// symbolic links anywhere in the path. A process without the right to open the file gets a state that it inherited.
    ///
    /// ```
    /// use txid::snowflake::{Layout, State, StateError};
    ///
    /// # let directory = std::env::temp_dir().canonicalize()?.join(format!("txid-state-{}", std::process::id()));
    /// let path = directory.join("orders");
    /// let state = State::open(&path, &Layout::SNOWFLAKE, 17)?;
    /// assert!(matches!(State::open(&path, &Layout::SNOWFLAKE, 18), Err(StateError::OtherNode { .. })));
    /// # std::fs::remove_dir_all(directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path, layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        let page = Page::open_or_make(path, &KIND, &fresh(layout, node), |found| check(found, path, layout, node))?;
        Ok(Self::new(page, layout, node))
    }

    /// As [`State::open`], but makes no file: without one, the state is in memory.
    pub(crate) fn on_trial(path: &Path, layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        match Page::attach(path, &KIND, &[], |found, _| check(found, path, layout, node)) {
            Err(StateError::Page(PageError::File(error))) if error.is_missing() => Self::in_memory(layout, node),
            page => Ok(Self::new(page?, layout, node)),
        }
    }

    /// The state of a layout and node in memory, shared by this process and all that it forks from now on. Every call
    /// returns the same state, also in a child. It lasts as long as the last of these processes: after a restart, ids
    /// that were borrowed from the future can repeat. Any other process that uses the node repeats their ids.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let one = Generator::new(State::in_memory(&Layout::SONYFLAKE, 5)?);
    /// let same = Generator::new(State::in_memory(&Layout::SONYFLAKE, 5)?);
    /// assert!(one.generate()? < same.generate()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory(layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        Ok(Self::new(Page::in_memory(&fresh(layout, node))?, layout, node))
    }

    /// The state that `txid-agent` keeps at `path`. The agent leases a node and renews the lease. Opening the state
    /// takes no lease: while there is none, ids are refused, and the [`Refusal`] says why.
    ///
    /// A file of another layout is refused, and so is one that was copied, or made before this boot.
    pub fn leased(path: &Path, layout: &Layout) -> Result<Self, StateError> {
        Ok(Self::of_lease(Lease::attach(path, layout)?, layout))
    }

    fn of_lease(lease: Lease, layout: &Layout) -> Self {
        Self { layout: *layout, source: Source::Lease(lease) }
    }

    fn new(page: Page, layout: &Layout, node: u64) -> Self {
        let source = Source::Node { node, word: page.word(WORD_AT), seal: seal(layout) };
        Self { layout: *layout, source }
    }

    /// The layout that the state belongs to.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The node that the state belongs to; None if it has no lease now.
    pub fn node(&self) -> Option<u64> {
        match self.source {
            Source::Node { node, .. } => Some(node),
            Source::Lease(lease) => lease.node(),
        }
    }

    /// What the lease's page says; None if the node is not leased.
    pub fn lease(&self) -> Option<LeaseView> {
        match self.source {
            Source::Node { .. } => None,
            Source::Lease(lease) => Some(lease.view(&self.layout)),
        }
    }

    /// The first position that is free.
    pub(super) fn free(&self) -> u64 {
        match self.source {
            Source::Node { word, seal, .. } => seal.open(word.load(Ordering::Relaxed)),
            Source::Lease(lease) => lease.free(),
        }
    }

    /// Takes the position that `next` chooses, given the first free one; returns it with its node.
    #[inline(always)]
    pub(super) fn claim(&self, next: impl FnMut(u64) -> Result<u64, Refusal>) -> Result<(u64, u64), Refusal> {
        match &self.source {
            Source::Node { node, word, seal } => Ok((*node, word::claim(*word, *seal, next)?)),
            Source::Lease(lease) => lease.claim(&self.layout, next),
        }
    }

    /// Whether [`State::claim`] would take a position now. Takes none.
    pub(super) fn probe(&self, mut next: impl FnMut(u64) -> Result<u64, Refusal>) -> Result<(), Refusal> {
        match &self.source {
            Source::Node { .. } => next(self.free()).map(drop),
            Source::Lease(lease) => lease.probe(&self.layout, next),
        }
    }
}

impl LeasePage {
    /// The state to make ids with, as [`State::leased`] returns it for the page's file.
    pub fn state(&self) -> State {
        State::of_lease(self.lease, &self.layout)
    }
}

fn seal(layout: &Layout) -> Seal {
    Seal::new(layout.time_bits + layout.sequence_bits)
}

fn check_node(layout: &Layout, node: u64) -> Result<(), StateError> {
    let last = layout.last_node();
    if node > last { Err(StateError::Node { node, last }) } else { Ok(()) }
}

fn fresh(layout: &Layout, node: u64) -> PageBytes {
    let (layout_fields, node) = (LayoutFields::new(layout), node.to_ne_bytes());
    let [bits, unit, epoch] = layout_fields.placed();
    PageBytes::new(&KIND, &[bits, unit, epoch, (NODE_AT, &node)]).with_word(WORD_AT, seal(layout).close(0))
}

/// Whether `found` is an intact page of this layout and node.
fn check(found: &PageBytes, path: &Path, layout: &Layout, node: u64) -> Result<(), StateError> {
    let damaged = |what| StateError::Page(PageError::damaged(&KIND, path, what));
    let its_layout = header::layout_of(found).map_err(|_| damaged("its layout is invalid"))?;
    if !its_layout.has_same_bits(layout) {
        return Err(StateError::OtherLayout { path: path.to_path_buf(), found: its_layout, wanted: *layout });
    }
    let its_node = found.number(NODE_AT);
    if its_node != node {
        return Err(StateError::OtherNode { path: path.to_path_buf(), found: its_node, wanted: node });
    }
    if !seal(layout).is_whole(found.number(WORD_AT)) {
        return Err(damaged("the check of its last position is wrong"));
    }
    if !found.is_zero(WORD_AT + 8..page_bytes::LEN) {
        return Err(damaged("bytes that must be zero are not"));
    }
    Ok(())
}
