//! A connection to a server: TCP to the first address that answers, TLS, and a limit on what is read for a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::limits::{LARGEST_ANSWER, too_large};
use super::sent;
use super::tls::Tls;
use super::url::Host;

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
    /// Whether nothing was read since the last request. The first one is counted with the connection.
    is_asking: bool,
}

pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, budget: Budget) -> Self {
        Self { stream, budget, is_asking: true }
    }

    /// Begins a new request.
    pub(super) fn renew(&self) {
        self.budget.renew();
    }

    /// What counts for this connection, for a client that takes it away.
    pub(super) fn budget(&self) -> Budget {
        self.budget.clone()
    }
}

impl<S: AsyncRead + Unpin> Wire<S> {
    /// Ready if the server has ended the connection, or says what nobody has asked for.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(self).poll_read(cx, &mut ReadBuf::new(&mut [0])).map(drop)
    }
}

impl Wire<Transport> {
    /// Connects; with TLS at once if there is `tls`.
    pub(super) async fn connect(address: &Address, host: &Host, tls: Option<&Tls>) -> Result<Self, StoreError> {
        let wire = Self::new(Transport::Plain(tcp(address, host).await?), Budget::default());
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
            sent::add();
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
    let addresses = lookup_host((host.name.as_str(), host.port)).await?.take(MOST_ADDRESSES);
    first(addresses, pause, TcpStream::connect).await
}

/// The first that `connect` connects to.
async fn first<A, C, F: Future<Output = io::Result<C>>>(
    mut addresses: impl Iterator<Item = A>,
    pause: Duration,
    connect: impl Fn(A) -> F,
) -> io::Result<C> {
    let mut tries = FuturesUnordered::new();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = addresses.next();
        let is_last = next.is_none();
        tries.extend(next.map(&connect));
        let ended = match is_last {
            true => tries.next().await,
            false => match timeout(pause, tries.next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            },
        };
        match ended {
            Some(Ok(stream)) => return Ok(stream),
            Some(Err(error)) => failed = error,
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
            sent::add();
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

#[cfg(test)]
mod tests {
    use super::super::remote::in_virtual_time;
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, join, sink};
    use tokio::time::sleep;

    fn run<T>(work: impl Future<Output = T>) -> T {
        in_virtual_time(work).0
    }

    /// Connects to addresses that take these milliseconds each, or for ever. Returns what came of it, and how long it took.
    fn connect(addresses: &[Option<u64>]) -> (Option<u64>, u128) {
        let connect = async |ms: Option<u64>| match ms {
            Some(ms) => {
                sleep(Duration::from_millis(ms)).await;
                Ok(ms)
            }
            None => std::future::pending().await,
        };
        let address = Address::new("here".to_owned());
        let all = first(addresses.iter().copied(), address.timeout / NEXT_ADDRESS, connect);
        let (connected, took) = in_virtual_time(async { timeout(address.timeout, all).await });
        (connected.ok().map(|stream| stream.unwrap()), took.as_millis())
    }

    /// A quarter of a second for each before the next one is tried as well.
    #[test]
    fn an_address_that_is_silent_does_not_hold_up_the_others() {
        assert_eq!(connect(&[Some(7)]), (Some(7), 7));
        assert_eq!(connect(&[None, Some(7)]), (Some(7), 257));
        assert_eq!(connect(&[None, None, Some(7)]), (Some(7), 507));
        // The first one is not given up.
        assert_eq!(connect(&[Some(600), None, None]), (Some(600), 600));
        assert_eq!(connect(&[Some(900), Some(600)]), (Some(600), 850));
        assert_eq!(connect(&[None, None]), (None, 3_000));
    }

    #[test]
    fn an_address_that_refuses_is_not_waited_for() {
        let refuses = async |at: usize| match at {
            0 | 1 => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
            _ => Ok(at),
        };
        let (connected, took) = in_virtual_time(first(0..3, Duration::from_secs(1), refuses));
        assert_eq!((connected.unwrap(), took), (2, Duration::ZERO));
        let (failed, _) = in_virtual_time(first(0..2, Duration::from_secs(1), refuses));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let (failed, _) = in_virtual_time(first(0..0, Duration::from_secs(1), refuses));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::AddrNotAvailable);
    }

    #[test]
    fn each_request_reads_as_much_as_an_answer_has_and_no_more() {
        let half = &[b'x'; LARGEST_ANSWER / 2][..];
        // A piece may come behind another one in the same buffer.
        let bytes = half.chain(half).chain(half).chain(half).chain(&b"x"[..]);
        let mut wire = Wire::new(join(bytes, sink()), Budget::default());
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
        let before = sent::total();
        let mut wire = Wire::new(join(&b"12"[..], BufWriter::new(Vec::new())), Budget::default());
        run(async {
            // The first one is counted with the connection.
            for (is_after_an_answer, count) in [(false, 0), (false, 0), (true, 1), (false, 1), (true, 2)] {
                if is_after_an_answer {
                    wire.read_u8().await.unwrap();
                }
                wire.write_all(b"?").await.unwrap();
                assert_eq!(sent::total() - before, count);
            }
            wire.flush().await.unwrap();
        });
        assert_eq!(wire.stream.writer().get_ref(), b"?????");
    }
}
