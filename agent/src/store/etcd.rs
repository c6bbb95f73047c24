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

/// The default of `--quota-backend-bytes`.
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
                "{said}; the user's role needs readwrite on the prefix {}GROUP/",
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
        Ok(self.http.clock.now())
    }

    fn room(&mut self) -> Result<Option<Room>, StoreError> {
        self.http.begin();
        let size: Size = self.call(Kind::Read, "/v3/maintenance/status", &json!({})).map_err(Failure::into_error)?;
        let of = |text: Option<String>| text.and_then(|text| text.parse().ok());
        // Space that compaction has freed is used again.
        let Some(used) = of(size.in_use).or(of(size.size)) else { return Ok(None) };
        if self.quota.is_none() {
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
    use super::super::http;
    use super::super::remote::beside;
    use super::*;

    #[test]
    fn what_was_refused_is_not_done() {
        const LOGIN: &str =
            "; give the user as etcd://USER@HOST and the password as TXID_STORE_PASSWORD or ?password-file=FILE";
        let store = EtcdStore::open(StoreUrl::parse("etcd://h/ids").unwrap()).unwrap();
        let said = |status, text: &str| match store.understand::<Written>(&Answer { status, text: text.to_owned() }) {
            Ok(_) => "an answer".to_owned(),
            Err(Failure::NotDone(error)) => format!("not done: {error}"),
            Err(Failure::Unknown(error)) => error.to_string(),
        };
        assert_eq!(said(200, r#"{"header":{}}"#), "an answer");
        assert_eq!(said(200, "{}"), "etcd://h/ids gave an invalid answer: the server is not etcd: {}");
        let refused = "not done: etcd://h/ids refused: ";
        assert_eq!(said(401, r#"{"error":"unauthorized"}"#), format!("{refused}unauthorized{LOGIN}"));
        for error in
            ["etcdserver: authentication failed, invalid user ID or password", "etcdserver: user name is empty"]
        {
            assert_eq!(said(400, &format!(r#"{{"message":"{error}"}}"#)), format!("{refused}{error}{LOGIN}"));
        }
        assert_eq!(
            said(403, r#"{"error":"permission denied"}"#),
            format!("{refused}permission denied; the user's role needs readwrite on the prefix /ids/GROUP/")
        );
        let not = "not done: etcd://h/ids cannot be used: ";
        assert_eq!(
            said(404, "404 page not found"),
            format!(
                "{not}there is no /v3 here: this is etcd before 3.4, or its JSON gateway is off (enable-grpc-gateway: true turns it on)"
            )
        );
        // As Go's server answers a request without TLS, and as it answers others.
        assert_eq!(
            said(400, "Client sent an HTTP request to an HTTPS server.\n"),
            format!("{not}it requires TLS: write etcds:// instead of etcd://")
        );
        assert_eq!(
            said(400, r#"{"error":"etcdserver: too many operations in txn request","code":3}"#),
            format!("{not}status 400: etcdserver: too many operations in txn request")
        );
        assert_eq!(said(429, "later"), "not done: cannot reach etcd://h/ids: status 429: later");
        assert_eq!(said(499, &"x".repeat(201)), format!("{not}status 499: {}", "x".repeat(200)));
    }

    type Call = fn(&mut EtcdStore) -> Result<String, StoreError>;

    /// What a call of a store says, and what a server hears that answers so.
    fn call(login: &str, answers: &[(u16, &str)], call: Call) -> (String, Vec<String>) {
        let answers = answers.iter().map(|(status, text)| http::answer(*status, text));
        let texts: Vec<_> = [vec![]].into_iter().chain(answers).collect();
        let (said, heard) = beside(&texts, |port| {
            let url = format!("etcd://{login}127.0.0.1:{port}?timeout=60s");
            let mut store = EtcdStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
            let said = call(&mut store).unwrap_or_else(|error| error.to_string());
            said.replace(&port.to_string(), "PORT")
        });
        (said, http::requests(&heard))
    }

    fn base64(text: &str) -> String {
        encode(text.as_bytes())
    }

    const READ: Call = |store| store.read("a").map(|found| format!("{:?}", found.map(|record| record.bytes)));

    #[test]
    fn records_are_read_and_written_in_base64() {
        let key = base64("/txid/a");
        let range = format!(r#"POST /v3/kv/range {{"key":"{key}"}}"#);
        let pair =
            |key: &str| format!(r#"{{"header":{{}},"kvs":[{{"key":"{}","value":"{}"}}]}}"#, base64(key), base64("r"));
        for (answer, wanted) in [
            (r#"{"header":{}}"#, "None"),
            (&*pair("/txid/a"), "Some([114])"),
            (&*pair("/other"), "etcd://127.0.0.1:PORT gave an invalid answer: key \"L290aGVy\", value \"cg==\""),
        ] {
            assert_eq!(call("", &[(200, answer)], READ), (wanted.to_owned(), vec![range.clone()]));
        }
        let put = |compare: &str| {
            let success = format!(r#"[{{"request_put":{{"key":"{key}","value":"{}"}}}}]"#, base64("r"));
            format!(r#"POST /v3/kv/txn {{"compare":[{{"key":"{key}",{compare}}}],"success":{success}}}"#)
        };
        let absent: Call = |store| store.put("a", &Expected::Absent, b"r").map(|put| format!("{put:?}"));
        let same: Call =
            |store| store.put("a", &Expected::Version(Version(b"o".to_vec())), b"r").map(|put| format!("{put:?}"));
        let (said, heard) = call("", &[(200, r#"{"header":{},"succeeded":true}"#)], absent);
        assert_eq!(said, format!("{:?}", Put::Written(Version(b"r".to_vec()))));
        let value = |text: &str| serde_json::from_str::<Value>(text.strip_prefix("POST /v3/kv/txn ").unwrap()).unwrap();
        assert_eq!(value(&heard[0]), value(&put(r#""target":"CREATE","result":"EQUAL","create_revision":"0""#)));
        let (said, heard) = call("", &[(200, r#"{"header":{}}"#)], same);
        assert_eq!(said, "Conflict");
        let old = base64("o");
        assert_eq!(value(&heard[0]), value(&put(&format!(r#""target":"VALUE","result":"EQUAL","value":"{old}""#))));
        let (said, _) = call("", &[(403, "no")], absent);
        assert!(said.starts_with("etcd://127.0.0.1:PORT refused: no; "), "{said}");
        let (said, _) = call("", &[(503, "no leader")], absent);
        assert!(said.starts_with("Unknown("), "it may have been written: {said}");
    }

    #[test]
    fn a_list_goes_on_behind_its_last_key() {
        let list: Call = |store| {
            let mut names = Vec::new();
            store.list("a/", &mut |name, _| names.push(name.to_owned())).map(|()| names.join(" "))
        };
        let part = |key: &str, more| {
            format!(
                r#"{{"header":{{}},"kvs":[{{"key":"{}","value":""}}],"more":{more}}}"#,
                base64(&format!("/txid/{key}"))
            )
        };
        let (said, heard) = call("", &[(200, &part("a/1", true)), (200, &part("a/2", false))], list);
        assert_eq!(said, "a/1 a/2");
        for (heard, first) in heard.iter().zip(["/txid/a/", "/txid/a/1\0"]) {
            let asked: Value = serde_json::from_str(heard.strip_prefix("POST /v3/kv/range ").unwrap()).unwrap();
            assert_eq!(asked, json!({ "key": base64(first), "range_end": base64("/txid/a0"), "limit": 2048 }));
        }
    }

    /// A new token may help once.
    #[test]
    fn a_login_is_tried_again_when_its_token_is_refused() {
        const BAD: (u16, &str) = (401, r#"{"error":"invalid auth token"}"#);
        const NONE: (u16, &str) = (200, r#"{"header":{}}"#);
        let login = r#"POST /v3/auth/authenticate {"name":"u","password":"word"}"#;
        let range = format!(r#"{{"key":"{}"}}"#, base64("/txid/a"));
        let with = |token: &str| format!("POST /v3/kv/range {token}{range}");
        let token = |token: &str| (200, format!(r#"{{"token":"{token}"}}"#));
        let (one, two) = (token("one"), token("two"));
        let (one, two) = ((one.0, &*one.1), (two.0, &*two.1));
        let both: Call = |store| READ(store).and_then(|_| READ(store));
        for (answers, asked, wanted) in [
            (vec![one, NONE, NONE], vec![login, &with("one "), &with("one ")], "None"),
            (vec![one, NONE, BAD, two, NONE], vec![login, &with("one "), &with("one "), login, &with("two ")], "None"),
            (
                vec![one, BAD],
                vec![login, &with("one ")],
                "etcd://u@127.0.0.1:PORT refused: it refused the token that it had just issued",
            ),
            (
                vec![(400, r#"{"error":"etcdserver: authentication is not enabled"}"#), NONE, NONE],
                vec![login, &with(""), &with("")],
                "None",
            ),
            (
                vec![(400, r#"{"error":"etcdserver: authentication failed"}"#)],
                vec![login],
                "etcd://u@127.0.0.1:PORT refused: etcdserver: authentication failed; give the user as etcd://USER@HOST and the \
                 password as TXID_STORE_PASSWORD or ?password-file=FILE",
            ),
        ] {
            let (said, heard) = call("u:word@", &answers, both);
            assert_eq!((&*said, heard.iter().map(|it| &**it).collect::<Vec<_>>()), (wanted, asked));
        }
    }

    /// Its metrics take 150 KB.
    #[test]
    fn a_quota_is_asked_for_once() {
        const METRICS: (u16, &str) = (200, "etcd_server_quota_backend_bytes 8e+06\n");
        let room: Call = |store| Ok(format!("{:?} {:?}", store.room()?, store.room()?));
        let status = "POST /v3/maintenance/status {}";
        let known = |used, quota| format!("{0:?} {0:?}", Some(Room { used, quota }));
        let of = |size: &'static str| (200, size);
        for (answers, asked, wanted) in [
            (vec![of("{}"), of("{}")], vec![status, status], "None None".to_owned()),
            (
                vec![of(r#"{"dbSize":"9000","dbSizeInUse":"7"}"#), METRICS, of(r#"{"dbSize":"7"}"#)],
                vec![status, "GET /metrics", status],
                known(7, 8_000_000),
            ),
            (
                vec![of(r#"{"dbSize":"4194304"}"#), (404, "no"), of(r#"{"dbSize":"4194304"}"#)],
                vec![status, "GET /metrics", status],
                known(4_194_304, 2 << 30),
            ),
        ] {
            let (said, heard) = call("", &answers, room);
            assert_eq!((said, heard.iter().map(|it| &**it).collect::<Vec<_>>()), (wanted, asked));
        }
    }

    #[test]
    fn a_quota_is_a_metric() {
        let metrics = "# TYPE etcd_server_quota_backend_bytes gauge\netcd_server_quota_backend_bytes 2.147483648e+09\n";
        let of = |bytes| quota(&format!("etcd_server_quota_backend_bytes {bytes}\n"));
        assert_eq!(
            [quota(metrics), quota("404 page not found"), of("0"), of("1")],
            [Some(2 << 30), None, None, Some(1)]
        );
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
}
