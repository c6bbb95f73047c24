//! The last position used, in a page that all processes with the same node share.
//!
//! The fields of its header, and its one word:
//!
//! | bytes | what |
//! |---|---|
//! | 16..20 | bits of time, of node, of sequence; 1 if the sequence stands before the node |
//! | 24..32 | unit of time in milliseconds |
//! | 32..40 | epoch in milliseconds since 1970-01-01 UTC |
//! | 40..48 | node |
//! | 128..136 | the word |

use super::header::{self, LayoutFields};
use super::layout::Layout;
use super::lease::{Lease, LeaseView};
use super::step::Refusal;
use crate::shared::PageError;
use crate::shared::origin;
use crate::shared::page::{self, Image, Kind, Page};
use crate::shared::word::{self, Seal};
use std::fmt;
use std::path::{Path, PathBuf};
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
const WORD_AT: usize = page::WORDS_AT;

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
    /// Opens the state at `path`, or makes it if it does not exist. Any number of processes and threads may have it
    /// open.
    ///
    /// A file of another layout or node, a damaged file, and anything that is not a regular file are refused and left
    /// unchanged. Symbolic links are refused, also as directories on the way to the file. Missing directories are made
    /// with mode 0750.
    ///
    /// A process that may not open the file still gets the state if a process it was forked from had opened it.
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
    #[inline(never)]
    pub fn open(path: &Path, layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        let page = Page::open_or_make(path, &KIND, &fresh(layout, node), |found| check(found, path, layout, node))?;
        Ok(Self::new(page, layout, node))
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
    /// assert!(one.next()? < same.next()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(never)]
    pub fn in_memory(layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        Ok(Self::new(Page::in_memory(&fresh(layout, node))?, layout, node))
    }

    /// The state that `txid-agent` keeps at `path`. The agent leases a node and extends the lease. Opening the state
    /// takes no lease: while there is none, ids are refused, and the [`Refusal`] says why.
    ///
    /// A file of another layout is refused, and so is one that was copied, or made before this boot.
    #[inline(never)]
    pub fn leased(path: &Path, layout: &Layout) -> Result<Self, StateError> {
        Ok(Self::of_lease(Lease::attach(path, layout)?, layout))
    }

    pub(super) fn of_lease(lease: Lease, layout: &Layout) -> Self {
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
}

fn seal(layout: &Layout) -> Seal {
    Seal::new(layout.time_bits() + layout.sequence_bits())
}

fn check_node(layout: &Layout, node: u64) -> Result<(), StateError> {
    let last = layout.last_node();
    if node > last { Err(StateError::Node { node, last }) } else { Ok(()) }
}

fn fresh(layout: &Layout, node: u64) -> Image {
    let (layout_fields, node) = (LayoutFields::new(layout), node.to_ne_bytes());
    let [bits, unit, epoch] = layout_fields.placed();
    Image::new(&KIND, &[bits, unit, epoch, (NODE_AT, &node)]).with_word(WORD_AT, seal(layout).close(0))
}

/// Whether `found` is an intact page of this layout and node.
fn check(found: &Image, path: &Path, layout: &Layout, node: u64) -> Result<(), StateError> {
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
    if !found.is_zero(WORD_AT + 8..page::LEN) {
        return Err(damaged("bytes that must be zero are not"));
    }
    Ok(())
}

/// Why a state could not be opened.
#[derive(Debug)]
pub enum StateError {
    /// The layout has no such node.
    Node {
        /// The node asked for.
        node: u64,
        /// The highest node of the layout.
        last: u64,
    },
    /// The page could not be opened or made.
    Page(PageError),
    /// The file belongs to another layout.
    OtherLayout {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: Layout,
        /// The layout asked for.
        wanted: Layout,
    },
    /// The file belongs to another node.
    OtherNode {
        /// The file.
        path: PathBuf,
        /// Its node.
        found: u64,
        /// The node asked for.
        wanted: u64,
    },
    /// The file of the lease does not exist.
    NoLease(PathBuf),
    /// Nothing shows which boot this is, so the file may be from an earlier one.
    UnknownBoot(PathBuf),
    /// The file was made before the last boot, or on another machine.
    OtherBoot(PathBuf),
    /// The file is a copy, so another process may be using the original.
    Copied(PathBuf),
    /// The layout has no bits for nodes.
    NoNodes(Layout),
}

impl From<PageError> for StateError {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { node, last } => write!(f, "node {node} is not in the layout's range, 0 to {last}"),
            Self::Page(error) => error.fmt(f),
            Self::OtherLayout { path, found, wanted } => {
                write!(f, "{} belongs to the layout {found}, not to {wanted}", path.display())
            }
            Self::OtherNode { path, found, wanted } => {
                write!(f, "{} belongs to node {found}, not to node {wanted}", path.display())
            }
            Self::NoLease(path) => {
                write!(f, "{} does not exist; txid-agent makes it, so start that first, with --node", path.display())
            }
            Self::UnknownBoot(path) => origin::write_unknown_boot(f, path),
            Self::OtherBoot(path) => write!(
                f,
                "{} was made before this boot or on another machine; txid-agent makes a new one when it starts",
                path.display()
            ),
            Self::Copied(path) => {
                write!(f, "{} is a copy of a lease; remove it, and txid-agent will make a new one", path.display())
            }
            Self::NoNodes(layout) => write!(f, "the layout {layout} has no bits for a node, so none can be leased"),
        }
    }
}

// No source: the message includes it already.
impl std::error::Error for StateError {}
