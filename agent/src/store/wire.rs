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

/// Bytes in both directions.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection that reads at most [`LARGEST_ANSWER`] bytes for a request.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    budget: Budget,
}

impl Wire {
    pub(super) fn new(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), budget: Budget::default() }
    }

    /// Carries the connection on over what `wrap` makes of its stream.
    pub(super) fn within<S: Stream + 'static>(self, wrap: impl FnOnce(Box<dyn Stream>) -> S) -> Self {
        Self { stream: Box::new(wrap(self.stream)), ..self }
    }

    /// Begins a new request.
    pub(super) fn renew(&self) {
        self.budget.renew();
    }

    /// What counts for this connection, for a client that takes it away.
    pub(super) fn budget(&self) -> Budget {
        self.budget.clone()
    }

    /// Ready if the server has ended the connection, or says what nobody has asked for.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(self).poll_read(cx, &mut ReadBuf::new(&mut [0])).map(drop)
    }

    /// Connects; with TLS at once if there is `tls`.
    pub(super) async fn connect(address: &Address, host: &Host, tls: Option<&Tls>) -> Result<Self, StoreError> {
        let connected = match host.at {
            Some(at) => TcpStream::connect((at, host.port)).await,
            None => TcpStream::connect((host.name.as_str(), host.port)).await,
        };
        let stream = connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let wire = Self::new(stream.map_err(|error| address.unreachable(format_args!("{host}: {error}")))?);
        match tls {
            None => Ok(wire),
            Some(tls) => wire.secure(address, host, tls).await,
        }
    }

    /// Continues with TLS.
    pub(super) async fn secure(self, address: &Address, host: &Host, tls: &Tls) -> Result<Self, StoreError> {
        let name = ServerName::try_from(host.name.clone())
            .map_err(|error| address.misconfigured(format_args!("{}: {error}", host.name)))?;
        let secured = TlsConnector::from(Arc::new(tls.config(address)?)).connect(name, self.stream).await;
        let secured = secured.map_err(|error| match error.kind() {
            // How rustls reports that it does not accept the other side.
            io::ErrorKind::InvalidData => address.misconfigured(error),
            _ => address.unreachable(format_args!("{host}: {error}")),
        })?;
        Ok(Self { stream: Box::new(secured), budget: self.budget })
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        let total = self.budget.0.fetch_add(read, Ordering::Relaxed) + read;
        Poll::Ready(if total > LARGEST_ANSWER { Err(too_large()) } else { Ok(()) })
    }
}

impl AsyncWrite for Wire {
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

#[cfg(test)]
mod tests {
    use super::super::remote::in_virtual_time;
    use super::*;
    use tokio::io::{AsyncReadExt, join, sink};

    fn run<T>(work: impl Future<Output = T>) -> T {
        in_virtual_time(work).0
    }

    #[test]
    fn a_connection_that_cannot_be_made_names_its_host() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = Address::new("here".to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for at in [None, Some("127.0.0.1".parse().unwrap())] {
            let host = Host { at, ..Host::new("127.0.0.1", free) };
            let error = runtime.block_on(Wire::connect(&address, &host, None)).err().unwrap().to_string();
            let why = format!("cannot reach here: 127.0.0.1:{free}: Connection refused (os error 111)");
            assert_eq!(error, why);
        }
        let wire = Wire::new(join(tokio::io::empty(), sink()));
        let tls = Tls { ca: "/dev/null".into(), identity: None };
        let named = Host::new("a b", 1);
        let error = run(wire.secure(&address, &named, &tls)).err().unwrap().to_string();
        assert_eq!(error, "here cannot be used: a b: invalid dns name");
    }

    #[test]
    fn each_request_reads_as_much_as_an_answer_has_and_no_more() {
        let half = &[b'x'; LARGEST_ANSWER / 2][..];
        // A piece may come behind another one in the same buffer.
        let bytes = half.chain(half).chain(half).chain(half).chain(&b"x"[..]);
        let mut wire = Wire::new(join(bytes, sink()));
        run(async {
            for _ in 0..2 {
                wire.renew();
                wire.read_exact(&mut vec![0; LARGEST_ANSWER]).await.unwrap();
            }
            assert_eq!(wire.read_u8().await.unwrap_err().kind(), io::ErrorKind::InvalidData);
        });
    }
}
