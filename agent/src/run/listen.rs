//! `--listen`: metrics and probes over HTTP, in a thread of their own.

use super::event::Event;
use crate::args::Listen;
use crate::subcommand::{metrics, status};
use anyhow::Context;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{self, DirBuilder};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// Connections at a time. One more ends the oldest, so that slow ones keep no probe out.
const MOST: usize = 64;
/// How long a connection may last.
const TO_ANSWER: Duration = Duration::from_secs(5);
/// How long the main thread may take for what it does between two events.
const TO_TURN: Duration = Duration::from_secs(2);

/// A socket that nobody answers yet.
pub enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// What answers are made from.
#[derive(Clone)]
struct Agent {
    dir: PathBuf,
    events: Sender<Event>,
}

impl Socket {
    pub fn bind(address: &Listen) -> anyhow::Result<Self> {
        let context = || format!("--listen {address}");
        match address {
            Listen::Tcp(address) => {
                let socket = TcpListener::bind(address).with_context(context)?;
                socket.set_nonblocking(true).with_context(context)?;
                Ok(Self::Tcp(socket))
            }
            Listen::Unix(path) => {
                if let Some(directory) = path.parent() {
                    DirBuilder::new().recursive(true).mode(0o750).create(directory).with_context(context)?;
                }
                // An agent that was killed has left it.
                let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
                let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
                if is_socket && UnixStream::connect(path).err().is_some_and(refused) {
                    fs::remove_file(path).with_context(context)?;
                }
                let socket = UnixListener::bind(path).with_context(context)?;
                socket.set_nonblocking(true).with_context(context)?;
                Ok(Self::Unix(socket))
            }
        }
    }

    /// Answers from now on, with what is in `dir`, and what the main thread says.
    pub fn serve(self, dir: PathBuf, events: Sender<Event>) -> anyhow::Result<()> {
        let agent = Agent { dir, events };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("txid-listen".into()).spawn(move || {
            runtime.block_on(async {
                let served = match self {
                    Self::Tcp(socket) => accept_tcp(socket, &agent).await,
                    Self::Unix(socket) => accept_unix(socket, &agent).await,
                };
                served.unwrap_or_else(|error| super::journal::say(&format!("--listen: {error}")));
            });
        })?;
        Ok(())
    }
}

async fn accept_tcp(socket: TcpListener, agent: &Agent) -> io::Result<()> {
    let socket = tokio::net::TcpListener::from_std(socket)?;
    let mut open = VecDeque::new();
    loop {
        take(&mut open, socket.accept().await, agent).await;
    }
}

async fn accept_unix(socket: UnixListener, agent: &Agent) -> io::Result<()> {
    let socket = tokio::net::UnixListener::from_std(socket)?;
    let mut open = VecDeque::new();
    loop {
        take(&mut open, socket.accept().await, agent).await;
    }
}

/// Answers a connection beside the others.
async fn take<S, A>(open: &mut VecDeque<AbortHandle>, accepted: io::Result<(S, A)>, agent: &Agent)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Ok((stream, _)) = accepted else {
        // There are no more files, for a while.
        return sleep(Duration::from_millis(100)).await;
    };
    open.retain(|connection| !connection.is_finished());
    if open.len() == MOST {
        open.pop_front().iter().for_each(AbortHandle::abort);
    }
    let agent = agent.clone();
    let connection = async move {
        let service = service_fn(move |request| {
            let agent = agent.clone();
            async move { Ok::<_, Infallible>(agent.answer(&request).await) }
        });
        let mut http = http1::Builder::new();
        http.keep_alive(false).max_buf_size(8 << 10).timer(TokioTimer::new()).header_read_timeout(TO_ANSWER);
        let _ = timeout(TO_ANSWER, http.serve_connection(TokioIo::new(stream), service)).await;
    };
    open.push_back(tokio::spawn(connection).abort_handle());
}

impl Agent {
    async fn answer(&self, request: &Request<Incoming>) -> Response<String> {
        let text = "text/plain; charset=utf-8";
        let (status, kind, body) = match request.uri().path() {
            _ if ![Method::GET, Method::HEAD].contains(request.method()) => {
                (StatusCode::METHOD_NOT_ALLOWED, text, "GET or HEAD\n".to_owned())
            }
            "/metrics" => {
                let accepts = |value: &hyper::header::HeaderValue| {
                    value.to_str().is_ok_and(|value| value.contains("application/openmetrics-text"))
                };
                let shown = status::metrics(&self.dir);
                if request.headers().get_all(ACCEPT).iter().any(accepts) {
                    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                    (StatusCode::OK, kind, metrics::open_metrics(&shown))
                } else {
                    (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", shown)
                }
            }
            "/healthz" | "/readyz" => match self.turn().await {
                None => (StatusCode::SERVICE_UNAVAILABLE, text, "the agent does not answer itself\n".to_owned()),
                Some(missing) if request.uri().path() == "/readyz" && !missing.is_empty() => {
                    (StatusCode::SERVICE_UNAVAILABLE, text, format!("not live: {}\n", missing.join(", ")))
                }
                Some(_) => (StatusCode::OK, text, "ok\n".to_owned()),
            },
            _ => (StatusCode::NOT_FOUND, text, "/metrics, /healthz or /readyz\n".to_owned()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
        response
    }

    /// What is not live, by the main thread; None if that does not turn.
    async fn turn(&self) -> Option<Vec<String>> {
        let (sender, answer) = oneshot::channel();
        self.events.send(Event::Asked(sender)).ok()?;
        timeout(TO_TURN, answer).await.ok()?.ok()
    }
}
