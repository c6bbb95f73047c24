//! Consul's key-value store, through `/v1/txn` with the verb `cas` and `/v1/kv`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

use super::address::Address;
use super::http::{Answer, Http};
use super::url::{Secret, StoreUrl};
use super::{Failure, Store};

const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

pub(super) struct ConsulStore {
    address: Address,
    http: Http,
    prefix: String,
    token: Option<Secret>,
    datacenter: Option<String>,
    may_lose_writes: bool,
}

impl ConsulStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&["dc"])?;
        if url.user.is_some() {
            return Err(url.address.misconfigured(
                "Consul has tokens, and no users: give the token as TXID_STORE_PASSWORD or ?password-file=FILE",
            ));
        }
        Ok(Self {
            http: Http::new(&url),
            may_lose_writes: url.may_lose_writes(false)?,
            prefix: format!("{}/", if url.path.is_empty() { "txid" } else { &url.path }),
            datacenter: url.option("dc").map(str::to_owned),
            token: url.password,
            address: url.address,
        })
    }

    fn call(&mut self, method: &str, path: &str, query: &str, body: &str) -> Result<Answer, Failure> {
        let dc = self.datacenter.as_ref().map(|dc| format!("&dc={}", utf8_percent_encode(dc, &ESCAPED)));
        let path = format!("{path}?{query}{}", dc.unwrap_or_default());
        let token = self.token.clone();
        let headers: Vec<(&str, &str)> = token.iter().map(|token| ("x-consul-token", token.reveal())).collect();
        let answer = self.http.send(method, &path, &headers, body)?;
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
        let answer = self.call("GET", &path, query, "").map_err(Failure::into_error)?;
        let pairs = match (answer.status, answer.json) {
            // Consul's answer for a key that does not exist.
            (404, _) if answer.text.is_empty() => return Ok(Vec::new()),
            (200, Some(Value::Array(pairs))) => pairs,
            _ => return Err(self.address.misconfigured("the server is not Consul")),
        };
        pairs
            .iter()
            .map(|pair| {
                let key = pair["Key"].as_str()?.strip_prefix(&self.prefix)?.to_owned();
                let bytes = BASE64.decode(pair["Value"].as_str().unwrap_or_default()).ok()?;
                Some((key, Record { bytes, version: version(pair)? }))
            })
            .collect::<Option<_>>()
            .ok_or_else(|| self.address.damaged(Value::Array(pairs)))
    }
}

impl Store for ConsulStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        Ok(self.get(key, "consistent")?.pop().map(|(_, record)| record))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let index = match expected {
            Expected::Absent => 0,
            Expected::Version(version) => index(version).ok_or_else(|| {
                self.address.damaged(format_args!("{version:?} is not a version of a record in Consul"))
            })?,
        };
        let key = format!("{}{key}", self.prefix);
        let write = json!({ "KV": { "Verb": "cas", "Key": key, "Value": BASE64.encode(bytes), "Index": index } });
        let answer = match self.call("PUT", "/v1/txn", "", &json!([write]).to_string()) {
            Ok(answer) => answer,
            Err(failure) => return failure.of_put(),
        };
        match (answer.status, answer.json) {
            (200, Some(json)) => match version(&json["Results"][0]["KV"]) {
                Some(version) => Ok(Put::Written(version)),
                None => Ok(Put::Unknown(self.address.damaged(json))),
            },
            (409, Some(json)) => {
                let said = json["Errors"][0]["What"].as_str().unwrap_or_default().to_owned();
                if said.contains("Permission denied") {
                    return Err(self.address.refused(said));
                }
                Ok(Put::Conflict)
            }
            (status, _) => Err(self.address.misconfigured(format_args!("the server is not Consul: status {status}"))),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        self.get(prefix, "recurse&consistent")
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.http.clock.now_ms().is_none() {
            self.read("clock")?;
        }
        Ok(self.http.clock.now_ms())
    }

    fn may_lose_writes(&self) -> bool {
        self.may_lose_writes
    }

    fn damaged(&self, what: &str) -> StoreError {
        self.address.damaged(what)
    }
}

/// Consul counts all changes of a data center, and compares the number of a key's last change.
fn version(pair: &Value) -> Option<Version> {
    pair["ModifyIndex"].as_u64().map(|index| Version(index.to_string().into_bytes()))
}

fn index(version: &Version) -> Option<u64> {
    std::str::from_utf8(&version.0).ok()?.parse().ok()
}
