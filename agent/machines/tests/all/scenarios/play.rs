//! The steps of a scenario.
//!
//! | step | |
//! |---|---|
//! | `rule NAME=VALUE` | before the start: `ahead=2s`, `max-skew=2s`, `new=yes`, `numbering=leaf_forever`, `may-lose-writes=yes` |
//! | `start` | the agent starts, with the page as it was left; at first, that is empty |
//! | `answer` | the store does what it is asked, and answers |
//! | `run` | the same until the machine waits |
//! | `lose`, `drop` | a time-out; the store has done it, or not |
//! | `conflict` | the store refuses the write, whatever it has |
//! | `fail KIND` | an error: `unreachable`, `refused`, `damaged` |
//! | `wait` | time passes until the machine wants to go on |
//! | `pass TIME` | time passes while a request is under way, or although the machine wanted to go on |
//! | `pause TIME` | the process will be stopped for so long after its next write to the page |
//! | `go` | the machine is called, without an answer |
//! | `clock +TIME` | the host's clock is stepped, so that it is this far off |
//! | `random N` | from now on, the machine gets this random number |
//! | `slow TIME` | from now on, each answer takes so long |
//! | `store-clock none` | from now on, the store shows no clock |
//! | `set KEY RECORD`, `remove KEY`, `empty` | somebody else does this in the store |
//! | `number N` | the number of the next new node |
//! | `stop` | the agent is to end |

use super::store::{Store, failed, shown_reply, shown_request};
use super::text::{START_MS, duration, record, shown, time};
use txid::snowflake::{Layout, Order};
use txid_agent_machines::lease::{Answer, Input, Lease, Output, PageView, Reply, Request, Rules, Write};
use txid_agent_machines::protocol::Now;
use txid_agent_machines::store::{Numbering, Put, StoreError, StoreTime};

/// No scenario has so many bytes of outputs. A machine that never waits is cut off, so that the first difference is shown.
const ENDLESS: usize = 1 << 16;

/// One host, its page, and a store.
pub struct Play {
    rules: Rules,
    page: PageView,
    lease: Option<Lease>,
    store: Store,
    /// What the machine waits for.
    pending: Option<Output>,
    now_ms: u64,
    clock_ms: i64,
    store_has_clock: bool,
    /// How long each answer takes.
    took_ms: i64,
    random: u128,
    pause_ms: u64,
    /// What happened since the last `----`.
    pub output: String,
}

impl Play {
    pub fn new() -> Self {
        let layout = Layout::new([41, 2, 12], 1, 1_288_834_974_657, Order::NodeThenSequence).unwrap();
        let page = PageView {
            node: 0,
            generation: 0,
            token: 0,
            limit_ms: i64::MIN,
            noted_ms: i64::MIN,
            free_ms: START_MS - 3_600_000,
            is_closed: true,
        };
        Self {
            rules: Rules::new("orders", "web-1", &layout, false),
            page,
            lease: None,
            store: Store::default(),
            pending: None,
            now_ms: 0,
            clock_ms: 0,
            store_has_clock: true,
            took_ms: 0,
            random: 7,
            pause_ms: 0,
            output: String::new(),
        }
    }

    /// None if this is not a step, or not one that is possible now.
    pub fn step(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["rule", rule] => return self.rule(rule),
            ["start"] => {
                self.lease = Some(Lease::new(&self.page));
                self.pending = None;
                self.call(Input::Go);
            }
            ["answer"] => {
                let reply = self.store.answer(&self.asked()?);
                self.answer(reply);
            }
            ["run"] => {
                while let Some(request) = self.asked().filter(|_| self.output.len() < ENDLESS) {
                    let reply = self.store.answer(&request);
                    self.answer(reply);
                }
            }
            ["lose"] => {
                let request = self.asked()?;
                self.store.answer(&request);
                self.time_out(&request);
            }
            ["drop"] => {
                let request = self.asked()?;
                self.time_out(&request);
            }
            ["conflict"] => self.answer(Reply::Put(Ok(Put::Conflict))),
            ["fail", kind] => {
                let (store, why) = ("the store".to_owned(), "out of order".to_owned());
                let error = match kind {
                    "unreachable" => StoreError::Unreachable { store, why },
                    "refused" => StoreError::Refused { store, why },
                    "damaged" => StoreError::Damaged { store, why },
                    _ => return None,
                };
                let reply = failed(&self.asked()?, error);
                self.answer(reply);
            }
            ["wait"] => {
                let Some(Output::Wait { until_ms }) = self.pending else { return None };
                self.now_ms = until_ms;
                self.call(Input::Go);
            }
            ["pass", ms] => {
                self.now_ms += duration(ms)?;
                self.line(&format!("# it is {}", shown(START_MS + self.now_ms as i64)));
            }
            ["pause", ms] => self.pause_ms = duration(ms)?,
            ["go"] => self.call(Input::Go),
            ["clock", by] => self.clock_ms = time(by)? - START_MS,
            ["random", number] => self.random = number.parse().ok()?,
            ["slow", took] => self.took_ms = duration(took)? as i64,
            ["store-clock", "none"] => self.store_has_clock = false,
            ["set", key, ref fields @ ..] => {
                let bytes = record(fields, &self.rules.layout)?.into_bytes();
                self.store.records.insert(key.to_owned(), bytes);
            }
            ["remove", key] => drop(self.store.records.remove(key)?),
            ["empty"] => self.store.records.clear(),
            ["number", node] => self.store.number = Some(node.parse().ok()?),
            ["stop"] => self.call(Input::Stop),
            _ => return None,
        }
        Some(())
    }

    fn rule(&mut self, rule: &str) -> Option<()> {
        let (name, value) = rule.split_once('=')?;
        match name {
            "ahead" => self.rules.ahead_ms = duration(value)?,
            "max-skew" => self.rules.max_skew_ms = duration(value)?,
            "new" => self.rules.new = value == "yes",
            "may-lose-writes" => self.rules.learn(value == "yes"),
            "numbering" => self.rules.numbering = Numbering::parse(value).ok()?.0,
            _ => return None,
        }
        Some(())
    }

    fn asked(&self) -> Option<Request> {
        match &self.pending {
            Some(Output::Ask(request)) => Some(request.clone()),
            _ => None,
        }
    }

    fn time_out(&mut self, request: &Request) {
        let error = StoreError::TimedOut { store: "the store".to_owned(), ms: 3000 };
        let reply = match request {
            Request::Put { .. } => Reply::Put(Ok(Put::Unknown(error))),
            Request::Read(_) | Request::List(_) | Request::Number => failed(request, error),
        };
        self.answer(reply);
    }

    fn answer(&mut self, reply: Reply) {
        self.line(&format!("  {}", shown_reply(&reply)));
        let is_answer = !matches!(
            reply,
            Reply::Read(Err(_))
                | Reply::List(Err(_))
                | Reply::Put(Err(_) | Ok(Put::Unknown(_)))
                | Reply::Number(Err(_))
        );
        let now_ms = START_MS + self.now_ms as i64;
        let time = StoreTime { earliest_ms: now_ms - self.took_ms, latest_ms: now_ms };
        let time = (is_answer && self.store_has_clock).then_some(time);
        self.call(Input::Answer(Answer { reply, time }));
    }

    /// Calls the machine until it asks for something, waits or ends.
    fn call(&mut self, mut input: Input) {
        let Some(mut lease) = self.lease.take() else { return };
        loop {
            let wall_ms = START_MS + self.now_ms as i64 + self.clock_ms;
            let now = Now { wall_ms, mono_ms: self.now_ms, random: self.random };
            let output = lease.step(&self.rules, &now, &self.page, input);
            input = Input::Go;
            let line = match &output {
                Output::Ask(request) => shown_request(request),
                Output::Write(write) => format!("page: {}", self.write(*write, wall_ms)),
                Output::Log(event) => format!("log: {event}"),
                Output::Wait { until_ms } => format!("wait until {}", shown(START_MS + *until_ms as i64)),
                Output::Stopped => "stopped".to_owned(),
                Output::Fail(failure) => format!("failed: {failure}"),
            };
            self.line(&line);
            if let Output::Write(_) = output {
                self.now_ms += std::mem::take(&mut self.pause_ms);
            }
            if !matches!(output, Output::Write(_) | Output::Log(_)) || self.output.len() > ENDLESS {
                self.pending = Some(output);
                break;
            }
        }
        self.lease = Some(lease);
    }

    fn write(&mut self, write: Write, wall_ms: i64) -> String {
        let page = &mut self.page;
        match write {
            Write::Close => {
                // The workers have used the time up to now.
                page.free_ms = if page.is_closed { page.free_ms } else { page.free_ms.max(wall_ms + 1) };
                page.is_closed = true;
                format!("closed, free from {}", shown(page.free_ms))
            }
            Write::Open { node, start_ms } => {
                (page.node, page.free_ms, page.is_closed) = (node, start_ms, false);
                format!("node {node} from {}", shown(start_ms))
            }
            Write::Generation { generation, token } => {
                (page.generation, page.token, page.limit_ms) = (generation, token, i64::MIN);
                format!("generation {generation}, token {token}")
            }
            Write::Note { limit_ms } => {
                page.noted_ms = limit_ms;
                format!("about to write the limit {}", shown(limit_ms))
            }
            Write::Limit { node, limit_ms } => {
                page.limit_ms = limit_ms;
                format!("node {node} until {}", shown(limit_ms))
            }
        }
    }

    fn line(&mut self, text: &str) {
        self.output += text;
        self.output += "\n";
    }
}
