//! Consul's key-value store, through `/v1/txn` with the verb `cas` and `/v1/kv`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use data_encoding::BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Version};

use super::address::Address;
use super::contract::{Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::http::{Answer, Http};
use super::limits::{AtMost, Listing, PART, Room, record};
use super::remote::Kind;
use super::url::{Secret, StoreUrl};

const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

#[derive(Clone)]
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
        // A majority of the servers has written it to disk.
        let durability = url.durability(Durability::Durable)?;
        Ok(Self {
            http: Http::new(&url)?,
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
        self.understand(answer)
    }

    /// The answer, if it is one; if not, why.
    fn understand(&self, answer: Answer) -> Result<Answer, Failure> {
        let said: String = answer.text.chars().take(200).collect();
        let address = &self.address;
        match answer.status {
            200 | 404 | 409 => Ok(answer),
            401 | 403 => Err(Failure::NotDone(address.refused(format_args!(
                "{said}; the token (TXID_STORE_PASSWORD or ?password-file=FILE) needs key_prefix \"{}\" {{ policy = \
                 \"write\" }}",
                self.prefix
            )))),
            // A limit on requests.
            429 => Err(Failure::NotDone(address.unreachable(format_args!("status 429: {said}")))),
            status => Err(Failure::NotDone(address.misconfigured(format_args!("status {status}: {said}")))),
        }
    }

    /// None if there is no such key.
    fn get(&mut self, key: &str, query: &str) -> Result<Option<Answer>, StoreError> {
        let path = format!("/v1/kv/{}", utf8_percent_encode(&format!("{}{key}", self.prefix), &ESCAPED));
        let answer = self.call(Kind::Read, "GET", &path, query, "").map_err(Failure::into_error)?;
        self.got(answer)
    }

    fn got(&self, answer: Answer) -> Result<Option<Answer>, StoreError> {
        match answer.status {
            200 => Ok(Some(answer)),
            404 if answer.text.is_empty() => Ok(None),
            _ => Err(self.not_consul()),
        }
    }

    /// Shows the records of an answer.
    fn records(&self, answer: Option<Answer>, show: Show) -> Result<(), StoreError> {
        let Some(answer) = answer else { return Ok(()) };
        for pair in answer.json::<AtMost<Pair>>().ok_or_else(|| self.not_consul())?.0 {
            let key = pair.key.strip_prefix(&self.prefix);
            let bytes = BASE64.decode(pair.value.as_deref().unwrap_or_default().as_bytes()).ok();
            let (key, bytes) = key
                .zip(bytes)
                .ok_or_else(|| self.address.damaged(format_args!("key {:?}, value {:?}", pair.key, pair.value)))?;
            show(key, Record { bytes, version: version(pair.index) });
        }
        Ok(())
    }

    /// The keys that begin with `prefix`.
    fn keys(&mut self, prefix: &str) -> Result<BTreeSet<String>, StoreError> {
        let Some(answer) = self.get(prefix, "keys&consistent")? else { return Ok(BTreeSet::new()) };
        let keys = answer.json::<AtMost<Cow<str>>>().ok_or_else(|| self.not_consul())?;
        let mut room = Room::default();
        let key = |key: Cow<str>| {
            room.take(key.len()).map_err(|error| self.address.damaged(error))?;
            let known = key.strip_prefix(&self.prefix).filter(|key| key.starts_with(prefix)).map(str::to_owned);
            known.ok_or_else(|| self.address.damaged(format_args!("key {key:?}")))
        };
        keys.0.into_iter().map(key).collect()
    }

    /// What an answer says of a write.
    fn written(&self, answer: &Answer) -> Result<Put, StoreError> {
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

    fn not_consul(&self) -> StoreError {
        self.address.damaged("the server is not Consul")
    }
}

impl Store for ConsulStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.http.begin();
        let answer = self.get(key, "consistent")?;
        let mut found = None;
        self.records(answer, &mut |_, record| found = Some(record))?;
        let Some(Record { bytes, version }) = found else { return Ok(None) };
        Ok(Some(Record { version, ..record(&self.address, key, bytes)? }))
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
        match self.call(Kind::Write, "PUT", "/v1/txn", "", &json!([write]).to_string()) {
            Ok(answer) => self.written(&answer),
            Err(failure) => failure.of_put(),
        }
    }

    /// Consul has no parts. But the keys alone are short, and show which of their beginnings have few enough records.
    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let mut listing = Listing::begin();
        self.http.begin();
        let keys = self.keys(prefix)?;
        let mut beginnings = vec![prefix.to_owned()];
        while let Some(beginning) = beginnings.pop() {
            let begun = || keys.range(beginning.clone()..).take_while(|key| key.starts_with(&beginning));
            let (count, query) = match begun().take(PART + 1).count() {
                count @ ..=PART => (count, "recurse&consistent"),
                _ => {
                    let longer = |key: &String| {
                        let next = key[beginning.len()..].chars().next()?;
                        Some(format!("{beginning}{next}"))
                    };
                    let mut all: Vec<_> = begun().filter_map(longer).collect();
                    all.dedup();
                    beginnings.extend(all);
                    if !keys.contains(&beginning) {
                        continue;
                    }
                    (1, "consistent")
                }
            };
            self.http.begin();
            let answer = self.get(&beginning, query)?;
            self.records(answer, show)?;
            listing.add(&self.address, count)?;
        }
        Ok(())
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        if self.http.clock.now().is_none() {
            self.read("clock")?;
        }
        Ok(self.http.clock.now())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> ConsulStore {
        ConsulStore::open(StoreUrl::parse("consul://127.0.0.1").unwrap()).unwrap()
    }

    fn answer(status: u16, text: &str) -> Answer {
        Answer { status, text: text.to_owned() }
    }

    #[test]
    fn a_majority_has_written_it_to_disk() {
        assert!(matches!(store().durability(), Durability::Durable));
    }

    /// As a limit on requests, which is lifted or passes.
    #[test]
    fn a_limit_on_requests_passes() {
        let of = |status| store().understand(answer(status, "why"));
        assert!(matches!(of(429), Err(Failure::NotDone(StoreError::Unreachable { .. }))));
        assert!(matches!(of(400), Err(Failure::NotDone(StoreError::Misconfigured { .. }))));
        assert!(of(409).is_ok());
    }

    #[test]
    fn a_write_that_was_denied_is_no_conflict() {
        let of = |status, text: &str| store().written(&answer(status, text));
        let errors = |what| format!(r#"{{"Results":null,"Errors":[{{"OpIndex":0,"What":"{what}"}}]}}"#);
        let done = of(200, r#"{"Results":[{"KV":{"ModifyIndex":7}}],"Errors":null}"#);
        assert_eq!(done, Ok(Put::Written(version(7))));
        let stale = errors("failed to set key \\\"txid/any\\\", index is stale");
        assert_eq!(of(409, &stale), Ok(Put::Conflict));
        let denied = of(409, &errors("Permission denied: token lacks permission 'key:write'"));
        assert!(matches!(&denied, Err(StoreError::Refused { why, .. }) if why.contains("key:write")), "{denied:?}");
        for (status, text) in [(200, "{}"), (200, "OK"), (409, "{}")] {
            assert!(matches!(of(status, text), Ok(Put::Unknown(StoreError::Damaged { .. }))), "{status} {text}");
        }
        assert!(matches!(of(404, ""), Err(StoreError::Misconfigured { .. })));
    }

    /// Another server says so with a page.
    #[test]
    fn a_key_is_missing_only_if_consul_says_so() {
        assert!(matches!(store().got(answer(404, "")), Ok(None)));
        assert!(matches!(store().got(answer(404, "<html>")), Err(StoreError::Damaged { .. })));
        assert!(matches!(store().got(answer(200, "[]")), Ok(Some(_))));
    }
}
