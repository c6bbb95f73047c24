//! The page of a segment.
//!
//! The fields of its header, and its words:
//!
//! | bytes | what |
//! |---|---|
//! | 40..80 | the boot and the file in which the page was made |
//! | 128..144 | the first free number, and the end of the current range: taking a number needs both |
//! | 256..272 | the next range |
//! | 384..448 | what only the agent writes: step, numbers a second, last contact, counts, news, highest number seen, last fetch |
//! | 512..600 | the check values of the keys that hide the numbers, or 0 without a key: first the one without a period, then those of ten periods. Bit 63 is 1, bit 62 if the key is retired; then come 24 bits of the key and, as the low ones, 32 of the series |

use super::ranges::Ranges;
use super::used_up::{SegmentNews, UsedUp};
use crate::shared::key_check::KeyCheck;
use crate::shared::origin::{self, Foreign, Origin};
use crate::shared::page::Page;
use crate::shared::page_bytes::{Kind, PageBytes, WORDS_AT};
use crate::shared::{Identity, PageError};
use crate::text::error_texts;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static KIND: Kind = Kind {
    magic: b"txidsegm",
    version: 1,
    name: "segment",
    advice: "Stop txid-agent and what uses it, remove it, and start them again",
    // No number is in two pages.
    may_be_replaced: true,
};
const CUR_AT: usize = WORDS_AT;
const END_AT: usize = WORDS_AT + 8;
/// Not in the cache lines that change with each number.
const NEXT_START_AT: usize = 2 * WORDS_AT;
const NEXT_END_AT: usize = 2 * WORDS_AT + 8;
const AGENT_AT: usize = 3 * WORDS_AT;
const STEP_AT: usize = AGENT_AT;
const RATE_AT: usize = AGENT_AT + 8;
const CONTACT_AT: usize = AGENT_AT + 16;
const FETCHES_AT: usize = AGENT_AT + 24;
const FAILURES_AT: usize = AGENT_AT + 32;
const NEWS_AT: usize = AGENT_AT + 40;
const SEEN_AT: usize = AGENT_AT + 48;
const FETCHED_AT: usize = AGENT_AT + 56;
const KEYS_AT: usize = 4 * WORDS_AT;

/// A source of numbers. Any thread may use it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    ranges: Ranges<'static, AtomicU64>,
    page: Page,
}

/// A segment, for its agent. Only one agent at a time may write.
#[derive(Clone, Copy, Debug)]
pub struct SegmentPage {
    segment: Segment,
}

/// The contents of a segment's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentStats {
    /// How many numbers are left in the current range.
    pub left: u64,
    /// How many the next range has; 0 if it is not there yet.
    pub next: u64,
    /// The end of all ranges so far.
    pub granted: u64,
    /// How many numbers the agent takes at a time.
    pub step: u64,
    /// How many numbers were taken recently, in a thousand seconds.
    pub rate_milli: u64,
    /// When the store last answered, in milliseconds since 1970-01-01 UTC.
    pub contact_ms: Option<i64>,
    /// How many ranges were taken from the store.
    pub fetches: u64,
    /// How many requests to the store failed.
    pub failures: u64,
    /// What the agent last reported.
    pub news: SegmentNews,
}

impl SegmentStats {
    /// How many milliseconds the numbers last at the current rate; None if none are taken.
    pub fn lasts_ms(&self) -> Option<u64> {
        let left = u128::from(self.left) + u128::from(self.next);
        let ms = (left * 1_000_000).checked_div(u128::from(self.rate_milli))?;
        Some(u64::try_from(ms).unwrap_or(u64::MAX))
    }
}

impl Segment {
    /// Attaches to the page in the file at `path`, which the agent has made.
    ///
    /// A page that was made elsewhere or before this boot is refused: the numbers in it may have been used.
    pub fn attach(path: &Path) -> Result<Self, SegmentError> {
        match Page::attach(path, &KIND, &[], |found, file| check(found, file, path)) {
            Ok(page) => Ok(Self::new(page)),
            Err(SegmentError::Page(PageError::File(error))) if error.is_missing() => {
                Err(SegmentError::NoAgent(path.to_path_buf()))
            }
            Err(error) => Err(error),
        }
    }

    fn new(page: Page) -> Self {
        let [cur, end, next_start, next_end] = [CUR_AT, END_AT, NEXT_START_AT, NEXT_END_AT].map(|at| page.word(at));
        Self { ranges: Ranges { cur, end, next_start, next_end }, page }
    }

    /// The next number, which is never given out again; or why there is none now. It never waits.
    #[inline]
    pub fn take(&self) -> Result<u64, UsedUp> {
        match self.ranges.take() {
            Some(number) => Ok(number),
            None => Err(self.used_up()),
        }
    }

    /// Why [`Segment::take`] would give no number; None if it would give one. Takes none.
    pub fn refusal(&self) -> Option<UsedUp> {
        (self.ranges.left() == (0, 0)).then(|| self.used_up())
    }

    #[cold]
    fn used_up(&self) -> UsedUp {
        let SegmentStats { contact_ms, news, .. } = self.stats();
        UsedUp { path: self.path(), contact_ms, news }
    }

    /// The contents of the page.
    pub fn stats(&self) -> SegmentStats {
        let (left, next) = self.ranges.left();
        SegmentStats {
            left,
            next,
            granted: self.get(NEXT_END_AT).max(self.get(END_AT)),
            step: self.get(STEP_AT),
            rate_milli: self.get(RATE_AT),
            contact_ms: Some(self.get(CONTACT_AT) as i64).filter(|&ms| ms != 0),
            fetches: self.get(FETCHES_AT),
            failures: self.get(FAILURES_AT),
            news: SegmentNews::ALL.get(self.get(NEWS_AT) as usize).copied().unwrap_or(SegmentNews::Serving),
        }
    }

    /// The key that the store has for the numbers of this period.
    #[inline]
    pub fn key_check(&self, period: Option<u8>) -> Option<KeyCheck> {
        KeyCheck::from_word(period, self.get(KEYS_AT + 8 * KeyCheck::place_of(period)))
    }

    /// The file of the page.
    pub fn path(&self) -> Option<&'static Path> {
        self.page.path()
    }

    fn get(&self, at: usize) -> u64 {
        self.page.word(at).load(Ordering::Acquire)
    }
}

impl SegmentPage {
    /// Opens the page in the file at `path`; if it does not exist, makes it, without numbers.
    ///
    /// A page that was made elsewhere or before this boot is refused, and not written to. If nothing shows which boot
    /// this is, no page is made.
    pub fn open_or_make(path: &Path) -> Result<Self, SegmentError> {
        if !Origin::is_known() {
            return Err(SegmentError::UnknownBoot(path.to_path_buf()));
        }
        let page = Page::open_or_make_bound(path, &KIND, &[], fresh, |found, file| check(found, file, path))?;
        Ok(Self { segment: Segment::new(page) })
    }

    /// The source of numbers in this page.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Whether there is room for another range after the current one.
    pub fn wants(&self) -> bool {
        self.segment.ranges.wants()
    }

    /// Grants the numbers of `range` to all users of the page. They must not be used elsewhere, and there must be room.
    ///
    /// # Panics
    ///
    /// If there is no room, or the range begins before the end of all earlier ones.
    pub fn publish(&self, range: Range<u64>) {
        assert!(self.wants(), "the next range is not used up");
        let granted = self.segment.stats().granted;
        assert!(range.start >= granted && range.start < range.end, "{range:?} after {granted}");
        self.segment.ranges.publish(range);
        self.segment.page.word(FETCHES_AT).fetch_add(1, Ordering::Relaxed);
    }

    /// The highest number that the store is known to have reached.
    pub fn seen(&self) -> u64 {
        self.segment.get(SEEN_AT)
    }

    /// Records that the store has reached this number.
    pub fn see(&self, number: u64) {
        self.segment.page.word(SEEN_AT).fetch_max(number, Ordering::AcqRel);
    }

    /// When the last range was taken, in milliseconds since 1970-01-01 UTC; 0 if none was.
    pub fn fetched_ms(&self) -> i64 {
        self.segment.get(FETCHED_AT) as i64
    }

    /// Records that a range of `step` numbers was taken at this time.
    pub fn set_step(&self, step: u64, fetched_ms: i64) {
        self.set(STEP_AT, step);
        self.set(FETCHED_AT, fetched_ms as u64);
    }

    /// Records how many numbers are taken in a thousand seconds.
    pub fn set_rate(&self, rate_milli: u64) {
        self.set(RATE_AT, rate_milli);
    }

    /// Records that the store answered at this time.
    pub fn set_contact(&self, ms: i64) {
        self.set(CONTACT_AT, ms as u64);
    }

    /// Counts a request that failed.
    pub fn count_failure(&self) {
        self.segment.page.word(FAILURES_AT).fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the reason that callers get if there is no number.
    pub fn set_news(&self, news: SegmentNews) {
        self.set(NEWS_AT, news as u64);
    }

    /// Sets the key that the store has for the numbers of a period.
    pub fn set_key_check(&self, check: KeyCheck) {
        self.set(KEYS_AT + 8 * KeyCheck::place_of(check.period()), check.word());
    }

    fn set(&self, at: usize, value: u64) {
        self.segment.page.word(at).store(value, Ordering::Release);
    }
}

fn fresh(file: Identity) -> PageBytes {
    PageBytes::new(&KIND, &Origin::new(file).placed())
}

fn check(found: &PageBytes, file: Identity, path: &Path) -> Result<(), SegmentError> {
    Origin::check(found, file).map_err(|foreign| match foreign {
        Foreign::UnknownBoot => SegmentError::UnknownBoot(path.to_path_buf()),
        Foreign::OtherBoot => SegmentError::OtherBoot(path.to_path_buf()),
        Foreign::Copied => SegmentError::Copied(path.to_path_buf()),
    })
}

/// Why a segment could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum SegmentError {
    /// The page could not be opened or made.
    Page(PageError),
    /// The file does not exist: the agent has not made it.
    NoAgent(PathBuf),
    /// Nothing shows which boot this is, so the page may be from an earlier one.
    UnknownBoot(PathBuf),
    /// The page was made before the last boot.
    OtherBoot(PathBuf),
    /// The page belongs to another file.
    Copied(PathBuf),
}

impl From<PageError> for SegmentError {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

error_texts! { SegmentError {
    Self::Page(error) => "{error}";
    Self::NoAgent(path) => "{} does not exist; txid-agent makes it, so start that first", path.display();
    Self::UnknownBoot(path) => "{}", origin::of_unknown_boot(path);
    Self::OtherBoot(path) =>
        "{} was made before this machine was started, and its numbers may have been used; txid-agent makes a new one",
        path.display();
    Self::Copied(path) =>
        "{} is a copy of another file, which has the same numbers; use the file that txid-agent made", path.display();
} }

#[cfg(test)]
mod tests {
    use super::*;
    use test_helpers::Directory;

    fn in_directory(name: &str, test: impl FnOnce(&Path)) {
        test(&Directory::new(&format!("segment-{name}")).0);
    }

    #[test]
    fn ranges_are_taken_one_after_the_other() {
        in_directory("ranges", |directory| {
            let page = SegmentPage::open_or_make(&directory.join("a.segment")).unwrap();
            let segment = Segment::attach(&directory.join("a.segment")).unwrap();
            assert!(page.wants());
            assert_eq!(segment.stats().granted, 0);
            page.publish(5..7);
            assert!(!page.wants());
            assert_eq!(segment.stats().granted, 7);
            assert_eq!(segment.take(), Ok(5));
            assert!(page.wants());
            assert_eq!(segment.stats().granted, 7);
            page.publish(7..8);
            let stats = segment.stats();
            assert_eq!((stats.left, stats.next, stats.fetches), (1, 1, 2));
            assert_eq!(segment.refusal(), None);
            assert_eq!(segment.take(), Ok(6));
            assert_eq!(segment.refusal(), None, "the next range has one");
            assert_eq!(segment.take(), Ok(7));
            assert_eq!(segment.refusal(), segment.take().err());
            let why = segment.take().unwrap_err().to_string();
            assert_eq!(why, "the numbers of a are used up; txid-agent has not reached its store yet");
        });
    }

    #[test]
    fn each_period_has_the_key_that_its_store_has() {
        in_directory("keys", |directory| {
            let path = directory.join("a.segment");
            let page = SegmentPage::open_or_make(&path).unwrap();
            let keys =
                ["66e94b-767ab6ec", "1:000000-00000000", "9:ffffff-ffffffff:retired"].map(|text| text.parse().unwrap());
            keys.iter().for_each(|key| page.set_key_check(*key));
            let found = [None, Some(1), Some(9)].map(|period| Segment::attach(&path).unwrap().key_check(period));
            assert_eq!(found, keys.map(Some));
            assert_eq!(page.segment().key_check(Some(2)), None);
        });
    }

    #[test]
    #[should_panic(expected = "7..9 after 8")]
    fn a_range_never_begins_below_what_was_granted() {
        in_directory("down", |directory| {
            let page = SegmentPage::open_or_make(&directory.join("a.segment")).unwrap();
            page.publish(5..8);
            page.segment().take().unwrap();
            page.publish(7..9);
        });
    }

    #[test]
    fn a_copy_and_a_page_of_another_boot_are_refused() {
        in_directory("copy", |directory| {
            let (path, copy) = (directory.join("a.segment"), directory.join("copy.segment"));
            SegmentPage::open_or_make(&path).unwrap().publish(5..8);
            std::fs::copy(&path, &copy).unwrap();
            assert!(matches!(Segment::attach(&copy), Err(SegmentError::Copied(_))));
            assert!(matches!(SegmentPage::open_or_make(&copy), Err(SegmentError::Copied(_))));
            assert!(matches!(Segment::attach(&directory.join("none")), Err(SegmentError::NoAgent(_))));

            let contents = PageBytes::new(&KIND, &[]);
            assert!(matches!(
                check(&contents, Identity { device: 0, inode: 0, born_ns: 0 }, &path),
                Err(SegmentError::OtherBoot(_))
            ));
        });
    }

    #[test]
    fn the_message_says_how_long_numbers_last() {
        let stats = SegmentStats {
            left: 300,
            next: 700,
            granted: 1000,
            step: 700,
            rate_milli: 2_000,
            contact_ms: None,
            fetches: 2,
            failures: 0,
            news: SegmentNews::Serving,
        };
        assert_eq!(stats.lasts_ms(), Some(500_000));
        assert_eq!(SegmentStats { rate_milli: 0, ..stats }.lasts_ms(), None);
    }
}
