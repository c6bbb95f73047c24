//! Tries every order of events on a small model: the agent's real state machine, a page, workers that may stop after
//! each access to it, lost answers, agents that are killed between any two writes, other hosts and another program.

#![allow(missing_docs)]

use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;

use txid_agent_machines::protocol::Now;
use txid_agent_machines::segment::{Answer, Input, Output, Request, Rules, Segment, View, Write};
use txid_agent_machines::store::{StoreError, Taken};

/// A deliberate mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// A worker moves `cur` before it checks whether it is at the end.
    FetchAndAdd,
    /// A worker raises `end` while `cur` is still at the end of the previous range.
    EndFirst,
    /// The agent grants the next range before it writes where that begins.
    NextEndFirst,
    /// A store with a replica confirms what the replica does not have yet.
    ConfirmedAlone,
}

/// The tag's own step.
const STEP: u64 = 2;
const NOW: Now = Now { wall_ms: 1, mono_ms: 1, random: 0 };

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Page {
    cur: u64,
    end: u64,
    next_start: u64,
    next_end: u64,
    seen: u64,
    fetches: u64,
    step: u64,
}

impl Page {
    fn view(&self) -> View {
        let wants = self.next_end <= self.end;
        let next = if wants { 0 } else { self.next_end.saturating_sub(self.next_start.max(self.cur)) };
        View {
            left: self.end.saturating_sub(self.cur),
            next,
            wants,
            granted: self.next_end.max(self.end),
            seen: self.seen,
            fetches: self.fetches,
            step: self.step,
            fetched_ms: 0,
        }
    }
}

/// What a worker is doing, and what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Worker {
    Start,
    Cur(u64),
    CurEnd(u64, u64),
    NextEnd(u64, u64, u64),
    NextStart(u64, u64, u64, u64),
    Moved(u64, u64),
}

/// One write to the page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Access {
    See(u64),
    Step(u64),
    NextStart(u64),
    NextEnd(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Host {
    page: Page,
    agent: Option<Segment>,
    writes: VecDeque<Access>,
    request: Option<Request>,
    answer: Option<Answer>,
    workers: Vec<Worker>,
    /// A bit for each number that the store has granted to this host.
    granted: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    number: u64,
    /// The replica's number, and whether it has taken its master's place, for the second host, while the first host still has
    /// the master.
    replica: u64,
    are_two: bool,
    hosts: Vec<Host>,
    taken: u64,
    kills: u8,
    losses: u8,
    others: u8,
    restores: u8,
    splits: u8,
}

/// The size of the model.
struct Size {
    hosts: usize,
    workers: usize,
    kills: u8,
    losses: u8,
    others: u8,
    restores: u8,
    /// How often a replica takes its master's place.
    splits: u8,
    /// The first number that the store cannot grant.
    limit: u64,
}

fn bits(range: std::ops::Range<u64>) -> u64 {
    range.fold(0, |bits, number| bits | 1 << number)
}

fn away() -> StoreError {
    StoreError::TimedOut { store: String::new(), ms: 0 }
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules { max_step: STEP, retry_ms: (0, 0), ..Rules::new("a") });

impl World {
    fn new(size: &Size) -> Self {
        let host = Host {
            page: Page::default(),
            agent: Some(Segment::default()),
            writes: VecDeque::new(),
            request: None,
            answer: None,
            workers: vec![Worker::Start; size.workers],
            granted: 0,
        };
        Self {
            number: 1,
            replica: 1,
            are_two: false,
            hosts: vec![host; size.hosts],
            taken: 0,
            kills: size.kills,
            losses: size.losses,
            others: size.others,
            restores: size.restores,
            splits: size.splits,
        }
    }

    /// What the store does with a request.
    fn serve(&mut self, host: usize, request: &Request, limit: u64, mistake: Mistake) -> Answer {
        let Request::Take { count, seen } = request else { panic!("{request:?}") };
        let count = count.unwrap_or(STEP);
        let number = if self.are_two && host > 0 { &mut self.replica } else { &mut self.number };
        if *number < *seen {
            return Answer::Taken(Taken::WentDown { number: *number });
        }
        if *number + count > limit {
            return Answer::Taken(Taken::Ended);
        }
        let range = *number..*number + count;
        *number = range.end;
        if mistake != Mistake::ConfirmedAlone {
            // The other one has it, or nobody uses it.
            if self.are_two {
                return Answer::Failed(away());
            }
            self.replica = self.number;
        }
        self.hosts[host].granted |= bits(range.clone());
        Answer::Taken(Taken::Range { range, step: STEP })
    }

    /// A worker takes a number. It must be new, and must have been granted to this host.
    fn take(&mut self, host: usize, number: u64) -> Result<(), String> {
        let bit = 1 << number;
        if self.taken & bit != 0 {
            return Err(format!("{number} is taken twice"));
        }
        if self.hosts[host].granted & bit == 0 {
            return Err(format!("{number} is another host's"));
        }
        self.taken |= bit;
        Ok(())
    }

    /// All worlds that can come next.
    fn next(&self, size: &Size, mistake: Mistake) -> Result<Vec<World>, String> {
        let mut next = Vec::new();
        for host in 0..self.hosts.len() {
            self.agent_steps(host, size, mistake, &mut next);
            for worker in 0..size.workers {
                self.worker_steps(host, worker, mistake, &mut next)?;
            }
        }
        if self.others > 0 && self.number < size.limit {
            let mut world = self.clone();
            world.others -= 1;
            world.number += 1;
            next.push(world);
        }
        if self.restores > 0 && self.number > 1 {
            let mut world = self.clone();
            world.restores -= 1;
            (world.number, world.replica) = (1, 1);
            next.push(world);
        }
        if self.replica != self.number && !self.are_two {
            next.push(World { replica: self.number, ..self.clone() });
        }
        if self.splits > 0 {
            next.push(World { splits: self.splits - 1, are_two: true, ..self.clone() });
        }
        Ok(next)
    }

    fn agent_steps(&self, host: usize, size: &Size, mistake: Mistake, next: &mut Vec<World>) {
        let it = &self.hosts[host];
        let Some(agent) = &it.agent else {
            let mut world = self.clone();
            world.hosts[host].agent = Some(Segment::default());
            return next.push(world);
        };
        if self.kills > 0 {
            let mut world = self.clone();
            world.kills -= 1;
            let dead = &mut world.hosts[host];
            (dead.agent, dead.answer) = (None, None);
            dead.writes.clear();
            if let Some(request) = dead.request.take() {
                // The store may have received it.
                let mut served = world.clone();
                served.serve(host, &request, size.limit, mistake);
                next.push(served);
            }
            next.push(world);
        }
        if let Some(write) = it.writes.front() {
            let mut world = self.clone();
            let page = &mut world.hosts[host].page;
            match *write {
                Access::See(number) => page.seen = page.seen.max(number),
                Access::Step(step) => page.step = step,
                Access::NextStart(number) => page.next_start = number,
                Access::NextEnd(number) => {
                    page.next_end = number;
                    page.fetches = (page.fetches + 1).min(2);
                }
            }
            world.hosts[host].writes.pop_front();
            return next.push(world);
        }
        if let Some(request) = &it.request {
            let mut world = self.clone();
            world.hosts[host].request = None;
            let mut served = world.clone();
            served.hosts[host].answer = Some(served.serve(host, request, size.limit, mistake));
            if self.losses > 0 {
                let mut lost = served.clone();
                lost.losses -= 1;
                lost.hosts[host].answer = Some(Answer::Failed(away()));
                next.push(lost);
                world.losses -= 1;
                world.hosts[host].answer = Some(Answer::Failed(away()));
                next.push(world);
            }
            return next.push(served);
        }
        let mut world = self.clone();
        let mut agent = agent.clone();
        let after = &mut world.hosts[host];
        let view = it.page.view();
        let mut input = after.answer.take().map_or(Input::Go, Input::Answer);
        // One step decides all writes. The agent may be killed between any two of these writes.
        loop {
            match agent.step(&RULES, &NOW, &view, input) {
                Output::Write(Write::See(number)) => after.writes.push_back(Access::See(number)),
                Output::Write(Write::Step(step, _)) => after.writes.push_back(Access::Step(step)),
                Output::Write(Write::Publish(range)) if mistake == Mistake::NextEndFirst => {
                    after.writes.extend([Access::NextEnd(range.end), Access::NextStart(range.start)]);
                }
                Output::Write(Write::Publish(range)) => {
                    after.writes.extend([Access::NextStart(range.start), Access::NextEnd(range.end)]);
                }
                Output::Write(Write::Rate(_) | Write::Contact(_) | Write::Failure | Write::News(_))
                | Output::Log(_) => {}
                Output::Ask(request) => {
                    after.request = Some(request);
                    break;
                }
                Output::Wait { .. } => break,
                Output::Stopped | Output::Fail(_) => unreachable!("nobody stops it, and there is a tag"),
            }
            input = Input::Go;
        }
        after.agent = Some(agent);
        next.push(world);
    }

    fn worker_steps(&self, host: usize, worker: usize, mistake: Mistake, next: &mut Vec<World>) -> Result<(), String> {
        let mut world = self.clone();
        let page = &mut world.hosts[host].page;
        let mut number = None;
        let after = match self.hosts[host].workers[worker] {
            Worker::Start if mistake == Mistake::FetchAndAdd => {
                page.cur += 1;
                Worker::Cur(page.cur - 1)
            }
            Worker::Start => Worker::Cur(page.cur),
            Worker::Cur(cur) if mistake == Mistake::FetchAndAdd && cur < page.end => {
                number = Some(cur);
                Worker::Start
            }
            Worker::Cur(_) if mistake == Mistake::FetchAndAdd => {
                if page.next_end > page.end {
                    Worker::CurEnd(page.cur, page.end)
                } else {
                    Worker::Start
                }
            }
            Worker::Cur(cur) => Worker::CurEnd(cur, page.end),
            Worker::CurEnd(cur, end) if cur < end => {
                if mistake != Mistake::FetchAndAdd && page.cur == cur {
                    page.cur += 1;
                    number = Some(cur);
                }
                Worker::Start
            }
            Worker::CurEnd(_, end) if page.next_end <= end => Worker::Start,
            Worker::CurEnd(cur, end) => Worker::NextEnd(cur, end, page.next_end),
            Worker::NextEnd(cur, end, next_end) => Worker::NextStart(cur, end, next_end, page.next_start.max(cur)),
            Worker::NextStart(cur, end, next_end, start) if mistake == Mistake::EndFirst => {
                if page.end == end {
                    page.end = next_end;
                }
                // The step `Moved` is still to come.
                Worker::Moved(cur, start)
            }
            Worker::NextStart(cur, end, next_end, start) => {
                if page.cur == cur {
                    page.cur = start;
                    Worker::Moved(end, next_end)
                } else {
                    Worker::Start
                }
            }
            Worker::Moved(cur, start) if mistake == Mistake::EndFirst => {
                if page.cur == cur {
                    page.cur = start;
                }
                Worker::Start
            }
            Worker::Moved(end, next_end) => {
                if page.end == end {
                    page.end = next_end;
                }
                Worker::Start
            }
        };
        world.hosts[host].workers[worker] = after;
        if let Some(number) = number {
            world.take(host, number)?;
        }
        next.push(world);
        Ok(())
    }
}

/// Searches all worlds. Returns their number, and all numbers that were taken in some of them.
fn search(size: &Size, mistake: Mistake) -> Result<(usize, u64), String> {
    let first = World::new(size);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut taken = 0;
    while let Some(world) = open.pop() {
        taken |= world.taken;
        for next in world.next(size, mistake)? {
            // A mistake could move `cur` without end.
            let in_bounds = next.hosts.iter().all(|host| host.page.cur < 16);
            if in_bounds && !seen.contains(&next) {
                seen.insert(next.clone());
                open.push(next);
            }
        }
    }
    Ok((seen.len(), taken))
}

const ONE_HOST: Size = Size { hosts: 1, workers: 2, kills: 1, losses: 0, others: 1, restores: 0, splits: 0, limit: 6 };

#[test]
fn workers_of_one_host_take_no_number_twice() {
    let (worlds, taken) = search(&ONE_HOST, Mistake::None).unwrap();
    println!("{worlds} worlds");
    assert_eq!(taken, bits(1..6), "each number is taken in some of them");
}

#[test]
fn two_hosts_take_no_number_twice() {
    let size = Size { hosts: 2, workers: 1, kills: 0, losses: 1, others: 0, restores: 0, splits: 0, limit: 5 };
    let (worlds, taken) = search(&size, Mistake::None).unwrap();
    println!("{worlds} worlds");
    assert_eq!(taken, bits(1..5));
}

const TWO_MASTERS: Size =
    Size { hosts: 2, workers: 1, kills: 0, losses: 0, others: 0, restores: 0, splits: 1, limit: 5 };

/// Each write waits for the replica.
#[test]
fn a_replica_that_takes_its_masters_place_gives_no_number_twice() {
    let (worlds, taken) = search(&TWO_MASTERS, Mistake::None).unwrap();
    println!("{worlds} worlds");
    assert_eq!(taken, bits(1..5));
}

#[test]
fn a_store_that_went_down_is_not_followed() {
    let size = Size { others: 0, restores: 1, ..ONE_HOST };
    let (worlds, _) = search(&size, Mistake::None).unwrap();
    println!("{worlds} worlds");
}

#[test]
fn each_mistake_is_found() {
    for mistake in [Mistake::FetchAndAdd, Mistake::EndFirst, Mistake::NextEndFirst] {
        let found = search(&Size { kills: 0, ..ONE_HOST }, mistake).unwrap_err();
        println!("{found}");
    }
    println!("{}", search(&TWO_MASTERS, Mistake::ConfirmedAlone).unwrap_err());
}
