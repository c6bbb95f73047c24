//! Consul's key-value store, through `/v1/txn` with the verb `cas` and `/v1/kv`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

use super::address::Address;
use super::contract::Store;
use super::durability::Durability;
use super::failure::Failure;
use super::http::{Answer, Http, Kind};
use super::limits::{AtMost, record};
use super::url::{Secret, StoreUrl};

const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

pub(super) struct ConsulStore {
    address: Address,
    http: Http,
    prefix: String,
    token: Option<Secret>,
    datacenter: Option<String>,
    durability: Durability,
}

impl ConsulStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["dc"])?;
        if url.user.is_some() {
            return Err(url.address.misconfigured(
                "Consul has tokens, and no users: give the token as TXID_STORE_PASSWORD or ?password-file=FILE",
            ));
        }
        let mut durability = url.durability()?;
        // A majority of the servers has written it to disk.
        durability.learn(Durability::Kept);
        Ok(Self {
            http: Http::new(&url),
            durability,
            prefix: format!("{}/", if url.path.is_empty() { "txid" } else { &url.path }),
            datacenter: url.option("dc").map(str::to_owned),
            token: url.password,
            address: url.address,
        })
    }

    fn call(&mut self, kind: Kind, method: &str, path: &str, query: &str, body: &str) -> Result<Answer, Failure> {
        let dc = self.datacenter.as_ref().map(|dc| format!("&dc={}", utf8_percent_encode(dc, &ESCAPED)));
        let path = format!("{path}?{query}{}", dc.unwrap_or_default());
        let token = self.token.clone();
        let headers: Vec<(&str, &str)> = token.iter().map(|token| ("x-consul-token", token.reveal())).collect();
        let answer = self.http.send(kind, method, &path, &headers, body)?;
        let said: String = answer.text.chars().take(200).collect();
        let address = &self.address;
        match answer.status {
            200 | 404 | 409 => Ok(answer),
            401 | 403 => Err(Failure::NotDone(address.refused(format_args!(
                "{said}; the token (TXID_STORE_PASSWORD or ?password-file=FILE) needs key_prefix \"{}\" {{ policy = \
                 \"write\" }}",
                self.prefix
            )))),
            status @ 400..500 => Err(Failure::NotDone(address.misconfigured(format_args!("status {status}: {said}")))),
            // Usually there is no leader; the request may have been received.
            status => Err(Failure::Unknown(address.unreachable(format_args!("status {status}: {said}")))),
        }
    }

    fn get(&mut self, key: &str, query: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let path = format!("/v1/kv/{}", utf8_percent_encode(&format!("{}{key}", self.prefix), &ESCAPED));
        let answer = self.call(Kind::Read, "GET", &path, query, "").map_err(Failure::into_error)?;
        if answer.status == 404 && answer.text.is_empty() {
            // Consul's answer for a key that does not exist.
            return Ok(Vec::new());
        }
        let pairs = answer.json::<AtMost<Pair>>().filter(|_| answer.status == 200);
        let pairs = pairs.ok_or_else(|| self.address.damaged("the server is not Consul"))?;
        let record = |pair: Pair| {
            let key = pair.key.strip_prefix(&self.prefix).map(str::to_owned);
            let bytes = BASE64.decode(pair.value.as_deref().unwrap_or_default()).ok();
            let (key, bytes) = key
                .zip(bytes)
                .ok_or_else(|| self.address.damaged(format_args!("key {:?}, value {:?}", pair.key, pair.value)))?;
            Ok((key, Record { bytes, version: version(pair.index) }))
        };
        pairs.0.into_iter().map(record).collect()
    }
}

impl Store for ConsulStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.http.begin();
        match self.get(key, "consistent")?.pop() {
            Some((_, found)) => Ok(Some(Record { version: found.version, ..record(&self.address, key, found.bytes)? })),
            None => Ok(None),
        }
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.http.begin();
        let index = match expected {
            Expected::Absent => 0,
            Expected::Version(version) => index(version).ok_or_else(|| {
                self.address.damaged(format_args!("{version:?} is not a version of a record in Consul"))
            })?,
        };
        let key = format!("{}{key}", self.prefix);
        let write = json!({ "KV": { "Verb": "cas", "Key": key, "Value": BASE64.encode(bytes), "Index": index } });
        let answer = match self.call(Kind::Write, "PUT", "/v1/txn", "", &json!([write]).to_string()) {
            Ok(answer) => answer,
            Err(failure) => return failure.of_put(),
        };
        match answer.status {
            200 => Ok(match answer.json::<Done>().and_then(|done| Some(done.results?.0.first()?.kv.index)) {
                Some(index) => Put::Written(version(index)),
                None => Put::Unknown(self.address.damaged(&answer.text)),
            }),
            409 => match answer.json::<Done>().and_then(|done| done.errors) {
                Some(errors) if errors.0.iter().any(|error| error.what.contains("Permission denied")) => {
                    Err(self.address.refused(&errors.0[0].what))
                }
                Some(_) => Ok(Put::Conflict),
                None => Ok(Put::Unknown(self.address.damaged(&answer.text))),
            },
            status => Err(self.address.misconfigured(format_args!("the server is not Consul: status {status}"))),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        self.http.begin();
        self.get(prefix, "recurse&consistent")
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.http.clock.now_ms().is_none() {
            self.read("clock")?;
        }
        Ok(self.http.clock.now_ms())
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

/// Consul counts all changes of a data center, and compares the number of a key's last change.
fn version(index: u64) -> Version {
    Version(index.to_string().into_bytes())
}

/// A key and its value, in base64.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pair<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow, default)]
    value: Option<Cow<'a, str>>,
    #[serde(rename = "ModifyIndex")]
    index: u64,
}

/// The answer to a transaction.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Done<'a> {
    results: Option<AtMost<Changed>>,
    #[serde(borrow)]
    errors: Option<AtMost<WhyNot<'a>>>,
}

#[derive(Deserialize)]
struct Changed {
    #[serde(rename = "KV")]
    kv: Index,
}

#[derive(Deserialize)]
struct Index {
    #[serde(rename = "ModifyIndex")]
    index: u64,
}

#[derive(Deserialize)]
struct WhyNot<'a> {
    #[serde(rename = "What", borrow)]
    what: Cow<'a, str>,
}

fn index(version: &Version) -> Option<u64> {
    std::str::from_utf8(&version.0).ok()?.parse().ok()
}
