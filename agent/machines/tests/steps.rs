//! Single steps of the state machine: its output for each input.

use std::collections::VecDeque;
use txid::snowflake::Layout;
use txid_agent_machines::lease::{Answer, Event, Group, Input, Lease, Output, PageView, Reply, Request, Rules, Write};
use txid_agent_machines::protocol::{Machine, Now};
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Version};

/// 2026-11-21.
const START_MS: i64 = 1_795_000_000_000;

/// A host with a correct clock, and a store that replies as the test wants.
struct Host {
    rules: Rules,
    lease: Lease,
    page: PageView,
    now_ms: u64,
    /// The outputs since the test last cleared them.
    outputs: VecDeque<Output>,
}

impl Host {
    fn new() -> Self {
        let page = PageView {
            node: 0,
            generation: 0,
            token: 0,
            limit_ms: i64::MIN,
            noted_ms: i64::MIN,
            free_ms: 0,
            is_closed: true,
        };
        let rules = Rules::new("orders", "web-1", &Layout::SNOWFLAKE, false);
        Self { rules, lease: Lease::new(&page), page, now_ms: 0, outputs: VecDeque::new() }
    }

    fn wall_ms(&self) -> i64 {
        START_MS + self.now_ms as i64
    }

    /// Continues until the machine asks the store or waits.
    fn step(&mut self, mut input: Input) -> Output {
        loop {
            let now = Now { wall_ms: self.wall_ms(), mono_ms: self.now_ms, random: 7 };
            let output = self.lease.step(&self.rules, &now, &self.page, input);
            input = match output {
                Output::Ask(_) | Output::Wait { .. } | Output::Stopped | Output::Fail(_) => return output,
                Output::Write(Write::Close) => {
                    (self.page.is_closed, self.page.free_ms) = (true, self.wall_ms() + 1);
                    Input::Go
                }
                Output::Write(Write::Open { .. }) => {
                    self.page.is_closed = false;
                    Input::Go
                }
                _ => Input::Go,
            };
            self.outputs.push_back(output);
        }
    }

    fn replies(&mut self, reply: Reply) -> Output {
        self.step(Input::Answer(Answer { reply, store_ms: Some(self.wall_ms()) }))
    }

    fn read(&mut self, bytes: Option<&[u8]>) -> Output {
        self.replies(Reply::Read(Ok(bytes.map(record))))
    }

    fn written(&mut self) -> Output {
        self.replies(Reply::Put(Ok(Put::Written(Version(vec![1])))))
    }

    /// Lets time pass until the machine wants to do something.
    fn wait(&mut self, output: Output) -> Output {
        let Output::Wait { until_ms } = output else { panic!("{output:?}") };
        self.now_ms = until_ms;
        self.step(Input::Go)
    }

    /// A host that has taken a node, and its next output.
    fn leased() -> (Self, Output) {
        let mut host = Self::new();
        assert!(matches!(host.step(Input::Go), Output::Ask(Request::Read { .. })));
        let meta = group(0);
        assert!(matches!(host.read(Some(&meta)), Output::Ask(Request::List { .. })));
        assert!(matches!(host.replies(Reply::List(Ok(vec![]))), Output::Ask(Request::Put { .. })));
        assert!(matches!(host.written(), Output::Ask(Request::Read { .. })));
        let wait = host.read(Some(&meta));
        assert!(host.outputs.iter().any(|it| matches!(it, Output::Write(Write::Limit { .. }))), "{:?}", host.outputs);
        host.outputs.clear();
        (host, wait)
    }

    fn has_closed(&self) -> bool {
        self.outputs.contains(&Output::Write(Write::Close))
    }
}

fn record(bytes: &[u8]) -> Record {
    Record { version: Version(bytes.to_vec()), bytes: bytes.to_vec() }
}

fn group(floor_ms: i64) -> Vec<u8> {
    let layout = Layout::SNOWFLAKE.to_string();
    Group { floor_ms, made_ms: START_MS, id: 1, layout }.to_string().into_bytes()
}

#[test]
fn an_answer_that_takes_long_closes_nothing() {
    let (mut host, wait) = Host::leased();
    assert!(matches!(host.wait(wait), Output::Ask(Request::Put { .. })));
    host.now_ms += 30_000;
    host.written();
    assert!(!host.has_closed(), "{:?}", host.outputs);
}

#[test]
fn a_process_that_was_stopped_closes_and_asks() {
    let (mut host, wait) = Host::leased();
    let Output::Wait { until_ms } = wait else { panic!("{wait:?}") };
    host.now_ms = until_ms + 11_000;
    assert!(matches!(host.step(Input::Go), Output::Ask(Request::Read { .. })));
    assert!(host.has_closed());
}

/// The store is unreachable for this long when the lease should be extended, and empty afterwards.
fn forgotten(after_ms: u64) -> (Host, Output) {
    let (mut host, wait) = Host::leased();
    let Output::Wait { until_ms } = wait else { panic!("{wait:?}") };
    let error = || StoreError::TimedOut { store: "store".into(), ms: 3000 };
    host.now_ms = until_ms;
    host.step(Input::Go);
    // First, all requests time out.
    while host.now_ms < until_ms + after_ms {
        let output = host.replies(Reply::Put(Err(error())));
        host.wait(output);
    }
    let output = host.replies(Reply::Put(Ok(Put::Conflict)));
    assert!(matches!(output, Output::Ask(Request::Read { .. })), "{output:?}");
    let output = host.read(None);
    (host, output)
}

#[test]
fn a_record_that_nobody_else_can_have_taken_is_written_again() {
    let (host, output) = forgotten(0);
    assert!(matches!(output, Output::Ask(Request::Put { expected: Expected::Absent, .. })), "{output:?}");
    assert!(!host.has_closed());
}

#[test]
fn a_node_that_another_may_have_had_is_not_taken_back_from_an_empty_store() {
    for after_ms in [35_000, 700_000] {
        let (host, output) = forgotten(after_ms);
        assert!(matches!(&output, Output::Ask(Request::Read { key }) if key == "orders/meta"), "{output:?}");
        assert!(host.has_closed());
        let says = |it: &Output| matches!(it, Output::Log(Event::Forgotten { is_ours: false, .. }));
        assert!(host.outputs.iter().any(says), "{:?}", host.outputs);
    }
}

/// The first write has no floor, so that a write that arrives late cannot bring one that is too low.
#[test]
fn the_floor_of_a_group_is_set_once_the_store_has_the_group() {
    let mut host = Host::new();
    host.step(Input::Go);
    let Output::Ask(Request::Put { expected: Expected::Absent, bytes, .. }) = host.read(None) else { panic!() };
    assert_eq!(Group::parse(&bytes).unwrap().floor_ms, Group::UNSET);
    host.now_ms += 100_000;
    assert!(matches!(host.written(), Output::Ask(Request::Read { .. })));
    let Output::Ask(Request::Put { expected, bytes: with_floor, .. }) = host.read(Some(&bytes)) else { panic!() };
    assert_eq!(expected, Expected::Version(Version(bytes)));
    assert_eq!(Group::parse(&with_floor).unwrap().floor_ms, host.wall_ms() + 80_000);
}

/// It is reported, because systemd and people wait for the start.
#[test]
fn waiting_for_the_floor_is_reported_once() {
    let mut host = Host::new();
    host.step(Input::Go);
    let floor_ms = START_MS + 80_000;
    let says = |it: &Output| *it == Output::Log(Event::Floor { from_ms: floor_ms });
    let wait = host.read(Some(&group(floor_ms)));
    assert!(host.outputs.iter().any(says));
    host.outputs.clear();
    host.wait(wait);
    host.read(Some(&group(floor_ms)));
    assert!(host.outputs.is_empty(), "{:?}", host.outputs);
}

#[test]
fn a_store_that_had_the_group_is_not_new() {
    let (mut host, wait) = Host::leased();
    host.rules.new = true;
    host.wait(wait);
    host.replies(Reply::Put(Ok(Put::Conflict)));
    // Another host takes the node, and then the store is emptied.
    let other = b"txid-lease 1 generation=9 limit=0 token=00000000000000000000000000000001 held owner=web-2";
    assert!(matches!(host.read(Some(other)), Output::Ask(Request::Read { .. })));
    let Output::Ask(Request::Put { bytes, .. }) = host.read(None) else { panic!() };
    host.written();
    let Output::Ask(Request::Put { bytes, .. }) = host.read(Some(&bytes)) else { panic!() };
    assert!(Group::parse(&bytes).unwrap().floor_ms > START_MS);
}

#[test]
fn a_node_that_cannot_be_given_back_is_reported() {
    let (mut host, _) = Host::leased();
    let mut output = host.step(Input::Stop);
    let error = || StoreError::TimedOut { store: "store".into(), ms: 3000 };
    for _ in 0..10 {
        output = match output {
            Output::Ask(Request::Put { .. }) => host.replies(Reply::Put(Ok(Put::Unknown(error())))),
            Output::Ask(_) => host.replies(Reply::Read(Err(error()))),
            Output::Wait { .. } => host.wait(output),
            other => {
                assert_eq!(other, Output::Stopped);
                break;
            }
        };
    }
    let free_ms = START_MS + 60_000 + 600_000;
    let says = |it: &Output| matches!(it, Output::Log(Event::NotReleased { free_ms: at, .. }) if *at == free_ms);
    assert!(host.outputs.iter().any(says), "{:?}", host.outputs);
}

#[test]
fn without_permission_to_write_it_ends_at_the_start_and_retries_later() {
    let refused = || StoreError::Refused { store: "store".into(), why: "no permission".into() };
    let mut host = Host::new();
    host.step(Input::Go);
    host.read(None);
    let output = host.replies(Reply::Put(Err(refused())));
    assert!(matches!(output, Output::Fail(_)), "{output:?}");

    let (mut host, wait) = Host::leased();
    host.wait(wait);
    let output = host.replies(Reply::Put(Err(refused())));
    assert!(matches!(output, Output::Wait { .. }), "{output:?}");
}

/// Another system's counter never gives a number twice, so a number that is requested and not used is lost.
#[test]
fn a_number_that_was_given_is_used_after_the_store_failed() {
    let error = || StoreError::Unreachable { store: "store".into(), why: "gone".into() };
    let mut host = Host::new();
    host.rules.numbering = Numbering::LeafForever;
    let taking = |output: &Output, node: u64| match output {
        Output::Ask(Request::Put { key, expected: Expected::Absent, .. }) => *key == format!("orders/node/{node}"),
        _ => false,
    };
    // Continues until the machine asks for the list of nodes, and replies with these records.
    let lists = |host: &mut Host, mut output: Output, records: Vec<(String, Record)>| {
        loop {
            output = match output {
                Output::Ask(Request::List { .. }) => return host.replies(Reply::List(Ok(records))),
                Output::Ask(Request::Read { .. }) => host.read(Some(&group(0))),
                Output::Wait { .. } => host.wait(output),
                other => panic!("{other:?}"),
            }
        }
    };

    let output = host.step(Input::Go);
    assert!(matches!(lists(&mut host, output, vec![]), Output::Ask(Request::Number)));
    let mut output = host.replies(Reply::Number(Ok(Numbered::Node(12))));
    for _ in 0..3 {
        assert!(taking(&output, 12), "{output:?}");
        let wait = host.replies(Reply::Put(Err(error())));
        output = lists(&mut host, wait, vec![]);
    }

    // Unless somebody else has the node by now.
    assert!(taking(&output, 12), "{output:?}");
    let output = host.replies(Reply::Put(Ok(Put::Conflict)));
    let other =
        b"txid-lease 1 generation=1 limit=1795000060000 token=00000000000000000000000000000001 held owner=web-2";
    let output = lists(&mut host, output, vec![("orders/node/12".to_owned(), record(other))]);
    assert!(matches!(output, Output::Ask(Request::Number)), "{output:?}");
    let output = host.replies(Reply::Number(Ok(Numbered::Node(13))));
    assert!(taking(&output, 13), "{output:?}");
    host.written();

    // A node that was leased is not taken again.
    host.read(Some(&group(0)));
    assert!(
        host.outputs.iter().any(|it| matches!(it, Output::Write(Write::Open { node: 13, .. }))),
        "{:?}",
        host.outputs
    );
}
