//! etcd 3.4 and later, through the JSON gateway that it serves on its client port.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, Version};

use super::address::Address;
use super::http::{Answer, Http};
use super::url::{Secret, StoreUrl};
use super::{Failure, Store};

pub(super) struct EtcdStore {
    address: Address,
    http: Http,
    prefix: String,
    login: Option<(String, Secret)>,
    /// The token of the login, until it is refused.
    token: Option<String>,
    may_lose_writes: bool,
}

impl EtcdStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&[])?;
        let http = Http::new(&url);
        let login = match (&url.user, &url.password) {
            (Some(user), Some(password)) => Some((user.clone(), password.clone())),
            (Some(user), None) => {
                return Err(url.address.misconfigured(format_args!(
                    "the user {user} has no password: set TXID_STORE_PASSWORD, or give ?password-file=FILE"
                )));
            }
            (None, _) => None,
        };
        Ok(Self {
            may_lose_writes: url.may_lose_writes(false)?,
            prefix: format!("/{}/", if url.path.is_empty() { "txid" } else { &url.path }),
            address: url.address,
            http,
            login,
            token: None,
        })
    }

    fn call(&mut self, path: &str, body: &Value) -> Result<Value, Failure> {
        let body = body.to_string();
        // Twice, because a token may have expired.
        for renewed in [false, true] {
            if self.token.is_none() && self.login.is_some() {
                self.log_in().map_err(Failure::NotDone)?;
            }
            let token = self.token.clone();
            let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
            let answer = self.http.send("POST", path, &headers, &body)?;
            if is_bad_token(&answer) && self.login.is_some() && !renewed {
                self.token = None;
                continue;
            }
            return self.understand(answer);
        }
        Err(Failure::NotDone(self.address.refused("it refused the token that it had just issued")))
    }

    fn log_in(&mut self) -> Result<(), StoreError> {
        let Some((user, password)) = &self.login else { return Ok(()) };
        let body = json!({ "name": user, "password": password.reveal() }).to_string();
        let answer = self.http.send("POST", "/v3/auth/authenticate", &[], &body).map_err(Failure::into_error)?;
        match answer.json.as_ref().and_then(|json| json["token"].as_str()) {
            Some(token) => self.token = Some(token.to_owned()),
            None if message(&answer).contains("authentication is not enabled") => self.login = None,
            None => {
                let Err(failure) = self.understand(answer) else {
                    return Err(self.address.damaged("a login without a token"));
                };
                return Err(failure.into_error());
            }
        }
        Ok(())
    }

    fn understand(&self, answer: Answer) -> Result<Value, Failure> {
        let address = &self.address;
        let said = message(&answer);
        match answer.status {
            200 => answer.json.ok_or_else(|| Failure::Unknown(address.misconfigured("the server is not etcd"))),
            404 => Err(Failure::NotDone(address.misconfigured(
                "there is no /v3 here: this is etcd before 3.4, or its JSON gateway is off (enable-grpc-gateway: true turns \
                 it on)",
            ))),
            401 => Err(Failure::NotDone(address.refused(format_args!("{said}; {LOGIN}")))),
            403 => Err(Failure::NotDone(address.refused(format_args!(
                "{said}; the user's role needs readwrite on the prefix {}",
                self.prefix
            )))),
            400 if said.contains("authentication failed") || said.contains("user name is empty") => {
                Err(Failure::NotDone(address.refused(format_args!("{said}; {LOGIN}"))))
            }
            400 if said.contains("HTTPS server") => {
                Err(Failure::NotDone(address.misconfigured("it requires TLS: write etcds:// instead of etcd://")))
            }
            status @ 400..500 => Err(Failure::NotDone(address.misconfigured(format_args!("status {status}: {said}")))),
            // No leader, or no answer from it in time: the request may have been received.
            status => Err(Failure::Unknown(address.unreachable(format_args!("status {status}: {said}")))),
        }
    }

    fn range(&mut self, request: &Value) -> Result<Vec<(String, Record)>, StoreError> {
        let answer = self.call("/v3/kv/range", request).map_err(Failure::into_error)?;
        let Some(found) = answer.get("kvs") else { return Ok(Vec::new()) };
        found
            .as_array()
            .into_iter()
            .flatten()
            .map(|pair| {
                let key = String::from_utf8(decode(&pair["key"])?).ok()?;
                // JSON omits an empty value.
                let bytes = if pair.get("value").is_some() { decode(&pair["value"])? } else { Vec::new() };
                Some((key.strip_prefix(&self.prefix)?.to_owned(), Record::compared_by_bytes(bytes)))
            })
            .collect::<Option<_>>()
            .ok_or_else(|| self.address.damaged(found))
    }

    fn key(&self, key: &str) -> Vec<u8> {
        format!("{}{key}", self.prefix).into_bytes()
    }
}

impl Store for EtcdStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let request = json!({ "key": encode(&self.key(key)) });
        Ok(self.range(&request)?.pop().map(|(_, record)| record))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let key = encode(&self.key(key));
        let compare = match expected {
            Expected::Absent => json!({ "key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0" }),
            Expected::Version(old) => {
                json!({ "key": key, "target": "VALUE", "result": "EQUAL", "value": encode(&old.0) })
            }
        };
        let write = json!({ "request_put": { "key": key, "value": encode(bytes) } });
        match self.call("/v3/kv/txn", &json!({ "compare": [compare], "success": [write] })) {
            // JSON omits `false`.
            Ok(answer) if answer["succeeded"] == true => Ok(Put::Written(Version(bytes.to_vec()))),
            Ok(_) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let first = self.key(prefix);
        let mut past = first.clone();
        // The prefix ends with a slash, and a zero is the next character.
        if let Some(last) = past.last_mut() {
            *last += 1;
        }
        self.range(&json!({ "key": encode(&first), "range_end": encode(&past) }))
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

const LOGIN: &str = "give the user as etcd://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

fn is_bad_token(answer: &Answer) -> bool {
    answer.status == 401
        || message(answer).contains("invalid auth token")
        || message(answer).contains("auth store is old")
}

fn message(answer: &Answer) -> String {
    let said = answer.json.as_ref().and_then(|json| json["error"].as_str().or_else(|| json["message"].as_str()));
    said.unwrap_or(&answer.text).chars().take(200).collect()
}

fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

fn decode(text: &Value) -> Option<Vec<u8>> {
    BASE64.decode(text.as_str()?).ok()
}
