//! The store of a scenario, which compares the bytes of a record.

use super::text::shown_record;
use std::collections::BTreeMap;
use txid_agent_machines::lease::{Reply, Request};
use txid_agent_machines::store::{Expected, Numbered, Put, Record, StoreError};

#[derive(Default)]
pub struct Store {
    pub records: BTreeMap<String, Vec<u8>>,
    /// The number of the next new node.
    pub number: Option<u64>,
}

impl Store {
    pub fn answer(&mut self, request: &Request) -> Reply {
        let record = |bytes: &Vec<u8>| Record::compared_by_bytes(bytes.clone());
        match request {
            Request::Read(key) => Reply::Read(Ok(self.records.get(key).map(record))),
            Request::List(survey) => {
                let mut survey = survey.clone();
                self.records.iter().for_each(|(key, bytes)| survey.see(key, record(bytes)));
                Reply::List(Ok(survey))
            }
            Request::Put { key, expected, bytes } => {
                let there = self.records.get(key).map_or(Expected::Absent, |it| Expected::Version(record(it).version));
                if there != *expected {
                    return Reply::Put(Ok(Put::Conflict));
                }
                self.records.insert(key.clone(), bytes.clone());
                Reply::Put(Ok(Put::Written(record(bytes).version)))
            }
            Request::Number => Reply::Number(Ok(self.number.take().map_or(Numbered::UsedUp, Numbered::Node))),
        }
    }
}

/// The reply to a request that failed.
pub fn failed(request: &Request, error: StoreError) -> Reply {
    match request {
        Request::Read(_) => Reply::Read(Err(error)),
        Request::List(_) => Reply::List(Err(error)),
        Request::Put { .. } => Reply::Put(Err(error)),
        Request::Number => Reply::Number(Err(error)),
    }
}

pub fn shown_request(request: &Request) -> String {
    match request {
        Request::Read(key) => format!("read {key}"),
        Request::List(survey) => format!("list {}", survey.prefix()),
        Request::Put { key, expected, bytes } => {
            let expected = match expected {
                Expected::Absent => "nothing".to_owned(),
                Expected::Version(version) => shown_record(&version.0),
            };
            format!("put {key} {}, in place of {expected}", shown_record(bytes))
        }
        Request::Number => "number".to_owned(),
    }
}

pub fn shown_reply(reply: &Reply) -> String {
    match reply {
        Reply::Read(Ok(None)) => "nothing".to_owned(),
        Reply::Read(Ok(Some(record))) => shown_record(&record.bytes),
        Reply::List(Ok(survey)) => match survey.count() {
            1 => "1 record".to_owned(),
            count => format!("{count} records"),
        },
        Reply::Put(Ok(Put::Written(_))) => "written".to_owned(),
        Reply::Put(Ok(Put::Conflict)) => "conflict".to_owned(),
        Reply::Put(Ok(Put::Unknown(error))) => format!("unknown: {error}"),
        Reply::Number(Ok(Numbered::Node(node))) => node.to_string(),
        Reply::Number(Ok(Numbered::UsedUp)) => "used up".to_owned(),
        Reply::Read(Err(error)) | Reply::List(Err(error)) | Reply::Put(Err(error)) | Reply::Number(Err(error)) => {
            error.to_string()
        }
    }
}
