//! Makes ids from a state and a clock.

use super::layout::Layout;
use super::refusal::Refusal;
use super::state::State;
use super::step::next_position;
use crate::source::{clock, entropy};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// How far ids may run ahead of the clock by default.
pub const MAX_DRIFT_MS: u64 = 10_000;

/// Makes the ids of one node. Any thread may use it.
///
/// ```
/// use txid::snowflake::{Generator, Layout, State};
///
/// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 17)?);
/// let id = orders.generate()?;
/// assert_eq!(orders.layout().decode(id).unwrap().node, 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    state: State,
    max_drift_ms: u64,
    issued: AtomicU64,
    refused: AtomicU64,
    clock_steps: AtomicU64,
    last_reading_ms: AtomicI64,
}

/// What a generator has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many ids it has made.
    pub issued: u64,
    /// How far the last time used is ahead of the clock, counting the ids of every process that shares the state.
    pub borrowed_ms: u64,
    /// How often it has seen the clock go back.
    pub clock_steps: u64,
    /// How often it could not make an id.
    pub refused: u64,
}

impl Generator {
    /// A generator of the state's layout and node.
    pub fn new(state: State) -> Self {
        Self {
            state,
            max_drift_ms: MAX_DRIFT_MS,
            issued: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            clock_steps: AtomicU64::new(0),
            last_reading_ms: AtomicI64::new(i64::MIN),
        }
    }

    /// Sets how far ids may run ahead of the clock: after the clock was stepped back, or when more ids are requested
    /// than the layout has.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 18)?).with_max_drift_ms(1);
    /// let now_ms = 1_700_000_000_000;
    /// let made = (0..10_000).filter(|_| orders.generate_at(now_ms).is_ok()).count();
    /// assert_eq!(made, 2 * 4096);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_max_drift_ms(self, max_drift_ms: u64) -> Self {
        Self { max_drift_ms, ..self }
    }

    /// The next id, or why there is none now. The coarse clock, with a tick of a few milliseconds, costs a quarter of
    /// the exact one; the exact one is read before an id is refused.
    #[inline]
    pub fn generate(&self) -> Result<u64, Refusal> {
        // Load before reading the clock: another thread may read the clock later than this one and store its reading
        // sooner.
        let last_ms = self.last_reading_ms.load(Ordering::Relaxed);
        let reading_ms = clock::coarse_ms();
        self.note(reading_ms, last_ms);
        self.next_noted(reading_ms)
    }

    /// As [`Generator::generate`], with the caller's reading of the clock. That may be old, so the clock is read again
    /// before an id is refused.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 21)?);
    /// let clock_ms = txid::system_ms();
    /// assert!(orders.generate_by(clock_ms)? < orders.generate_by(clock_ms)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generate_by(&self, clock_ms: i64) -> Result<u64, Refusal> {
        self.note(clock_ms, self.last_reading_ms.load(Ordering::Relaxed));
        self.next_noted(clock_ms)
    }

    #[inline]
    fn next_noted(&self, reading_ms: i64) -> Result<u64, Refusal> {
        match self.claim(reading_ms) {
            Ok(id) => Ok(id),
            Err(_) => self.look_again(),
        }
    }

    #[cold]
    fn look_again(&self) -> Result<u64, Refusal> {
        self.count_refusal(self.claim(clock::system_ms()))
    }

    /// The next id when the clock says `clock_ms`, in milliseconds since 1970-01-01 UTC.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, Refusal, State};
    ///
    /// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 19)?);
    /// let now_ms = 1_700_000_000_000;
    /// let first = orders.generate_at(now_ms)?;
    /// let an_hour_ago = now_ms - 3_600_000;
    /// assert_eq!(orders.generate_at(an_hour_ago), Err(Refusal::ClockBehind { last_ms: now_ms, clock_ms: an_hour_ago }));
    /// assert_eq!(orders.generate_at(now_ms - 10_000)?, first + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn generate_at(&self, clock_ms: i64) -> Result<u64, Refusal> {
        self.note(clock_ms, self.last_reading_ms.load(Ordering::Relaxed));
        self.count_refusal(self.claim(clock_ms))
    }

    /// Why [`Generator::generate_at`] would make no id; None if it would make one. Makes none.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 22)?);
    /// let now_ms = 1_700_000_000_000;
    /// let first = orders.generate_at(now_ms)?;
    /// assert_eq!(orders.refusal_at(now_ms), None);
    /// assert!(orders.refusal_at(now_ms - 3_600_000).is_some());
    /// assert_eq!(orders.generate_at(now_ms)?, first + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refusal_at(&self, clock_ms: i64) -> Option<Refusal> {
        let next = |free| next_position(self.layout(), self.drift(), free, clock_ms, || 0);
        self.state.probe(next).err()
    }

    /// The state that ids are made from.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The layout of its ids.
    pub fn layout(&self) -> &Layout {
        self.state.layout()
    }

    /// What this generator has done so far.
    ///
    /// ```
    /// use txid::snowflake::{Generator, Layout, State};
    ///
    /// let orders = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 20)?);
    /// orders.generate()?;
    /// orders.generate()?;
    /// assert_eq!(orders.stats().issued, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let ahead_ms = match self.state.free().checked_sub(1) {
            Some(last) => self.layout().ms_of(last >> self.layout().sequence_bits).saturating_sub(clock::system_ms()),
            // No id was made yet, and the epoch may be in the future.
            None => 0,
        };
        Stats {
            issued: self.issued.load(Ordering::Relaxed),
            borrowed_ms: ahead_ms.max(0) as u64,
            clock_steps: self.clock_steps.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    #[inline(always)]
    fn claim(&self, clock_ms: i64) -> Result<u64, Refusal> {
        let (layout, drift) = (self.layout(), self.drift());
        let start = || match layout.random_start {
            0 => 0,
            starts => random_start(starts, clock_ms),
        };
        let (node, position) = self.state.claim(|free| next_position(layout, drift, free, clock_ms, start))?;
        self.issued.fetch_add(1, Ordering::Relaxed);
        Ok(layout.id(position, node))
    }

    /// How many units of time ids may run ahead of the clock.
    #[inline(always)]
    fn drift(&self) -> u64 {
        match self.layout().unit_ms {
            1 => self.max_drift_ms,
            unit_ms => self.max_drift_ms / unit_ms,
        }
    }

    #[inline]
    fn count_refusal(&self, outcome: Result<u64, Refusal>) -> Result<u64, Refusal> {
        if outcome.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    #[inline]
    fn note(&self, reading_ms: i64, last_ms: i64) {
        if reading_ms != last_ms {
            if reading_ms < last_ms {
                self.clock_steps.fetch_add(1, Ordering::Relaxed);
            }
            self.last_reading_ms.store(reading_ms, Ordering::Relaxed);
        }
    }
}

fn random_start(starts: u64, clock_ms: i64) -> u64 {
    entropy::next_u64(clock_ms) % starts
}
