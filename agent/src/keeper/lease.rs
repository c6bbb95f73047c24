//! Keeps one lease: carries out what the state machine decides, with a real page, a real store and real clocks.

use crate::own::{OwnError, own};
use crate::store::Store;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use txid::snowflake::{Layout, LeasePage, StateError};
use txid_agent_machines::lease::page::{look, say, write};
use txid_agent_machines::lease::{Answer, Event, Failure, Input, Lease, Now, Output, Reply, Request, Rules};
use txid_agent_machines::store::Put;

/// How often the clocks are checked, so that a machine that was copied or stopped notices soon.
const LOOK: Duration = Duration::from_secs(1);

/// The page in the file of a lease. Only one agent at a time owns it.
#[derive(Debug)]
pub struct OwnPage {
    page: LeasePage,
    _lock: File,
}

impl OwnPage {
    /// Opens the page in the file at `path`, or makes it.
    pub fn open(path: &Path, layout: &Layout) -> Result<Self, OwnError<StateError>> {
        let (page, lock) = own(path, |path| match LeasePage::open_or_make(path, layout) {
            Err(StateError::OtherBoot(_) | StateError::Copied(_)) => Ok(None),
            page => page.map(Some),
        })?;
        Ok(Self { page, _lock: lock })
    }
}

/// Keeps the lease of `page` until a message arrives or the sender is gone; then gives it back. Every change of state
/// is written to `log`.
pub fn keep(
    page: &OwnPage,
    rules: &Rules,
    store: &mut dyn Store,
    stop: &Receiver<()>,
    mut log: impl FnMut(&Event),
) -> Result<(), Failure> {
    let page = &page.page;
    let begin = Instant::now();
    let mono_ms = || begin.elapsed().as_millis() as u64;
    let mut lease = Lease::new(&look(page));
    let mut input = Input::Go;
    loop {
        let now = Now { wall_ms: txid::system_ms(), mono_ms: mono_ms(), random: random() };
        input = match lease.step(rules, &now, input) {
            Output::Ask(request) => Input::Answer(ask(page, rules, store, &request)),
            Output::Write(it) => write(page, it),
            Output::Log(event) => {
                say(page, &event);
                log(&event);
                Input::Go
            }
            Output::Wait { until_ms } => {
                let left = Duration::from_millis(until_ms.saturating_sub(mono_ms()));
                match stop.recv_timeout(left.min(LOOK)) {
                    Err(RecvTimeoutError::Timeout) => Input::Go,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => Input::Stop,
                }
            }
            Output::Stopped => return Ok(()),
            Output::Fail(failure) => return Err(failure),
        };
    }
}

fn ask(page: &LeasePage, rules: &Rules, store: &mut dyn Store, request: &Request) -> Answer {
    let reply = match request {
        Request::Read { key } => Reply::Read(store.read(key)),
        Request::Put { key, expected, bytes } => Reply::Put(store.put(key, expected, bytes)),
        Request::List { prefix } => Reply::List(store.list(prefix)),
        Request::Number => Reply::Number(store.number(rules.numbering, &rules.group, &rules.owner, rules.last_node)),
    };
    let store_ms = match &reply {
        Reply::Read(Err(_))
        | Reply::Put(Err(_) | Ok(Put::Unknown(_)))
        | Reply::List(Err(_))
        | Reply::Number(Err(_)) => {
            page.count_failure();
            None
        }
        _ => {
            page.set_contact(txid::system_ms());
            store.clock_ms().ok().flatten()
        }
    };
    Answer { reply, store_ms }
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
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn answers_and_failures_of_the_store_show_in_the_page() {
        let directory = tempfile::tempdir().unwrap();
        let layout = &Layout::SNOWFLAKE;
        let page = LeasePage::open_or_make(&directory.path().join("orders"), layout).unwrap();
        let rules = Rules::new("orders", "here", layout, false);
        let ask = |store: &str| {
            let mut store = crate::store::open(&format!("file://{}/{store}", directory.path().display())).unwrap();
            ask(&page, &rules, &mut *store, &Request::Read { key: "orders/node/1".to_owned() })
        };
        // The page's own file is no directory.
        assert!(matches!(ask("orders").reply, Reply::Read(Err(_))));
        let view = page.view();
        assert_eq!((view.failures, view.contact_ms), (1, None));
        assert!(matches!(ask("leases").reply, Reply::Read(Ok(None))));
        let view = page.view();
        assert_eq!(view.failures, 1);
        assert!(view.contact_ms.is_some_and(|ms| ms.abs_diff(txid::system_ms()) < 10_000));
    }

    /// Each removes the file and makes a new one: what the others have locked is then not the file any more.
    #[test]
    fn of_several_that_find_a_copy_one_owns_the_page() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("orders"), directory.path().join("other"));
        drop(OwnPage::open(&other, &Layout::SNOWFLAKE).unwrap());
        for round in 0..500 {
            std::fs::copy(&other, &path).unwrap();
            let start = Barrier::new(4);
            let owners: Vec<_> = thread::scope(|scope| {
                let open = || {
                    start.wait();
                    OwnPage::open(&path, &Layout::SNOWFLAKE)
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let refused = owners.iter().filter(|owner| matches!(owner, Err(OwnError::InUse(_)))).count();
            assert_eq!((owners.iter().flatten().count(), refused), (1, 3), "round {round}: {owners:?}");
            std::fs::remove_file(&path).unwrap();
        }
    }
}
