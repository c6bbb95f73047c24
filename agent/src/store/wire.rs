//! A connection to a server: TCP, TLS, and a limit on what is read for a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::limits::{LARGEST_ANSWER, too_large};
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

/// A connection that reads at most [`LARGEST_ANSWER`] bytes for a request.
pub(super) struct Wire<S> {
    stream: S,
    budget: Budget,
}

pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, budget: Budget) -> Self {
        Self { stream, budget }
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

/// A connection without TLS.
pub(super) async fn tcp(address: &Address, host: &Host) -> Result<TcpStream, StoreError> {
    let connected = match host.at {
        Some(at) => TcpStream::connect((at, host.port)).await,
        None => TcpStream::connect((host.name.as_str(), host.port)).await,
    };
    let stream = connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
    stream.map_err(|error| address.unreachable(format_args!("{host}: {error}")))
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        let total = self.budget.0.fetch_add(read, Ordering::Relaxed) + read;
        Poll::Ready(if total > LARGEST_ANSWER { Err(too_large()) } else { Ok(()) })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
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
    use tokio::io::{AsyncReadExt, join, sink};

    fn run<T>(work: impl Future<Output = T>) -> T {
        in_virtual_time(work).0
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
}
