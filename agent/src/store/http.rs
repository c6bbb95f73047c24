//! Requests to a server that speaks JSON over HTTP: etcd's gateway and Consul.

use std::error::Error;
use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use hyper::body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, DATE, HOST, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::clock::{Asked, Seen, StoreClock};
use super::failure::Failure;
use super::remote::{Driver, Kind, Link, Remote, causes};
use super::tls::Tls;
use super::url::{Host, StoreUrl};
use super::wire::{Budget, Wire};

/// The most memory that the head of an answer takes.
const LARGEST_HEAD: usize = 64 << 10;

/// The hosts of one store, and the connections to them.
#[derive(Clone)]
pub(super) struct Http {
    address: Address,
    tls: Option<Tls>,
    remote: Remote<Connection>,
    pub(super) clock: StoreClock,
}

/// A connection on which one request is sent after the other.
struct Connection {
    sender: SendRequest<String>,
    driver: Driver,
    budget: Budget,
}

impl Link for Connection {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.driver.poll_end(cx)
    }
}

/// An answer, whatever its status.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
}

impl Answer {
    /// The body; None if it is not JSON of this kind. Fields that nobody asks for take no memory.
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

/// A request, whichever host gets it.
struct Question<'a> {
    method: &'a str,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: &'a str,
}

impl Http {
    pub(super) fn new(url: &StoreUrl) -> Result<Self, StoreError> {
        Ok(Self {
            remote: Remote::new(&url.address, url.hosts.clone())?,
            address: url.address.clone(),
            tls: url.tls.clone(),
            clock: StoreClock::default(),
        })
    }

    /// Begins a call: from now on, all requests together may take the store's time-out.
    pub(super) fn begin(&mut self) {
        self.remote.begin();
    }

    /// Sends one request to the first host that answers it with a status below 500.
    pub(super) fn send(
        &mut self,
        kind: Kind,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, Failure> {
        let question = &Question { method, path, headers, body };
        let connect =
            async |host: &Host| self.begin_on(host, Wire::connect(&self.address, host, self.tls.as_ref()).await?).await;
        let sent = self.remote.call(kind, connect, async |host, connection| self.ask(host, connection, question).await);
        let (answer, seen) = sent?;
        if let Some(seen) = seen {
            self.clock.saw(seen);
        }
        Ok(answer)
    }

    async fn begin_on(&self, host: &Host, wire: Wire) -> Result<Connection, StoreError> {
        let budget = wire.budget();
        let begun = http1::Builder::new().max_buf_size(LARGEST_HEAD).handshake(TokioIo::new(wire)).await;
        let (sender, connection) = begun.map_err(|error| self.meaning(host, &error).into_error())?;
        Ok(Connection { sender, driver: Driver::new(connection.unwrap_or_else(drop)), budget })
    }

    /// Sends one request on a connection.
    async fn ask(
        &self,
        host: &Host,
        connection: &mut Connection,
        question: &Question<'_>,
    ) -> Result<(Answer, Option<Seen>), Failure> {
        let mut request = Request::builder().method(question.method).uri(question.path);
        request = request.header(HOST, host.to_string()).header(USER_AGENT, "txid-agent");
        if !question.body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in question.headers {
            request = request.header(*name, *value);
        }
        let request = request.body(question.body.to_owned());
        let request = request.map_err(|error| Failure::NotDone(self.address.misconfigured(error)))?;
        let Connection { sender, driver, budget } = connection;
        budget.renew();
        let asked_at = Asked::now();
        let asked = driver.drive(async {
            sender.ready().await?;
            let mut response = sender.send_request(request).await?;
            let mut body = Vec::new();
            while let Some(frame) = poll_fn(|cx| Pin::new(&mut response).poll_frame(cx)).await {
                body.extend_from_slice(frame?.data_ref().map_or(&[], |data| data));
            }
            Ok((response, body))
        });
        let (response, body) = asked.await.map_err(|error| self.meaning(host, &error))?;
        let text = String::from_utf8(body).map_err(|error| Failure::Unknown(self.address.damaged(error)))?;
        let (status, seen) = (response.status().as_u16(), time(&response).map(|ms| asked_at.shows(ms, 1000)));
        // It has no leader, or no answer from it in time: the request may have been received.
        match status {
            500.. => Err(Failure::Unknown(self.address.unreachable(format_args!("{host}: status {status}: {text}")))),
            _ => Ok((Answer { status, text }, seen)),
        }
    }

    /// The meaning of an error, and whether the request was sent.
    fn meaning(&self, host: &Host, error: &hyper::Error) -> Failure {
        let address = &self.address;
        let at = |why: &dyn Display| Failure::Unknown(address.unreachable(format_args!("{host}: {why}")));
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        if let Some(io) = io {
            return match io.kind() {
                // How rustls reports that it does not accept the other side, or that the other side does not accept this.
                io::ErrorKind::InvalidData if io.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
                    Failure::NotDone(address.misconfigured(io))
                }
                io::ErrorKind::InvalidData => Failure::Unknown(address.damaged(io)),
                io::ErrorKind::UnexpectedEof => at(&"it closed the connection"),
                _ => at(io),
            };
        }
        if error.is_parse() {
            return Failure::Unknown(address.misconfigured(format_args!(
                "the server does not speak HTTP{}: {}",
                if self.tls.is_some() { "S" } else { ", or it requires TLS" },
                causes(error)
            )));
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return at(&"it closed the connection");
        }
        if error.is_user() {
            return Failure::NotDone(address.misconfigured(causes(error)));
        }
        at(&causes(error))
    }
}

/// The server's clock. The header has whole seconds, rounded down.
fn time<B>(response: &Response<B>) -> Option<i64> {
    let date = httpdate::parse_http_date(response.headers().get(DATE)?.to_str().ok()?).ok()?;
    Some(date.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as i64)
}

/// An answer as bytes, and what was heard as requests: each as its method, its path, what tells who asks, and its body.
#[cfg(test)]
pub(super) fn answer(status: u16, text: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[cfg(test)]
pub(super) fn requests(heard: &[u8]) -> Vec<String> {
    let mut rest = std::str::from_utf8(heard).unwrap();
    let mut requests = Vec::new();
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let mut lines = head.lines();
        let (what, headers) = (lines.next().unwrap(), lines.collect::<Vec<_>>());
        let header = |name: &str| headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        assert_eq!(header("user-agent"), Some("txid-agent"));
        let (body, after) = after.split_at(header("content-length").map_or(0, |length| length.parse().unwrap()));
        assert_eq!(header("content-type"), (!body.is_empty()).then_some("application/json"));
        let words = [what.strip_suffix(" HTTP/1.1"), header("authorization"), header("x-consul-token"), Some(body)];
        requests.push(words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
        rest = after;
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::super::remote::in_virtual_time;
    use super::*;
    use std::cell::Cell;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex};

    /// What a host does with a connection; None never makes one.
    type Host<'a> = Option<&'a dyn Fn(DuplexStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>;

    /// Sends a request to these hosts. Returns what came of it, how many connections there were, and the number of the host that is
    /// tried first from then on.
    fn send(kind: Kind, hosts: &[Host<'_>]) -> (Result<String, Failure>, usize, usize) {
        let names: Vec<String> = (0..hosts.len()).map(|at| format!("h{at}:1")).collect();
        let mut http = Http::new(&StoreUrl::parse(&format!("etcd://{}", names.join(","))).unwrap()).unwrap();
        let connections = Cell::new(0);
        let number = |host: &super::Host| host.name[1..].parse::<usize>().unwrap();
        let (answer, _) = in_virtual_time(async {
            http.begin();
            let connect = async |host: &super::Host| {
                let Some(behaves) = hosts[number(host)] else { return std::future::pending().await };
                connections.set(connections.get() + 1);
                let (ours, theirs) = duplex(1 << 16);
                tokio::spawn(behaves(theirs));
                Ok(Wire::new(ours))
            };
            let question = Question { method: "POST", path: "/v3/kv/range", headers: &[], body: "{}" };
            let sent = send_with(&http, kind, &question, connect).await;
            sent.map(|(answer, _)| format!("{} {}", answer.status, answer.text))
        });
        (answer, connections.get(), number(&http.remote.first()))
    }

    async fn send_with(
        http: &Http,
        kind: Kind,
        question: &Question<'_>,
        wire: impl AsyncFn(&super::Host) -> Result<Wire, StoreError>,
    ) -> Result<(Answer, Option<Seen>), Failure> {
        let connect = async |host: &super::Host| http.begin_on(host, wire(host).await?).await;
        let ask = async |host: &super::Host, connection: &mut Connection| http.ask(host, connection, question).await;
        http.remote.call_within(kind, connect, ask).await
    }

    #[test]
    fn a_date_has_whole_seconds() {
        let of = |date: &str| time(&Response::builder().header(DATE, date).body(()).unwrap());
        assert_eq!(of("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000));
        assert_eq!([of("Sun"), time(&Response::new(()))], [None; 2]);
    }

    #[test]
    fn a_host_that_closes_the_connection_is_said_to() {
        for (reads, says) in
            [(false, ""), (true, ""), (true, "HTTP/1.1 200"), (true, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")]
        {
            let closes = move |mut stream: DuplexStream| -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
                Box::pin(async move {
                    if reads {
                        let _ = stream.read(&mut [0; 4096]).await;
                        let _ = stream.write_all(says.as_bytes()).await;
                    }
                })
            };
            let error = send(Kind::Write, &[Some(&closes)]).0.unwrap_err().into_error().to_string();
            assert!(error.ends_with("h0:1: it closed the connection"), "{reads} {says:?}: {error}");
        }
    }

    /// A connection that fails once there is a request.
    struct Fails(fn() -> io::Error, bool);

    impl AsyncRead for Fails {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            if self.1 {
                return Poll::Ready(Err((self.0)()));
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }

    impl AsyncWrite for Fails {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.1 = true;
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn an_error_of_tls_is_for_somebody_to_mend() {
        let failure = |error| {
            let mut http = Http::new(&StoreUrl::parse("etcd://h0:1,h1:1").unwrap()).unwrap();
            let question = Question { method: "POST", path: "/", headers: &[], body: "" };
            let hosts = Cell::new(0);
            let connect = async |_: &super::Host| {
                hosts.set(hosts.get() + 1);
                Ok(Wire::new(Fails(error, false)))
            };
            let sent = in_virtual_time(async {
                http.begin();
                send_with(&http, Kind::Write, &question, connect).await
            });
            (sent.0.err().unwrap(), hosts.get())
        };
        let (tls, hosts) = failure(|| io::Error::new(io::ErrorKind::InvalidData, rustls::Error::DecryptError));
        assert!(matches!(tls, Failure::NotDone(StoreError::Misconfigured { .. })));
        assert_eq!(hosts, 2, "the write is not done, so the other host may do it");
        let (other, hosts) = failure(|| io::Error::new(io::ErrorKind::InvalidData, "nonsense"));
        assert!(matches!(other, Failure::Unknown(StoreError::Damaged { .. })) && hosts == 1);
        for ((error, _), wanted) in [
            (failure(|| io::ErrorKind::UnexpectedEof.into()), "h0:1: it closed the connection"),
            (failure(|| io::ErrorKind::ConnectionReset.into()), "h0:1: connection reset"),
        ] {
            assert!(matches!(error, Failure::Unknown(StoreError::Unreachable { .. })));
            let why = error.into_error().to_string();
            assert!(why.ends_with(wanted), "{why}");
        }
    }

    #[test]
    fn what_is_no_answer_is_named() {
        let of = |scheme: &str, texts: &[Vec<u8>]| {
            let (error, _) = super::super::remote::beside(texts, |port| {
                let url = StoreUrl::parse(&format!("{scheme}://127.0.0.1:{port}?timeout=60s")).unwrap();
                let mut http = Http::new(&url).unwrap();
                http.begin();
                let sent = http.send(Kind::Write, "POST", "/a", &[], "{}").err().unwrap();
                let not_done = if matches!(sent, Failure::NotDone(_)) { "not done: " } else { "" };
                format!("{not_done}{}", sent.into_error()).replace(&port.to_string(), "PORT")
            });
            error
        };
        let why = "etcd://127.0.0.1:PORT cannot be used: the server does not speak HTTP, or it requires TLS: invalid HTTP version parsed";
        assert_eq!(of("etcd", &[vec![], b"\x15\x03\x03\0\x02\x02\x16\r\n\r\n".to_vec()]), why);
        let unreachable = "cannot reach etcd://127.0.0.1:PORT: 127.0.0.1:PORT: ";
        assert_eq!(of("etcd", &[vec![], answer(503, "no leader")]), format!("{unreachable}status 503: no leader"));
        assert_eq!(of("etcd", &[vec![], vec![]]), format!("{unreachable}it closed the connection"));
        let damaged = "etcd://127.0.0.1:PORT gave an invalid answer: ";
        let text = b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n\xff\xff".to_vec();
        assert_eq!(of("etcd", &[vec![], text]), format!("{damaged}invalid utf-8 sequence of 1 bytes from index 0"));
        let large = of("etcd", &[vec![], answer(200, &"x".repeat(5 << 20))]);
        assert_eq!(large, format!("{damaged}an answer is larger than 4 MB, or has too many parts"));
        let head = |letters| format!("HTTP/1.1 200 X\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "a".repeat(letters));
        let long = of("etcd", &[vec![], head(200_000).into_bytes()]);
        assert!(long.ends_with("message head is too large"), "{long}");
    }

    /// A server that has lost contact with the others says so with an answer.
    #[test]
    fn after_a_status_of_500_or_more_the_next_access_begins_with_another_host() {
        for (status, wanted) in [(499, Some("499 ")), (500, None), (503, None)] {
            let answers = move |mut stream: DuplexStream| -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
                Box::pin(async move {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                })
            };
            let (answer, connections, first) = send(Kind::Write, &[Some(&answers), None]);
            assert!(
                status < 500 || matches!(answer, Err(Failure::Unknown(StoreError::Unreachable { .. }))),
                "{status}"
            );
            assert_eq!((answer.ok().as_deref(), connections, first), (wanted, 1, usize::from(status >= 500)));
        }
    }
}
