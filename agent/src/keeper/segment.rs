//! The thread of one segment: checks whether a range is needed, takes it from the store, and grants it in the page.

use super::Event;
use crate::config::Config;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use txid::segment::{SegmentError, SegmentPage};
use txid_agent::own::{OwnError, own};
use txid_agent::store::{self, Store};
use txid_agent_machines::segment::{self, Answer, Machine, Now, Output, Request, Rules, View, Write};

/// Starts the thread of a segment, which runs until the returned sender is dropped.
pub fn start(config: &Config, tag: usize, place: usize, events: Sender<Event>) -> anyhow::Result<Sender<()>> {
    let (tag, step) = &config.segments[tag];
    let store = store::open(&config.store)?;
    let (page, lock) = page(&config.dir.join(format!("{tag}.segment")))?;
    let rules = Rules { step: *step, max_step: config.max_step, create: config.create, ..Rules::new(tag) };
    let (keeper, stop) = channel();
    let mut keeping = Keeping { rules, store, page, stop, begin: Instant::now(), _lock: lock };
    thread::Builder::new().name(format!("tag-{tag}")).stack_size(512 << 10).spawn(move || {
        // The main thread may have ended already.
        let say = |event: &segment::Event| {
            let is_live = matches!(event, segment::Event::Serving { .. } | segment::Event::Resumed { .. });
            drop(events.send(Event::Said { place, text: event.to_string(), is_live }));
        };
        let ended = keeping.keep(say);
        drop(events.send(Event::Ended(place, ended)));
    })?;
    Ok(keeper)
}

/// The page, and the lock of its only writer.
fn page(path: &Path) -> Result<(SegmentPage, File), OwnError<SegmentError>> {
    own(path, |path| match SegmentPage::open_or_make(path) {
        Err(SegmentError::OtherBoot(_) | SegmentError::Copied(_)) => Ok(None),
        page => page.map(Some),
    })
}

struct Keeping {
    rules: Rules,
    store: Box<dyn Store>,
    page: SegmentPage,
    /// All senders are dropped when no more ranges are to be taken.
    stop: Receiver<()>,
    begin: Instant,
    _lock: File,
}

impl Keeping {
    fn keep(&mut self, say: impl Fn(&segment::Event)) -> Result<(), String> {
        let mut machine = Machine::new(self.rules.clone());
        let mut answer = None;
        loop {
            let Output { writes, events, request, wait_ms } = machine.step(self.now(), &self.view(), answer.take());
            for write in writes {
                self.write(write);
            }
            for event in events {
                if event == segment::Event::NoTag && self.view().granted == 0 {
                    return Err(self.no_tag());
                }
                say(&event);
            }
            match request {
                Some(request) => answer = Some(self.ask(&request)),
                None => match self.stop.recv_timeout(Duration::from_millis(wait_ms)) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return Ok(()),
                },
            }
        }
    }

    fn no_tag(&self) -> String {
        let Rules { tag, step, .. } = &self.rules;
        let how = self.store.how_to_create(tag, step.unwrap_or(segment::STEP));
        format!("the store has no such tag; make it with --create, or: {how}")
    }

    fn ask(&mut self, request: &Request) -> Answer {
        let tag = &self.rules.tag;
        match request {
            Request::Take { count, seen } => match self.store.take(tag, *count, *seen) {
                Ok(taken) => Answer::Taken(taken),
                Err(error) => Answer::Failed(error),
            },
            Request::Create { step } => match self.store.create_tag(tag, *step) {
                Ok(()) => Answer::Created,
                Err(error) => Answer::Failed(error),
            },
        }
    }

    fn write(&self, write: Write) {
        let page = &self.page;
        match write {
            Write::See(number) => page.see(number),
            Write::Step(step, fetched_ms) => page.set_step(step, fetched_ms),
            Write::Publish(range) => page.publish(range),
            Write::Rate(milli) => page.set_rate(milli),
            Write::Contact(ms) => page.set_contact(ms),
            Write::Failure => page.count_failure(),
            Write::Say(news) => page.say(news),
        }
    }

    fn view(&self) -> View {
        let stats = self.page.segment().stats();
        View {
            left: stats.left,
            next: stats.next,
            wants: self.page.wants(),
            granted: stats.granted,
            seen: self.page.seen(),
            fetches: stats.fetches,
            step: stats.step,
            fetched_ms: self.page.fetched_ms(),
        }
    }

    fn now(&self) -> Now {
        Now { ms: txid::system_ms(), monotonic_ms: self.begin.elapsed().as_millis() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::Barrier;
    use txid::segment::Segment;

    /// Each removes the file and makes a new one.
    #[test]
    fn of_several_that_find_a_copy_one_owns_the_page_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("a.segment"), directory.path().join("b.segment"));
        drop(page(&other).unwrap());
        for round in 0..200 {
            fs::copy(&other, &path).unwrap();
            let start = Barrier::new(4);
            let owners: Vec<_> = thread::scope(|scope| {
                let own = || {
                    start.wait();
                    page(&path)
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(own)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let owned: Vec<_> = owners.iter().flatten().collect();
            let refused = owners.iter().filter(|owner| matches!(owner, Err(OwnError::InUse(_)))).count();
            assert_eq!((owned.len(), refused), (1, 3), "round {round}: {owners:?}");
            owned[0].0.publish(1..5);
            assert_eq!(Segment::attach(&path).unwrap().stats().next, 4, "round {round}");
            fs::remove_file(&path).unwrap();
        }
    }
}
