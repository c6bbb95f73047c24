//! The page of a lease.
//!
//! The fields of its header, and its words:
//!
//! | bytes | what |
//! |---|---|
//! | 16..20 | bits of time, of node, of sequence; 1 if the sequence is before the node |
//! | 24..32 | unit of time in milliseconds |
//! | 32..40 | epoch in milliseconds since 1970-01-01 UTC |
//! | 40..80 | the boot and the file in which the page was made |
//! | 128..136 | the word: node and first free position |
//! | 256..264 | the limit: node and time |
//! | 384..456 | what only the agent writes: generation, token, confirmed and noted limit, last contact, counts, news |

use super::term::{Contents, NoClaim, Shape, Term};
use crate::shared::origin::{Foreign, Origin};
use crate::shared::page::Page;
use crate::shared::page_bytes::{Kind, PageBytes, WORDS_AT};
use crate::shared::{Identity, PageError};
use crate::snowflake::header::{self, LayoutFields};
use crate::snowflake::layout::Layout;
use crate::snowflake::refusal::{LeaseNews, Refusal, Unleased};
use crate::snowflake::state_error::StateError;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

static KIND: Kind = Kind {
    magic: b"txidleas",
    version: 1,
    name: "lease",
    advice: "Stop txid-agent and what uses it, remove it, and start them again",
    // Each has a lease of its own.
    may_be_replaced: true,
};
/// Each alone in its cache line, and in the pair of lines that a processor may fetch together.
const WORD_AT: usize = WORDS_AT;
const LIMIT_AT: usize = 2 * WORDS_AT;
const AGENT_AT: usize = 3 * WORDS_AT;
const GENERATION_AT: usize = AGENT_AT;
const TOKEN_AT: usize = AGENT_AT + 8;
const CONFIRMED_AT: usize = AGENT_AT + 24;
const NOTED_AT: usize = AGENT_AT + 32;
const CONTACT_AT: usize = AGENT_AT + 40;
const RENEWALS_AT: usize = AGENT_AT + 48;
const FAILURES_AT: usize = AGENT_AT + 56;
const NEWS_AT: usize = AGENT_AT + 64;

/// A lease, for code that makes ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    term: Term<'static, AtomicU64>,
    page: Page,
}

/// A lease, for its agent. Only one agent at a time may write.
#[derive(Clone, Copy, Debug)]
pub struct LeasePage {
    pub(in crate::snowflake) lease: Lease,
    pub(in crate::snowflake) layout: Layout,
}

/// The contents of a lease's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseView {
    /// The node of the word. Not held if there is no limit.
    pub node: u64,
    /// While this is true, there are no ids.
    pub is_closed: bool,
    /// Ids have times before this, in milliseconds since 1970-01-01 UTC; None if there is no lease.
    pub limit_ms: Option<i64>,
    /// The beginning of the first unit of time in which no id was made.
    pub free_ms: i64,
    /// How often the node has been taken; 0 if there is no lease to continue.
    pub generation: u64,
    /// The token of the lease.
    pub token: u128,
    /// The limit that was last confirmed by the store for this generation; `i64::MIN` if none was.
    pub confirmed_ms: i64,
    /// The last limit that was about to be written to the store.
    pub noted_ms: i64,
    /// When the store last answered, in milliseconds since 1970-01-01 UTC.
    pub contact_ms: Option<i64>,
    /// How often a limit was set.
    pub renewals: u64,
    /// How many requests to the store failed.
    pub failures: u64,
    /// What the agent last reported.
    pub news: LeaseNews,
}

impl Lease {
    fn new(page: Page, layout: &Layout) -> Self {
        let term = Term { word: page.word(WORD_AT), limit: page.word(LIMIT_AT), shape: Shape::new(layout) };
        Self { term, page }
    }

    /// Attaches to the page in the file at `path`, which the agent has made.
    pub(crate) fn attach(path: &Path, layout: &Layout) -> Result<Self, StateError> {
        check_layout(layout)?;
        let page = Page::attach(path, &KIND, &LayoutFields::new(layout).placed(), |found, file| {
            check(found, file, path, layout)
        });
        match page {
            Ok(page) => Ok(Self::new(page, layout)),
            Err(StateError::Page(PageError::File(error))) if error.is_missing() => {
                Err(StateError::NoLease(path.to_path_buf()))
            }
            Err(error) => Err(error),
        }
    }

    /// The node, if there is a lease.
    pub(crate) fn node(&self) -> Option<u64> {
        self.term.limit().map(|_| self.term.contents().node)
    }

    /// The first free position.
    pub(crate) fn free(&self) -> u64 {
        self.term.contents().free
    }

    /// Takes the position that `next` chooses; returns it with its node.
    #[inline(always)]
    pub(crate) fn claim(
        &self,
        layout: &Layout,
        next: impl FnMut(u64) -> Result<u64, Refusal>,
    ) -> Result<(u64, u64), Refusal> {
        match self.term.claim(next) {
            Ok(claimed) => Ok(claimed),
            Err(NoClaim::Refused(refusal)) => Err(refusal),
            Err(NoClaim::Unleased) => Err(self.refusal(layout)),
        }
    }

    /// Whether [`Lease::claim`] would take a position now. Takes none.
    pub(crate) fn probe(&self, layout: &Layout, next: impl FnMut(u64) -> Result<u64, Refusal>) -> Result<(), Refusal> {
        self.term.probe(next).map_err(|why| match why {
            NoClaim::Refused(refusal) => refusal,
            NoClaim::Unleased => self.refusal(layout),
        })
    }

    #[cold]
    fn refusal(&self, layout: &Layout) -> Refusal {
        let LeaseView { limit_ms, contact_ms, news, .. } = self.view(layout);
        Refusal::Unleased(Unleased { path: self.page.path(), ended_ms: limit_ms, contact_ms, news })
    }

    pub(crate) fn view(&self, layout: &Layout) -> LeaseView {
        let get = |at: usize| self.page.word(at).load(Ordering::Acquire);
        let Contents { node, free, is_closed } = self.term.contents();
        let news = LeaseNews::ALL.get(get(NEWS_AT) as usize).copied().unwrap_or(LeaseNews::Starting);
        LeaseView {
            node,
            is_closed,
            limit_ms: self.term.limit().map(|unit| layout.ms_of(unit)),
            free_ms: layout.ms_of((free >> layout.sequence_bits) + 1),
            generation: get(GENERATION_AT),
            token: u128::from(get(TOKEN_AT)) << 64 | u128::from(get(TOKEN_AT + 8)),
            confirmed_ms: get(CONFIRMED_AT) as i64,
            noted_ms: get(NOTED_AT) as i64,
            contact_ms: Some(get(CONTACT_AT) as i64).filter(|&ms| ms != 0),
            renewals: get(RENEWALS_AT),
            failures: get(FAILURES_AT),
            news,
        }
    }
}

impl LeasePage {
    /// Opens the page in the file at `path`; if it does not exist, makes it, closed.
    ///
    /// A page of another layout is refused, and so is one that was made elsewhere or before this boot, because its
    /// lease may have been used since. Neither is written to. If the boot is unknown, no page is made.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, LeasePage, State};
    ///
    /// # let directory = std::env::temp_dir().canonicalize()?.join(format!("txid-lease-{}", std::process::id()));
    /// let path = directory.join("orders");
    /// let page = LeasePage::open_or_make(&path, &Layout::SNOWFLAKE)?;
    /// let orders = Generator::new(State::leased(&path, &Layout::SNOWFLAKE)?);
    /// assert!(orders.generate().is_err(), "there is no lease yet");
    /// page.open(17, txid::system_ms());
    /// page.set_limit(17, txid::system_ms() + 60_000);
    /// assert_eq!(Layout::SNOWFLAKE.decode(orders.generate()?).unwrap().node, 17);
    /// # std::fs::remove_dir_all(directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_or_make(path: &Path, layout: &Layout) -> Result<Self, StateError> {
        check_layout(layout)?;
        if !Origin::is_known() {
            return Err(StateError::UnknownBoot(path.to_path_buf()));
        }
        let page = Page::open_or_make_bound(
            path,
            &KIND,
            &LayoutFields::new(layout).placed(),
            |file| fresh(layout, file),
            |found, file| check(found, file, path, layout),
        )?;
        Ok(Self { lease: Lease::new(page, layout), layout: *layout })
    }

    /// Opens the page in the file at `path`, whatever its layout, for reading.
    pub fn attach(path: &Path) -> Result<Self, StateError> {
        let mut its_layout = None;
        let page = Page::attach(path, &KIND, &[], |found, file| {
            let layout = layout_in(found, path)?;
            its_layout = Some(layout);
            check(found, file, path, &layout)
        })?;
        let layout = its_layout.ok_or_else(|| StateError::NoLease(path.to_path_buf()))?;
        Ok(Self { lease: Lease::new(page, &layout), layout })
    }

    /// A page in memory, for an agent and the code that makes ids in the same process, and its children. Every call
    /// with this layout and `number` returns the same page.
    pub fn in_memory(layout: &Layout, number: u64) -> Result<Self, StateError> {
        check_layout(layout)?;
        let page = Page::in_memory(&fresh(layout, Identity { device: 0, inode: number, born_ns: 0 }))?;
        Ok(Self { lease: Lease::new(page, layout), layout: *layout })
    }

    /// The contents of the page.
    pub fn view(&self) -> LeaseView {
        self.lease.view(&self.layout)
    }

    /// Stops ids. Returns the beginning of the first unit of time in which none was made.
    pub fn close(&self) -> i64 {
        self.layout.ms_of(self.lease.term.close())
    }

    /// Allows ids of `node`, from the first unit of time that begins at `start_ms` or later, once there is a limit. The
    /// page must be closed, and no id may have been made with that node in that unit or later.
    pub fn open(&self, node: u64, start_ms: i64) {
        self.lease.term.open(node, self.layout.unit_from(start_ms));
    }

    /// Allows ids of `node` with times before `limit_ms`.
    pub fn set_limit(&self, node: u64, limit_ms: i64) {
        self.lease.term.set_limit(node, self.layout.unit_from(limit_ms));
        self.set(CONFIRMED_AT, limit_ms as u64);
        self.lease.page.word(RENEWALS_AT).fetch_add(1, Ordering::Relaxed);
    }

    /// Records which lease this is, for an agent that restarts. Zeros mean that there is none to continue.
    pub fn set_generation(&self, generation: u64, token: u128) {
        self.set(GENERATION_AT, 0);
        self.set(CONFIRMED_AT, i64::MIN as u64);
        self.set(TOKEN_AT, (token >> 64) as u64);
        self.set(TOKEN_AT + 8, token as u64);
        self.set(GENERATION_AT, generation);
    }

    /// Records a limit that is about to be written to the store.
    pub fn note(&self, limit_ms: i64) {
        self.set(NOTED_AT, limit_ms as u64);
    }

    /// Records that the store answered at this time.
    pub fn set_contact(&self, ms: i64) {
        self.set(CONTACT_AT, ms as u64);
    }

    /// Counts a request that failed.
    pub fn count_failure(&self) {
        self.lease.page.word(FAILURES_AT).fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the reason that callers get if there is no lease.
    pub fn set_news(&self, news: LeaseNews) {
        self.set(NEWS_AT, news as u64);
    }

    fn set(&self, at: usize, value: u64) {
        self.lease.page.word(at).store(value, Ordering::Release);
    }
}

fn check_layout(layout: &Layout) -> Result<(), StateError> {
    if layout.node_bits == 0 { Err(StateError::NoNodes(*layout)) } else { Ok(()) }
}

fn fresh(layout: &Layout, file: Identity) -> PageBytes {
    let (layout_fields, origin) = (LayoutFields::new(layout), Origin::new(file));
    let ([bits, unit, epoch], [boot, file]) = (layout_fields.placed(), origin.placed());
    PageBytes::new(&KIND, &[bits, unit, epoch, boot, file])
        .with_word(WORD_AT, Shape::new(layout).nothing())
        .with_word(CONFIRMED_AT, i64::MIN as u64)
        .with_word(NOTED_AT, i64::MIN as u64)
}

fn layout_in(found: &PageBytes, path: &Path) -> Result<Layout, StateError> {
    header::layout_of(found).map_err(|_| StateError::Page(PageError::damaged(&KIND, path, "its layout is invalid")))
}

/// Whether `found` is a page of this layout, made in this boot, and in this file.
fn check(found: &PageBytes, file: Identity, path: &Path, layout: &Layout) -> Result<(), StateError> {
    let its_layout = layout_in(found, path)?;
    let path = path.to_path_buf();
    if !its_layout.has_same_bits(layout) {
        return Err(StateError::OtherLayout { path, found: its_layout, wanted: *layout });
    }
    Origin::check(found, file).map_err(|foreign| match foreign {
        Foreign::UnknownBoot => StateError::UnknownBoot(path),
        Foreign::OtherBoot => StateError::OtherBoot(path),
        Foreign::Copied => StateError::Copied(path),
    })
}
