//! Calls to a server: a deadline for all of a call, and a limit on what is read for it.
//!
//! One runtime runs in the thread that calls. A client that is not done at the deadline is dropped, and its connection
//! with it.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::limits::{LARGEST_ANSWER, too_large};
use super::sent::Sent;
use super::tls::Tls;
use super::url::Host;

/// Runs the clients of one store.
pub(super) struct Remote {
    address: Address,
    /// Always there, until it is dropped.
    runtime: Option<Runtime>,
    /// When the call must have ended.
    deadline: Instant,
}

impl Remote {
    pub(super) fn new(address: &Address) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            // Only names are looked up in such threads.
            .max_blocking_threads(4)
            .thread_stack_size(256 << 10)
            .build()
            .map_err(|error| address.unreachable(format_args!("cannot start its client: {error}")))?;
        Ok(Self { address: address.clone(), runtime: Some(runtime), deadline: Instant::now() })
    }

    /// Begins a call: from now on, all requests together may take the store's time-out.
    pub(super) fn begin(&mut self) {
        self.deadline = Instant::now() + self.address.timeout;
    }

    /// Waits for an answer until the call must end; None if it does not come.
    pub(super) fn run<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        self.run_until(self.deadline, answer)
    }

    fn run_until<T>(&self, deadline: Instant, answer: impl Future<Output = T>) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        runtime.block_on(async { timeout_at(deadline.into(), answer).await.ok() })
    }

    /// Connects to the first of `hosts` that `connect` accepts.
    ///
    /// A host may use half of the time that is left, the last one all of it: so a silent one does not use up the time
    /// of the others. A host that failed goes to the end of the list.
    pub(super) fn connect<C>(
        &self,
        hosts: &mut [Host],
        connect: impl AsyncFn(&Host) -> Result<C, StoreError>,
    ) -> Result<C, StoreError> {
        let mut errors = Errors::default();
        for others in (0..hosts.len()).rev() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let patience = if others == 0 { left } else { left / 2 };
            match self.run_until(Instant::now() + patience, connect(&hosts[0])) {
                Some(Ok(connection)) => return Ok(connection),
                Some(Err(error)) => errors.add(error),
                None => errors.add(self.address.timed_out()),
            }
            hosts.rotate_left(1);
        }
        Err(errors.worst(&self.address))
    }
}

impl Drop for Remote {
    /// Without waiting for names that are still being looked up.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why each host failed.
#[derive(Default)]
pub(super) struct Errors(Option<StoreError>);

impl Errors {
    /// The one that is kept is the last, or one that somebody must mend.
    pub(super) fn add(&mut self, error: StoreError) {
        if self.0.as_ref().is_none_or(StoreError::may_pass) {
            self.0 = Some(error);
        }
    }

    pub(super) fn worst(self, address: &Address) -> StoreError {
        self.0.unwrap_or_else(|| address.unreachable("there is no host to connect to"))
    }
}

/// Counts what is read for one request.
#[derive(Clone, Default)]
pub(super) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// Begins a new request.
    pub(super) fn renew(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A connection that reads at most [`LARGEST_ANSWER`] bytes for a request, and counts the requests.
pub(super) struct Wire<S> {
    stream: S,
    budget: Budget,
    sent: Sent,
    /// Whether nothing was read since the last request. The first one is counted with the connection.
    is_asking: bool,
}

pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, budget: Budget, sent: Sent) -> Self {
        Self { stream, budget, sent, is_asking: true }
    }

    pub(super) fn renew(&self) {
        self.budget.renew();
    }
}

impl Wire<Transport> {
    /// Connects; with TLS at once if there is `tls`.
    pub(super) async fn connect(address: &Address, host: &Host, tls: Option<&Tls>) -> Result<Self, StoreError> {
        let wire = Self::new(Transport::Plain(tcp(address, host).await?), Budget::default(), address.sent.clone());
        match tls {
            None => Ok(wire),
            Some(tls) => wire.secure(address, host, tls).await,
        }
    }

    /// Continues with TLS.
    pub(super) async fn secure(self, address: &Address, host: &Host, tls: &Tls) -> Result<Self, StoreError> {
        let Transport::Plain(stream) = self.stream else { return Ok(self) };
        let name = ServerName::try_from(host.name.clone())
            .map_err(|error| address.misconfigured(format_args!("{}: {error}", host.name)))?;
        let secured = TlsConnector::from(Arc::new(tls.config(address)?)).connect(name, stream).await;
        let secured = secured.map_err(|error| match error.kind() {
            // How rustls reports that it does not accept the other side.
            io::ErrorKind::InvalidData => address.misconfigured(error),
            _ => address.unreachable(format_args!("{host}: {error}")),
        })?;
        Ok(Self { stream: Transport::Tls(Box::new(secured)), ..self })
    }
}

/// A connection without TLS, to the first address of the host that answers.
pub(super) async fn tcp(address: &Address, host: &Host) -> Result<TcpStream, StoreError> {
    let stream = match any_address(host, address.timeout / NEXT_ADDRESS).await {
        Ok(stream) => {
            address.sent.add();
            stream.set_nodelay(true).map(|()| stream)
        }
        Err(error) => Err(error),
    };
    stream.map_err(|error| address.unreachable(format_args!("{host}: {error}")))
}

/// After this part of the time-out, the next address of a host is tried as well: 250 ms of 3 s, as in RFC 8305.
const NEXT_ADDRESS: u32 = 12;

/// Nobody has more addresses than this.
const MOST_ADDRESSES: usize = 16;

/// Connects to all addresses of the host, each one `pause` after the one before, until one answers.
async fn any_address(host: &Host, pause: Duration) -> io::Result<TcpStream> {
    let mut addresses = lookup_host((host.name.as_str(), host.port)).await?.take(MOST_ADDRESSES);
    let mut tries = JoinSet::new();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = addresses.next();
        let is_last = next.is_none();
        tries.extend(next.map(TcpStream::connect));
        let ended = match is_last {
            true => tries.join_next().await,
            false => match timeout(pause, tries.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            },
        };
        match ended {
            Some(Ok(Ok(stream))) => return Ok(stream),
            Some(Ok(Err(error))) => failed = error,
            Some(Err(error)) => failed = error.into(),
            None => return Err(failed),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        self.is_asking &= read == 0;
        let total = self.budget.0.fetch_add(read, Ordering::Relaxed) + read;
        Poll::Ready(if total > LARGEST_ANSWER { Err(too_large()) } else { Ok(()) })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if !std::mem::replace(&mut self.is_asking, true) {
            self.sent.add();
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// An error with all its causes.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, join, sink};

    fn run<T>(work: impl Future<Output = T>) -> T {
        Builder::new_current_thread().build().unwrap().block_on(work)
    }

    #[test]
    fn nobody_waits_for_a_name_that_is_still_looked_up() {
        let mut address = Address::new("here".to_owned());
        address.timeout = Duration::from_millis(10);
        let mut remote = Remote::new(&address).unwrap();
        remote.begin();
        let looks_up = || std::thread::sleep(Duration::from_secs(30));
        assert!(remote.run(async { tokio::task::spawn_blocking(looks_up).await }).is_none());
        let begin = Instant::now();
        drop(remote);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }

    #[test]
    fn each_request_reads_as_much_as_an_answer_has_and_no_more() {
        let half = &[b'x'; LARGEST_ANSWER / 2][..];
        // A piece may come behind another one in the same buffer.
        let bytes = half.chain(half).chain(half).chain(half).chain(&b"x"[..]);
        let mut wire = Wire::new(join(bytes, sink()), Budget::default(), Sent::default());
        run(async {
            for _ in 0..2 {
                wire.renew();
                wire.read_exact(&mut vec![0; LARGEST_ANSWER]).await.unwrap();
            }
            assert_eq!(wire.read_u8().await.unwrap_err().kind(), io::ErrorKind::InvalidData);
        });
    }

    #[test]
    fn what_is_sent_after_an_answer_is_a_request() {
        let sent = Sent::default();
        let mut wire = Wire::new(join(&b"12"[..], BufWriter::new(Vec::new())), Budget::default(), sent.clone());
        run(async {
            // The first one is counted with the connection.
            for (is_after_an_answer, count) in [(false, 0), (false, 0), (true, 1), (false, 1), (true, 2)] {
                if is_after_an_answer {
                    wire.read_u8().await.unwrap();
                }
                wire.write_all(b"?").await.unwrap();
                assert_eq!(sent.total(), count);
            }
            wire.flush().await.unwrap();
        });
        assert_eq!(wire.stream.writer().get_ref(), b"?????");
    }
}
