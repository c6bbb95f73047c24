//! The store, and the ways in which a request to it can go wrong.

use crate::random::Random;
use std::collections::BTreeMap;
use txid_agent_machines::lease::{NodeRecord, Reply, Request};
use txid_agent_machines::store::{self, Expected, Numbered, Put, Record, StoreError};

/// A node has 10 bits.
pub const LAST_NODE: u64 = 1023;
const TIMEOUT_MS: u64 = 3000;

/// Records in memory, each with a version that is never used again.
#[derive(Default)]
pub struct Memory {
    records: BTreeMap<String, Record>,
    written: u64,
    /// The nodes given so far. Emptying the records does not change this count, which is in another system's table.
    given: u64,
}

/// The version of the records that an agent writes.
#[derive(Clone, Copy, PartialEq)]
pub enum Version {
    This,
    /// It reads those of this one, too.
    Next,
    /// A mistake: an agent that takes back a node with its own name, though it may be of another host that has the same name.
    ThisAndRash,
    /// A mistake: an agent of this version that takes what it cannot read for a node that was given back long ago.
    ThisAndNaive,
}

impl Version {
    const TEXTS: [&'static str; 2] = ["txid-lease 1 ", "txid-lease 2 "];

    /// How a record of this version's is in the store.
    fn written(self, bytes: &[u8]) -> Vec<u8> {
        let text = std::str::from_utf8(bytes).unwrap();
        match self {
            Self::Next => text.replacen(Self::TEXTS[0], Self::TEXTS[1], 1).into_bytes(),
            Self::This | Self::ThisAndRash | Self::ThisAndNaive => bytes.to_vec(),
        }
    }

    /// What an agent makes of it.
    fn read(self, record: &Record) -> Record {
        let text = std::str::from_utf8(&record.bytes).unwrap();
        let bytes = match self {
            Self::Next => text.replacen(Self::TEXTS[1], Self::TEXTS[0], 1),
            Self::ThisAndNaive if text.starts_with(Self::TEXTS[1]) => {
                let owner = "unknown".to_owned();
                NodeRecord { generation: 1, limit_ms: 0, token: 0, held: false, owner }.to_string()
            }
            Self::This | Self::ThisAndRash | Self::ThisAndNaive => text.to_owned(),
        };
        Record { bytes: bytes.into_bytes(), version: record.version.clone() }
    }
}

impl Memory {
    pub fn answer(&mut self, request: &Request, agent: Version) -> Reply {
        match request {
            Request::Read(key) => Reply::Read(Ok(self.records.get(key).map(|record| agent.read(record)))),
            Request::List(survey) => {
                let mut survey = survey.clone();
                for (key, record) in &self.records {
                    let mut record = agent.read(record);
                    if agent == Version::ThisAndRash {
                        let text = std::str::from_utf8(&record.bytes).unwrap();
                        record.bytes = text.replacen(" held ", " released ", 1).into_bytes();
                    }
                    survey.see(key, record);
                }
                Reply::List(Ok(survey))
            }
            Request::Put { key, expected, bytes } => {
                let there = self.records.get(key).map_or(Expected::Absent, |it| Expected::Version(it.version.clone()));
                if there != *expected {
                    return Reply::Put(Ok(Put::Conflict));
                }
                self.written += 1;
                let version = store::Version(self.written.to_be_bytes().to_vec());
                self.records.insert(key.clone(), Record { bytes: agent.written(bytes), version: version.clone() });
                Reply::Put(Ok(Put::Written(version)))
            }
            Request::Number => Reply::Number(Ok(self.number().map_or(Numbered::UsedUp, Numbered::Node))),
        }
    }

    /// The number of a new node, which nobody has had.
    pub fn number(&mut self) -> Option<u64> {
        self.given += 1;
        (self.given <= LAST_NODE).then_some(self.given)
    }

    pub fn empty(&mut self) {
        self.records.clear();
    }
}

/// The fate of a request.
pub struct Course {
    /// When it reaches the store, if ever, in milliseconds from now.
    pub arrives_ms: Option<u64>,
    /// When the agent has an answer.
    pub answered_ms: u64,
    /// The answer, if it is not the store's.
    pub instead: Option<Reply>,
}

/// How likely accidents are, in a million.
#[derive(Clone, Copy)]
pub struct Weather {
    pub lost_requests: u64,
    pub lost_answers: u64,
    pub late_requests: u64,
    /// Answers that come just before the time-out.
    pub slow_answers: u64,
}

pub fn course(random: &mut Random, weather: Weather, is_cut_off: bool, request: &Request) -> Course {
    let timed_out = || {
        let error = StoreError::TimedOut { store: "memory".to_string(), ms: TIMEOUT_MS };
        match request {
            Request::Read(_) => Reply::Read(Err(error)),
            Request::List(_) => Reply::List(Err(error)),
            Request::Put { .. } => Reply::Put(Ok(Put::Unknown(error))),
            Request::Number => Reply::Number(Err(error)),
        }
    };
    let fails = |arrives_ms| Course { arrives_ms, answered_ms: TIMEOUT_MS, instead: Some(timed_out()) };
    if is_cut_off {
        if random.chance(500_000) {
            return fails(None);
        }
        let error = StoreError::Unreachable { store: "memory".to_string(), why: "connection refused".to_string() };
        let reply = match request {
            Request::Read(_) => Reply::Read(Err(error)),
            Request::List(_) => Reply::List(Err(error)),
            Request::Put { .. } => Reply::Put(Err(error)),
            Request::Number => Reply::Number(Err(error)),
        };
        return Course { arrives_ms: None, answered_ms: 1, instead: Some(reply) };
    }
    let there_ms = 1 + random.below(20);
    if random.chance(weather.lost_requests) {
        fails(None)
    } else if random.chance(weather.lost_answers) {
        fails(Some(there_ms))
    } else if random.chance(weather.late_requests) {
        fails(Some(TIMEOUT_MS + random.below(120_000)))
    } else {
        let back_ms = if random.chance(weather.slow_answers) { 2_300 } else { 1 + random.below(20) };
        Course { arrives_ms: Some(there_ms), answered_ms: there_ms + back_ms, instead: None }
    }
}
