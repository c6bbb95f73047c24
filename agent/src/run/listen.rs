//! `--listen`: metrics and probes over HTTP, in a thread of their own.

use super::event::Event;
use crate::args::Listen;
use crate::subcommand::{metrics, status};
use anyhow::Context;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{sleep, timeout};

/// Connections at a time. One more ends the oldest, so that slow ones keep no probe out.
const MOST: usize = 64;
/// How long a connection may last.
const TO_ANSWER: Duration = Duration::from_secs(5);
/// How long the main thread may take for what it does between two events.
const TO_TURN: Duration = Duration::from_secs(2);

/// What answers are made from.
#[derive(Clone)]
struct Agent {
    dir: PathBuf,
    events: Sender<Event>,
}

/// Answers from now on, with what is in `dir`, and what the main thread says.
pub fn serve(address: &Listen, dir: PathBuf, events: Sender<Event>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let agent = Agent { dir, events };
    let thread = thread::Builder::new().name("txid-listen".into());
    match address {
        Listen::Tcp(address) => {
            let socket = runtime.block_on(TcpListener::bind(address)).with_context(|| format!("--listen {address}"))?;
            thread.spawn(move || runtime.block_on(answer_each(async || Ok(socket.accept().await?.0), agent)))?;
        }
        Listen::Unix(path) => {
            let socket = runtime.block_on(async { bind_at(path) });
            let socket = socket.with_context(|| format!("--listen unix:{}", path.display()))?;
            thread.spawn(move || runtime.block_on(answer_each(async || Ok(socket.accept().await?.0), agent)))?;
        }
    }
    Ok(())
}

fn bind_at(path: &Path) -> io::Result<UnixListener> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o750).create(directory)?;
    }
    // An agent that was killed has left it.
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).err().is_some_and(refused) {
        fs::remove_file(path)?;
    }
    UnixListener::bind(path)
}

/// Answers each connection beside the others.
async fn answer_each<S>(accept: impl AsyncFn() -> io::Result<S>, agent: Agent)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok(stream) = accept().await else {
            // There are no more files, for a while.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() == MOST {
            open.pop_front().iter().for_each(AbortHandle::abort);
            // It is closed before the next one is taken.
            yield_now().await;
        }
        let agent = agent.clone();
        let connection = async move {
            let answer = service_fn(|request| async { Ok::<_, Infallible>(agent.answer(request).await) });
            let mut http = http1::Builder::new();
            http.keep_alive(false).max_buf_size(8 << 10);
            let _ = timeout(TO_ANSWER, http.serve_connection(TokioIo::new(stream), answer)).await;
        };
        open.push_back(tokio::spawn(connection).abort_handle());
    }
}

impl Agent {
    async fn answer(&self, request: Request<Incoming>) -> Response<String> {
        const TEXT: &str = "text/plain; charset=utf-8";
        let is_open = |value: &HeaderValue| value.to_str().is_ok_and(|it| it.contains("application/openmetrics-text"));
        let (status, kind, body) = match request.uri().path() {
            _ if ![Method::GET, Method::HEAD].contains(request.method()) => (405, TEXT, "GET or HEAD".to_owned()),
            "/metrics" if request.headers().get_all(ACCEPT).iter().any(is_open) => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                (200, kind, metrics::open_metrics(&status::metrics(&self.dir)))
            }
            "/metrics" => (200, "text/plain; version=0.0.4; charset=utf-8", status::metrics(&self.dir)),
            path @ ("/healthz" | "/readyz") => match self.turn().await {
                None => (503, TEXT, "the agent does not answer itself\n".to_owned()),
                Some(missing) if path == "/readyz" && !missing.is_empty() => {
                    (503, TEXT, format!("not live: {}\n", missing.join(", ")))
                }
                Some(_) => (200, TEXT, "ok\n".to_owned()),
            },
            _ => (404, TEXT, "/metrics, /healthz or /readyz\n".to_owned()),
        };
        let response = Response::builder().status(status).header(CONTENT_TYPE, kind).body(body);
        response.expect("the status and the header are valid")
    }

    /// What is not live, by the main thread; None if that does not turn.
    async fn turn(&self) -> Option<Vec<String>> {
        let (sender, answer) = oneshot::channel();
        self.events.send(Event::Asked(sender)).ok()?;
        timeout(TO_TURN, answer).await.ok()?.ok()
    }
}
