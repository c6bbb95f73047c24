//! etcd 3.4 and later, through the JSON gateway that it serves on its client port.

use data_encoding::BASE64;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Version};

use super::address::Address;
use super::contract::{Room, Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::http::{Answer, Http};
use super::limits::{AtMost, Listing, PART, record};
use super::remote::Kind;
use super::url::{Secret, StoreUrl};

#[derive(Clone)]
pub(super) struct EtcdStore {
    address: Address,
    http: Http,
    prefix: String,
    login: Option<(String, Secret)>,
    /// The token of the login, until it is refused.
    token: Option<String>,
    durability: Durability,
    /// As its metrics say, which take 150 KB.
    quota: Option<u64>,
}

/// A store with less in it is not asked for its quota.
const SMALL: u64 = 4 << 20;
/// Of `--quota-backend-bytes`.
const DEFAULT_QUOTA: u64 = 2 << 30;

impl EtcdStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&[])?;
        let http = Http::new(&url)?;
        let login = url.login()?.map(|(user, password)| (user.to_owned(), password.clone()));
        // A majority of the servers has written it to disk.
        let durability = url.durability(Durability::Durable)?;
        Ok(Self {
            durability,
            prefix: format!("/{}/", if url.path.is_empty() { "txid" } else { &url.path }),
            address: url.address,
            http,
            login,
            token: None,
            quota: None,
        })
    }

    /// Sends a request, and reads its answer.
    fn call<T: DeserializeOwned>(&mut self, kind: Kind, path: &str, body: &Value) -> Result<T, Failure> {
        let body = body.to_string();
        loop {
            let is_new = self.token.is_none();
            if is_new {
                self.log_in().map_err(Failure::NotDone)?;
            }
            let token = self.token.clone();
            let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
            let answer = self.http.send(kind, "POST", path, &headers, &body)?;
            if token.is_none() || !is_bad_token(&answer) {
                return self.understand(&answer);
            }
            // It may have expired.
            self.token = None;
            if is_new {
                return Err(Failure::NotDone(self.address.refused("it refused the token that it had just issued")));
            }
        }
    }

    fn log_in(&mut self) -> Result<(), StoreError> {
        let Some((user, password)) = &self.login else { return Ok(()) };
        let body = json!({ "name": user, "password": password.reveal() }).to_string();
        let path = "/v3/auth/authenticate";
        let answer = self.http.send(Kind::Read, "POST", path, &[], &body).map_err(Failure::into_error)?;
        match message(&answer).contains("authentication is not enabled") {
            true => self.login = None,
            false => self.token = Some(self.understand::<Token>(&answer).map_err(Failure::into_error)?.token),
        }
        Ok(())
    }

    /// The answer, if it is one; if not, why.
    fn understand<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, Failure> {
        let address = &self.address;
        let said = message(answer);
        match answer.status {
            200 => answer.json().ok_or_else(|| Failure::Unknown(self.not_etcd(answer))),
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
            // Its quota is used up, or it has too much to do.
            429 => Err(Failure::NotDone(address.unreachable(format_args!("status 429: {said}")))),
            status => Err(Failure::NotDone(address.misconfigured(format_args!("status {status}: {said}")))),
        }
    }

    /// Shows the records of an answer. Returns their number, and the last key if there are more.
    fn range(&mut self, request: &Value, show: Show) -> Result<(usize, Option<String>), StoreError> {
        let range: Range = self.call(Kind::Read, "/v3/kv/range", request).map_err(Failure::into_error)?;
        let mut last = None;
        for pair in &range.kvs.0 {
            let read = || {
                let key = String::from_utf8(BASE64.decode(pair.key.as_bytes()).ok()?).ok()?;
                Some((key.strip_prefix(&self.prefix)?.to_owned(), BASE64.decode(pair.value.as_bytes()).ok()?))
            };
            let (key, bytes) = read()
                .ok_or_else(|| self.address.damaged(format_args!("key {:?}, value {:?}", pair.key, pair.value)))?;
            show(&key, Record::compared_by_bytes(bytes));
            last = Some(key);
        }
        Ok((range.kvs.0.len(), last.filter(|_| range.more)))
    }

    fn not_etcd(&self, answer: &Answer) -> StoreError {
        self.address.damaged(format_args!("the server is not etcd: {}", message(answer)))
    }

    fn key(&self, key: &str) -> Vec<u8> {
        format!("{}{key}", self.prefix).into_bytes()
    }
}

impl Store for EtcdStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.http.begin();
        let request = json!({ "key": encode(&self.key(key)) });
        let mut found = None;
        self.range(&request, &mut |_, record| found = Some(record.bytes))?;
        found.map(|bytes| record(&self.address, key, bytes)).transpose()
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        self.http.begin();
        let key = encode(&self.key(key));
        let compare = match expected {
            Expected::Absent => json!({ "key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0" }),
            Expected::Version(old) => {
                json!({ "key": key, "target": "VALUE", "result": "EQUAL", "value": encode(&old.0) })
            }
        };
        let write = json!({ "request_put": { "key": key, "value": encode(bytes) } });
        match self.call(Kind::Write, "/v3/kv/txn", &json!({ "compare": [compare], "success": [write] })) {
            Ok(Written { succeeded: true, .. }) => Ok(Put::Written(Version(bytes.to_vec()))),
            Ok(Written { succeeded: false, .. }) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let mut listing = Listing::begin();
        let mut first = self.key(prefix);
        let mut past = first.clone();
        // The prefix ends with a slash, and a zero is the next character.
        if let Some(last) = past.last_mut() {
            *last += 1;
        }
        loop {
            self.http.begin();
            let range = json!({ "key": encode(&first), "range_end": encode(&past), "limit": PART });
            let (records, last) = self.range(&range, show)?;
            listing.add(&self.address, records)?;
            let Some(last) = last else { return Ok(()) };
            // The next one that there can be.
            first = [&self.key(&last)[..], b"\0"].concat();
        }
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        if self.http.clock.now().is_none() {
            self.read("clock")?;
        }
        Ok(self.http.clock.now())
    }

    fn room(&mut self) -> Result<Option<Room>, StoreError> {
        self.http.begin();
        let size: Size = self.call(Kind::Read, "/v3/maintenance/status", &json!({})).map_err(Failure::into_error)?;
        let of = |text: Option<String>| text.and_then(|text| text.parse().ok());
        // Space that compaction has freed is used again.
        let Some(used) = of(size.in_use).or(of(size.size)) else { return Ok(None) };
        if self.quota.is_none() && used >= SMALL {
            let metrics = self.http.send(Kind::Read, "GET", "/metrics", &[], "").map_err(Failure::into_error)?;
            self.quota = Some(quota(&metrics.text).unwrap_or(DEFAULT_QUOTA));
        }
        Ok(Some(Room { used, quota: self.quota.unwrap_or(DEFAULT_QUOTA) }))
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

const LOGIN: &str = "give the user as etcd://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";

fn is_bad_token(answer: &Answer) -> bool {
    answer.status == 401
        || message(answer).contains("invalid auth token")
        || message(answer).contains("auth store is old")
}

fn message(answer: &Answer) -> String {
    let said = answer.json::<Said>().and_then(|json| json.error.or(json.message));
    said.as_deref().unwrap_or(&answer.text).chars().take(200).collect()
}

fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The answer to a range. JSON omits what is empty, but there is always a header.
#[derive(Deserialize)]
struct Range {
    #[serde(rename = "header")]
    _header: IgnoredAny,
    #[serde(default)]
    kvs: AtMost<Pair>,
    #[serde(default)]
    more: bool,
}

/// A key and its value, in base64.
#[derive(Deserialize)]
struct Pair {
    key: String,
    #[serde(default)]
    value: String,
}

/// The answer to a transaction. JSON omits `false`.
#[derive(Deserialize)]
struct Written {
    #[serde(rename = "header")]
    _header: IgnoredAny,
    #[serde(default)]
    succeeded: bool,
}

/// The answer to a question for the status.
#[derive(Deserialize)]
struct Size {
    #[serde(rename = "dbSize")]
    size: Option<String>,
    #[serde(rename = "dbSizeInUse")]
    in_use: Option<String>,
}

/// The quota in etcd's metrics.
fn quota(metrics: &str) -> Option<u64> {
    let value = metrics.lines().find_map(|line| line.strip_prefix("etcd_server_quota_backend_bytes "))?;
    value.parse::<f64>().ok().map(|bytes| bytes as u64).filter(|bytes| *bytes > 0)
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

/// An error.
#[derive(Deserialize)]
struct Said {
    error: Option<String>,
    message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_not_done() {
        let store = EtcdStore::open(StoreUrl::parse("etcd://127.0.0.1/txid").unwrap()).unwrap();
        let of = |status| store.understand::<Written>(&Answer { status, text: r#"{"header":{}}"#.to_owned() });
        assert!(of(200).is_ok());
        for status in [400, 401, 403, 404, 429] {
            assert!(matches!(of(status), Err(Failure::NotDone(_))), "{status}");
        }
        assert!(matches!(of(429), Err(Failure::NotDone(StoreError::Unreachable { .. }))), "it may pass");
    }

    #[test]
    fn a_quota_is_a_metric() {
        let metrics = "# TYPE etcd_server_quota_backend_bytes gauge\netcd_server_quota_backend_bytes 2.147483648e+09\n";
        assert_eq!([quota(metrics), quota("404 page not found")], [Some(2 << 30), None]);
    }

    /// A new token may help, and nothing else is tried twice.
    #[test]
    fn a_token_that_is_refused_is_told_from_other_errors() {
        for (status, text, is_bad) in [
            (401, "", true),
            (400, r#"{"error":"etcdserver: invalid auth token","code":16}"#, true),
            (400, r#"{"error":"etcdserver: revision of auth store is old","code":3}"#, true),
            (400, r#"{"error":"etcdserver: user name is empty","code":3}"#, false),
            (403, r#"{"error":"etcdserver: permission denied","code":7}"#, false),
            (200, r#"{"header":{}}"#, false),
        ] {
            assert_eq!(is_bad_token(&Answer { status, text: text.to_owned() }), is_bad, "{status} {text}");
        }
    }

    #[test]
    fn who_is_refused_is_told_what_is_needed() {
        let store = EtcdStore::open(StoreUrl::parse("etcd://127.0.0.1/txid").unwrap()).unwrap();
        for (status, said, needed) in [
            (401, "unauthorized", LOGIN),
            (400, "etcdserver: authentication failed, invalid user ID or password", LOGIN),
            (400, "etcdserver: user name is empty", LOGIN),
            (403, "etcdserver: permission denied", "the user's role needs readwrite on the prefix /txid/"),
            (404, "404 page not found", "there is no /v3 here"),
        ] {
            let failure = store
                .understand::<Written>(&Answer { status, text: format!(r#"{{"error":"{said}"}}"#) })
                .err()
                .unwrap();
            let why = failure.into_error().to_string();
            assert!(why.contains(needed) && (status == 404 || why.contains(said)), "{why}");
        }
    }

    /// As Go's server answers a request without TLS, and as it answers others.
    #[test]
    fn a_server_that_requires_tls_is_named() {
        let store = EtcdStore::open(StoreUrl::parse("etcd://127.0.0.1/txid").unwrap()).unwrap();
        let why = |text: &str| {
            let failure = store.understand::<Written>(&Answer { status: 400, text: text.to_owned() }).err().unwrap();
            failure.into_error().to_string()
        };
        let refused = why("Client sent an HTTP request to an HTTPS server.\n");
        assert!(refused.contains("it requires TLS: write etcds:// instead of etcd://"), "{refused}");
        let other = why(r#"{"error":"etcdserver: too many operations in txn request","code":3}"#);
        assert!(other.contains("status 400: etcdserver: too many operations"), "{other}");
    }
}
