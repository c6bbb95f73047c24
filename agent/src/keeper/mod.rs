//! Carries out what a machine decides, with real clocks, a real page and a real store: one keeper for leases and for
//! segments.

mod lease;
mod own;
mod segment;

pub use lease::{KeptLease, Source};
pub use own::OwnError;
pub use segment::KeptSegment;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use txid_agent_machines::protocol::{Input, Machine, Now, Output};

/// How often the machine is asked at least, so that a host that was copied or stopped notices soon. Also how long there
/// must be no ids or numbers before that is reported: a worker may just be faster than the store.
const LOOK: Duration = Duration::from_secs(1);

/// A lease or a segment: what its machine decides about, and what its outputs are carried out on.
pub trait Kept {
    /// What decides.
    type Machine: Machine;

    /// The machine of an agent that starts.
    fn machine(&self) -> Self::Machine;

    /// The machine's rules.
    fn rules(&self) -> &<Self::Machine as Machine>::Rules;

    /// Reads the page.
    fn look(&self) -> <Self::Machine as Machine>::View;

    /// Writes to the page.
    fn write(&mut self, write: <Self::Machine as Machine>::Write);

    /// Asks the store.
    fn ask(&mut self, request: <Self::Machine as Machine>::Request) -> <Self::Machine as Machine>::Answer;

    /// What else the store is to know, tried again until it does. Returns a line for the log if that is news.
    fn attend(&mut self, _now: Instant) -> Option<String> {
        None
    }

    /// Takes note of what the store said about itself. If that changed, returns a line for the log.
    fn learn(&mut self) -> Option<String>;

    /// Notes in the page why there are no ids or numbers, for the errors of processes that want some.
    fn note(&self, event: &<Self::Machine as Machine>::Event);

    /// Why a process would get no id or number now; None if it would get one.
    fn refusal(&self) -> Option<String>;

    /// What was not given back if the agent ends without the store, for a person; None if there is no such thing. May be
    /// asked while another thread keeps this.
    fn unreturned(&self) -> Box<dyn Fn() -> Option<String>>;

    /// The reason why the machine gave up, for a person.
    fn explain(&self, failure: <Self::Machine as Machine>::Failure) -> String;
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One line of the log, if the change is worth one.
    pub text: Option<String>,
    /// Whether processes get ids or numbers now.
    pub live: bool,
}

/// Keeps a lease or a segment until a message arrives or the sender is gone, and then ends it.
///
/// From the first line of the log on, each change of [`Report::live`] is reported: many have no event of the machine.
pub fn keep<K: Kept>(kept: &mut K, stop: &Receiver<()>, mut report: impl FnMut(Report)) -> Result<(), String> {
    let begin = Instant::now();
    let mono_ms = || begin.elapsed().as_millis() as u64;
    let mut machine = kept.machine();
    let mut outage = Outage::default();
    let mut told = None;
    let mut tell = |kept: &K, text: Option<String>| {
        let live = kept.refusal().is_none();
        if text.is_some() || told.is_some_and(|told| told != live) {
            told = Some(live);
            report(Report { text, live });
        }
    };
    let mut input = Input::Go;
    loop {
        tell(kept, None);
        let now = Now { wall_ms: txid::system_ms(), mono_ms: mono_ms(), random: random() };
        input = match machine.step(kept.rules(), &now, &kept.look(), input) {
            Output::Ask(request) => {
                let answer = kept.ask(request);
                if let Some(text) = kept.learn() {
                    tell(kept, Some(text));
                }
                Input::Answer(answer)
            }
            Output::Write(write) => {
                kept.write(write);
                Input::Go
            }
            Output::Log(event) => {
                kept.note(&event);
                tell(kept, Some(event.to_string()));
                Input::Go
            }
            Output::Wait { until_ms } => {
                let now = Instant::now();
                if let Some(text) = kept.attend(now) {
                    tell(kept, Some(text));
                }
                if let Some(text) = outage.look(now, kept.refusal()) {
                    tell(kept, Some(text));
                }
                let left = Duration::from_millis(until_ms.saturating_sub(mono_ms()));
                match stop.recv_timeout(left.min(LOOK)) {
                    Err(RecvTimeoutError::Timeout) => Input::Go,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => Input::Stop,
                }
            }
            Output::Stopped => return Ok(()),
            Output::Fail(failure) => return Err(kept.explain(failure)),
        };
    }
}

/// A time without ids or numbers. It begins and ends without an event if a lease ends or a range is used up.
#[derive(Default)]
struct Outage {
    since: Option<Instant>,
    is_reported: bool,
}

impl Outage {
    /// A line of the log: once when an outage lasts, and at its end.
    fn look(&mut self, now: Instant, refusal: Option<String>) -> Option<String> {
        let Some(why) = refusal else {
            self.since = None;
            let was_reported = std::mem::take(&mut self.is_reported);
            return was_reported.then(|| "in service".to_owned());
        };
        let lasts = now.duration_since(*self.since.get_or_insert(now)) >= LOOK;
        if !lasts || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        Some(format!("out of service: {why}"))
    }
}

/// From the operating system, because a copied machine would repeat the numbers of a generator in this process.
fn random() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => txid::uuid::v4().as_u128(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_reported_once_when_it_lasts_and_at_its_end() {
        let (mut outage, begin) = (Outage::default(), Instant::now());
        for (ms, is_out, wanted) in [
            (0, false, None),
            // Too short.
            (100, true, None),
            (1_099, true, None),
            (1_100, false, None),
            (2_000, true, None),
            (2_999, true, None),
            (3_000, true, Some("out of service: no lease")),
            (9_000, true, None),
            (9_100, false, Some("in service")),
            (9_200, false, None),
        ] {
            let refusal = is_out.then(|| "no lease".to_owned());
            let said = outage.look(begin + Duration::from_millis(ms), refusal);
            assert_eq!(said.as_deref(), wanted, "after {ms} ms");
        }
    }

    #[test]
    fn random_numbers_differ() {
        assert_ne!(random(), random());
    }
}
