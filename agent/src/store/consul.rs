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
            401 | 403 => Err(Failure::NotDone(self.denied(&said))),
            // A limit on requests.
            429 => Err(Failure::NotDone(address.unreachable(format_args!("status 429: {said}")))),
            status => Err(Failure::NotDone(address.misconfigured(format_args!("status {status}: {said}")))),
        }
    }

    fn denied(&self, said: &str) -> StoreError {
        self.address.refused(format_args!(
            "{said}; the token (TXID_STORE_PASSWORD or ?password-file=FILE) needs key_prefix \"{}GROUP/\" {{ policy = \"write\" }}",
            self.prefix
        ))
    }

    /// None if there is no such key.
    fn get(&mut self, key: &str, query: &str) -> Result<Option<Answer>, StoreError> {
        let path = format!("/v1/kv/{}", utf8_percent_encode(&format!("{}{key}", self.prefix), &ESCAPED));
        let answer = self.call(Kind::Read, "GET", &path, query, "").map_err(Failure::into_error)?;
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
                    Err(self.denied(&errors.0[0].what))
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
    use super::super::http;
    use super::super::remote::beside;
    use super::*;

    fn store() -> ConsulStore {
        ConsulStore::open(StoreUrl::parse("consul://127.0.0.1").unwrap()).unwrap()
    }

    fn answer(status: u16, text: &str) -> Answer {
        Answer { status, text: text.to_owned() }
    }

    #[test]
    fn what_was_refused_is_not_done() {
        let said = |status| match store().understand(answer(status, &"x".repeat(201))) {
            Ok(_) => "an answer".to_owned(),
            Err(Failure::NotDone(error)) => error.to_string(),
            Err(Failure::Unknown(_)) => "unknown".to_owned(),
        };
        let x = "x".repeat(200);
        assert_eq!([200, 404, 409].map(said), ["an answer"; 3]);
        let rights = "the token (TXID_STORE_PASSWORD or ?password-file=FILE) needs key_prefix \"txid/GROUP/\" { policy = \"write\" }";
        assert_eq!([401, 403].map(said), [(); 2].map(|()| format!("consul://127.0.0.1 refused: {x}; {rights}")));
        // A limit on requests, which is lifted or passes.
        assert_eq!(said(429), format!("cannot reach consul://127.0.0.1: status 429: {x}"));
        assert_eq!(said(400), format!("consul://127.0.0.1 cannot be used: status 400: {x}"));
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
        let why = "consul://127.0.0.1 refused: Permission denied: token lacks permission 'key:write'; the token (TXID_STORE_PASSWORD";
        assert!(denied.unwrap_err().to_string().starts_with(why));
        for (status, text) in [(200, "{}"), (200, "OK"), (409, "{}")] {
            assert!(matches!(of(status, text), Ok(Put::Unknown(StoreError::Damaged { .. }))), "{status} {text}");
        }
        let other = of(404, "").unwrap_err().to_string();
        assert_eq!(other, "consul://127.0.0.1 cannot be used: the server is not Consul: status 404");
    }

    type Call = fn(&mut ConsulStore) -> Result<String, StoreError>;

    /// What a call of a store says, and what a server hears that answers so.
    fn call(login: &str, query: &str, answers: &[(u16, &str)], call: Call) -> (String, Vec<String>) {
        let answers = answers.iter().map(|(status, text)| http::answer(*status, text));
        let texts: Vec<_> = [vec![]].into_iter().chain(answers).collect();
        let (said, heard) = beside(&texts, |port| {
            let url = format!("consul://{login}127.0.0.1:{port}{query}&timeout=60s");
            let mut store = ConsulStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
            let said = call(&mut store).unwrap_or_else(|error| error.to_string());
            said.replace(&port.to_string(), "PORT")
        });
        (said, http::requests(&heard))
    }

    fn pair(key: &str) -> String {
        format!(r#"{{"Key":"txid/{key}","Value":"cg==","ModifyIndex":7}}"#)
    }

    #[test]
    fn records_are_read_and_written_in_base64() {
        let read: Call = |store| {
            let shown = |record: Record| format!("{} {}", record.bytes.escape_ascii(), record.version.0.escape_ascii());
            store.read("a b").map(|found| found.map_or("none".to_owned(), shown))
        };
        const NOT: &str = "consul://127.0.0.1:PORT gave an invalid answer: the server is not Consul";
        let other = r#"[{"Key":"other","Value":"?","ModifyIndex":7}]"#;
        let damaged = "consul://127.0.0.1:PORT gave an invalid answer: key \"other\", value Some(\"?\")";
        for (status, text, wanted) in [
            (200, &*format!("[{}]", pair("a b")), "r 7"),
            (404, "", "none"),
            // Another server says so with a page.
            (404, "<html>", NOT),
            (409, "", NOT),
            (200, "{}", NOT),
            (200, other, damaged),
        ] {
            let (said, heard) = call("", "?", &[(status, text)], read);
            assert_eq!((&*said, &*heard[0]), (wanted, "GET /v1/kv/txid/a%20b?consistent"));
        }
        let (_, heard) = call(":word@", "/deep?dc=eu%2Fa", &[(404, "")], read);
        assert_eq!(heard, ["GET /v1/kv/deep/a%20b?consistent&dc=eu/a word"]);

        let write = |index: u64| {
            format!(r#"PUT /v1/txn? [{{"KV":{{"Index":{index},"Key":"txid/a","Value":"cg==","Verb":"cas"}}}}]"#)
        };
        let absent: Call = |store| store.put("a", &Expected::Absent, b"r").map(|put| format!("{put:?}"));
        let same: Call = |store| store.put("a", &Expected::Version(version(7)), b"r").map(|put| format!("{put:?}"));
        let written = r#"{"Results":[{"KV":{"ModifyIndex":8}}]}"#;
        let done = format!("{:?}", Put::Written(version(8)));
        assert_eq!(call("", "?", &[(200, written)], absent), (done.clone(), vec![write(0)]));
        assert_eq!(call("", "?", &[(200, written)], same), (done, vec![write(7)]));
        let (said, _) = call("", "?", &[(403, "no")], absent);
        assert!(said.starts_with("consul://127.0.0.1:PORT refused: no; "), "{said}");
        let (said, _) = call("", "?", &[(500, "no leader")], absent);
        assert!(said.starts_with("Unknown("), "it may have been written: {said}");
        let why = store().put("a", &Expected::Version(Version(b"x".to_vec())), b"r").unwrap_err().to_string();
        assert!(why.ends_with("Version([120]) is not a version of a record in Consul"), "{why}");
    }

    #[test]
    fn a_list_is_read_in_parts_that_are_short_enough() {
        let list: Call = |store| {
            let mut names = Vec::new();
            store.list("a/", &mut |name, _| names.push(name.to_owned())).map(|()| names.join(" "))
        };
        let keys = |count: usize, more: &[&str]| {
            let many = (0..count).map(|at| format!("b{at:04}")).chain(more.iter().map(|key| (*key).to_owned()));
            serde_json::to_string(&many.map(|key| format!("txid/a/{key}")).collect::<Vec<_>>()).unwrap()
        };
        let one = |key: &str| format!("[{}]", pair(key));
        let asked = |key: &str, how: &str| format!("GET /v1/kv/txid/a/{key}?{how}consistent");
        let (said, heard) = call("", "?", &[(404, ""), (404, "")], list);
        assert_eq!((said.as_str(), &heard[..]), ("", &[asked("", "keys&"), asked("", "recurse&")][..]));
        let (said, heard) = call("", "?", &[(200, &keys(2048, &[])), (200, &one("a/b0000"))], list);
        assert_eq!((said.as_str(), &heard[1..]), ("a/b0000", &[asked("", "recurse&")][..]));
        // One more, and each of the next letters has its own part; a key that is one of the beginnings as well.
        let all = keys(2048, &["", "c"]);
        let (said, heard) = call("", "?", &[(200, &all), (404, ""), (200, &one("a/c")), (200, &one("a/b0000"))], list);
        let wanted = [asked("", ""), asked("c", "recurse&"), asked("b", "recurse&")];
        assert_eq!((said.as_str(), &heard[1..]), ("a/c a/b0000", &wanted[..]));
        let (said, _) = call("", "?", &[(200, r#"["txid/b/1"]"#)], list);
        assert_eq!(said, "consul://127.0.0.1:PORT gave an invalid answer: key \"txid/b/1\"");
        let (said, _) = call("", "?", &[(200, "{}")], list);
        assert_eq!(said, "consul://127.0.0.1:PORT gave an invalid answer: the server is not Consul");
    }
}
