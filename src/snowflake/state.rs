//! The last position used, in memory that all processes which share a node share.
//!
//! A state's file is one page. All numbers are in the machine's own byte order, because the file never leaves its host:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `txidsnow` |
//! | 8..12 | version: 1 |
//! | 16..20 | bits of time, of node, of sequence; 1 if the sequence stands before the node |
//! | 24..32 | unit of time in milliseconds |
//! | 32..40 | epoch in milliseconds since 1970-01-01 UTC |
//! | 40..48 | node |
//! | 120..128 | FNV-1a of bytes 0..120 |
//! | 128..136 | the word |
//!
//! All other bytes are zero. They are room for what a later version needs; a version that gives a meaning to one of them
//! has another number, so that this one refuses the file instead of passing over what it says.

use super::file::{self, FileError, refused};
use super::layout::{Layout, Order};
use super::word::{self, Seal};
use rustix::mm::{self, MapFlags, ProtFlags};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const PAGE: usize = 4096;
const MAGIC: &[u8; 8] = b"txidsnow";
const VERSION: u32 = 1;
const CHECKSUM_AT: usize = 120;
/// Alone in its cache line, and in those that a processor may fetch along with it.
const WORD_AT: usize = 128;

/// The last position used of one layout and node: mapped from a file, or in memory that child processes inherit.
#[derive(Clone, Copy, Debug)]
pub struct State {
    word: &'static AtomicU64,
    seal: Seal,
    layout: Layout,
    node: u64,
}

/// What a state that is known to this process can be found by.
#[derive(Debug)]
struct Known {
    state: State,
    file: Option<KnownFile>,
}

#[derive(Debug, PartialEq)]
struct KnownFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// All states that this process, or one that it was forked from, has opened. They stay mapped for good: a few pages, for
/// which whoever still has one need not be known, and a process finds what its parent opened when it may not open it.
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

impl State {
    /// Opens the state at `path`, or makes it if there is none. Any number of processes and threads may have it open.
    ///
    /// A file of another layout or node is refused, as is a damaged one and anything that is not a regular file; none of
    /// them is written to. So is every symbolic link, on the way to the file, too. Missing directories are made (0750).
    ///
    /// A process that may not open the file gets the state all the same if a process that it was forked from had it.
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
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let by_path = known
            .iter()
            .find(|known| known.state.is_of(layout, node) && known.file.as_ref().is_some_and(|file| file.path == path));
        let file = match (file::open_or_make(path, &fresh_page(layout, node)), by_path) {
            (Err(FileError::Os { error, .. }), Some(known)) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Self { layout: *layout, ..known.state });
            }
            (file, _) => file?,
        };

        let status = file.metadata().map_err(|error| refused("look at", path, error))?;
        if status.len() != PAGE as u64 {
            return Err(StateError::Size { path: path.to_path_buf(), bytes: status.len() });
        }
        let mut found = [0; PAGE];
        file.read_exact_at(&mut found, 0).map_err(|error| refused("read", path, error))?;
        check_page(&found, path, layout, node)?;

        let file_now = KnownFile { path: path.to_path_buf(), device: status.dev(), inode: status.ino() };
        if by_path.is_some_and(|known| known.file.as_ref() != Some(&file_now)) {
            return Err(StateError::Replaced(path.to_path_buf()));
        }
        let same_file = |known: &Known| {
            known.file.as_ref().is_some_and(|it| it.device == file_now.device && it.inode == file_now.inode)
        };
        let state = match known.iter().find(|known| same_file(known)) {
            Some(known) => Self { layout: *layout, ..known.state },
            None => Self::new(map_file(&file).map_err(|errno| refused("map", path, errno.into()))?, layout, node),
        };
        if by_path.is_none() {
            known.push(Known { state, file: Some(file_now) });
        }
        Ok(state)
    }

    /// The state of a layout and node in memory that this process shares with all that it forks from now on. It is the
    /// same whenever it is asked for, also in a child, and lasts as long as the last of the processes: a restart begins
    /// anew, and can repeat what was borrowed from the future before it.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let one = Generator::new(State::in_memory(&Layout::SONYFLAKE, 5)?);
    /// let same = Generator::new(State::in_memory(&Layout::SONYFLAKE, 5)?);
    /// assert!(one.next()? < same.next()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory(layout: &Layout, node: u64) -> Result<Self, StateError> {
        check_node(layout, node)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(|known| known.file.is_none() && known.state.is_of(layout, node)) {
            return Ok(Self { layout: *layout, ..known.state });
        }
        let page = map_memory().map_err(|errno| StateError::NoMemory(errno.into()))?;
        let state = Self::new(page, layout, node);
        state.word.store(state.seal.close(0), Ordering::Relaxed);
        known.push(Known { state, file: None });
        Ok(state)
    }

    fn new(page: *mut libc::c_void, layout: &Layout, node: u64) -> Self {
        // SAFETY: the page is mapped for good and aligned to more than 8 bytes, and its word is only ever touched as an
        // atomic, here and in all other processes.
        let word = unsafe { &*page.cast::<u8>().add(WORD_AT).cast() };
        Self { word, seal: seal(layout), layout: *layout, node }
    }

    fn is_of(&self, layout: &Layout, node: u64) -> bool {
        self.layout.has_same_bits(layout) && self.node == node
    }

    /// The layout that the state belongs to.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The node that the state belongs to.
    pub fn node(&self) -> u64 {
        self.node
    }

    /// The first position that is free.
    pub(super) fn free(&self) -> u64 {
        self.seal.open(self.word.load(Ordering::Relaxed))
    }

    /// Takes the position that `next` chooses, given the first that is free.
    #[inline(always)]
    pub(super) fn claim<R>(&self, next: impl FnMut(u64) -> Result<u64, R>) -> Result<u64, R> {
        word::claim(self.word, self.seal, next)
    }
}

fn seal(layout: &Layout) -> Seal {
    Seal::new(layout.time_bits() + layout.sequence_bits())
}

fn check_node(layout: &Layout, node: u64) -> Result<(), StateError> {
    let last = layout.last_node();
    if node > last { Err(StateError::Node { node, last }) } else { Ok(()) }
}

fn map_file(file: &File) -> rustix::io::Result<*mut libc::c_void> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    unsafe { mm::mmap(ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0) }
}

fn map_memory() -> rustix::io::Result<*mut libc::c_void> {
    // SAFETY: as in `map_file`.
    unsafe { mm::mmap_anonymous(ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED) }
}

fn fresh_page(layout: &Layout, node: u64) -> [u8; PAGE] {
    let mut page = [0; PAGE];
    page[..8].copy_from_slice(MAGIC);
    page[8..12].copy_from_slice(&VERSION.to_ne_bytes());
    page[16] = layout.time_bits() as u8;
    page[17] = layout.node_bits() as u8;
    page[18] = layout.sequence_bits() as u8;
    page[19] = u8::from(layout.order() == Order::SequenceThenNode);
    page[24..32].copy_from_slice(&layout.unit_ms().to_ne_bytes());
    page[32..40].copy_from_slice(&layout.epoch_ms().to_ne_bytes());
    page[40..48].copy_from_slice(&node.to_ne_bytes());
    let checksum = fnv_1a(&page[..CHECKSUM_AT]);
    page[CHECKSUM_AT..WORD_AT].copy_from_slice(&checksum.to_ne_bytes());
    page[WORD_AT..WORD_AT + 8].copy_from_slice(&seal(layout).close(0).to_ne_bytes());
    page
}

/// Whether `page` is a whole one of this layout and node.
fn check_page(page: &[u8; PAGE], path: &Path, layout: &Layout, node: u64) -> Result<(), StateError> {
    let damaged = |what| StateError::Damaged { path: path.to_path_buf(), what };
    if page[..8] != *MAGIC {
        return Err(damaged("it does not begin as a state does"));
    }
    let version = u32::from_ne_bytes(std::array::from_fn(|place| page[8 + place]));
    if number(page, CHECKSUM_AT) != fnv_1a(&page[..CHECKSUM_AT]) {
        return Err(damaged("its checksum is wrong"));
    }
    if version != VERSION {
        return Err(StateError::Version { path: path.to_path_buf(), version });
    }

    let order = if page[19] == 0 { Order::NodeThenSequence } else { Order::SequenceThenNode };
    let bits = [16, 17, 18].map(|place| u32::from(page[place]));
    let found = Layout::new(bits, number(page, 24), number(page, 32) as i64, order);
    let found = found.map_err(|_| damaged("it has a layout that cannot be"))?;
    if !found.has_same_bits(layout) {
        return Err(StateError::OtherLayout { path: path.to_path_buf(), found, wanted: *layout });
    }
    let found = number(page, 40);
    if found != node {
        return Err(StateError::OtherNode { path: path.to_path_buf(), found, wanted: node });
    }
    if !seal(layout).is_whole(number(page, WORD_AT)) {
        return Err(damaged("the check of its last position is wrong"));
    }
    if page[WORD_AT + 8..].iter().any(|&byte| byte != 0) {
        return Err(damaged("there is something where nothing should be"));
    }
    Ok(())
}

fn number(page: &[u8; PAGE], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|place| page[at + place]))
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Why there is no state.
#[derive(Debug)]
pub enum StateError {
    /// The layout has no such node.
    Node {
        /// The node asked for.
        node: u64,
        /// The layout's last.
        last: u64,
    },
    /// The file could not be opened or made.
    File(FileError),
    /// The file has not the size of a state.
    Size {
        /// The file.
        path: PathBuf,
        /// How many bytes it has.
        bytes: u64,
    },
    /// The file is of a version that this library does not know.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The file has been damaged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that shows.
        what: &'static str,
    },
    /// The file is that of another layout.
    OtherLayout {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: Layout,
        /// The layout asked for.
        wanted: Layout,
    },
    /// The file is that of another node.
    OtherNode {
        /// The file.
        path: PathBuf,
        /// Its node.
        found: u64,
        /// The node asked for.
        wanted: u64,
    },
    /// The file is not the one that this process has open under its name. Those who have the first one would repeat the
    /// ids of those who take the second.
    Replaced(PathBuf),
    /// There is no memory for a state without a file.
    NoMemory(io::Error),
}

impl From<FileError> for StateError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { node, last } => write!(f, "node {node} is not in the layout's range, 0 to {last}"),
            Self::File(error) => error.fmt(f),
            Self::Size { path, bytes } => {
                write!(f, "{} has {bytes} bytes, a state has {PAGE}; it is left as it is", path.display())
            }
            Self::Version { path, version } => {
                write!(f, "{} is a state of version {version}, this library knows {VERSION}", path.display())
            }
            Self::Damaged { path, what } => write!(
                f,
                "{} is damaged or no state: {what}; it is left as it is. Take another file and another node, or remove \
                 it once the clock is past all ids made with it",
                path.display()
            ),
            Self::OtherLayout { path, found, wanted } => {
                write!(f, "{} belongs to the layout {found}, not to {wanted}", path.display())
            }
            Self::OtherNode { path, found, wanted } => {
                write!(f, "{} belongs to node {found}, not to node {wanted}", path.display())
            }
            Self::Replaced(path) => write!(
                f,
                "{} was replaced while it is in use; put the first file back, or restart with the second",
                path.display()
            ),
            Self::NoMemory(error) => write!(f, "there is no memory for a state: {error}"),
        }
    }
}

impl std::error::Error for StateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::NoMemory(error) => Some(error),
            _ => None,
        }
    }
}
