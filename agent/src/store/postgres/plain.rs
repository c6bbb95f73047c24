//! A connection without TLS, on which no server gets the password as it is, or a hash of it that shows it soon.
//!
//! The driver has no setting for that, and sends the password to whoever asks for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::tls::IN_CLEAR;

/// The codes of messages of the kind `R`.
const LOGGED_IN: [u8; 4] = [0, 0, 0, 0];
const PASSWORD_IN_CLEAR: [u8; 4] = [0, 0, 0, 3];
const PASSWORD_AS_MD5: [u8; 4] = [0, 0, 0, 5];

/// Whoever has it tries millions of passwords in a second.
const AS_MD5: &str = "it asks for the MD5 of the password, which only goes over TLS: add ?tls=1 to the URL, or let the server keep \
                      passwords as scram-sha-256";

/// A stream that ends when the server asks for the password in clear, or for its MD5.
pub(super) struct Plain<S> {
    stream: S,
    login: Login,
}

/// What the server has said so far.
#[derive(Default)]
struct Login {
    /// The kind and the length of a message, and the code after them.
    head: Vec<u8>,
    /// What is left of the message.
    rest: u32,
    is_over: bool,
}

impl Login {
    /// Why the connection ends, if the server asks for the password after these bytes.
    fn wants_password(&mut self, bytes: &[u8]) -> Option<&'static str> {
        for byte in bytes {
            if self.is_over {
                return None;
            }
            if self.rest > 0 {
                self.rest -= 1;
                continue;
            }
            self.head.push(*byte);
            let &[kind, a, b, c, d, ref code @ ..] = &self.head[..] else { continue };
            let length = u32::from_be_bytes([a, b, c, d]);
            if kind != b'R' || length < 8 {
                // The length counts itself.
                self.rest = length.saturating_sub(4);
            } else if code.len() < 4 {
                continue;
            } else if *code == PASSWORD_IN_CLEAR {
                return Some(IN_CLEAR);
            } else if *code == PASSWORD_AS_MD5 {
                return Some(AS_MD5);
            } else {
                self.is_over = *code == LOGGED_IN;
                self.rest = length - 8;
            }
            self.head.clear();
        }
        None
    }
}

impl<S> Plain<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, login: Login::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Plain<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        Poll::Ready(match self.login.wants_password(&buf.filled()[before..]) {
            Some(why) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
            None => Ok(()),
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Plain<S> {
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
    use super::*;
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    const CLEAR: &[u8] = b"R\0\0\0\x08\0\0\0\x03";
    const MD5: &[u8] = b"R\0\0\0\x0c\0\0\0\x05salt";

    proptest! {
        /// After any messages of a login, in pieces of any size.
        #[test]
        fn it_is_found_wherever_it_stands(
            before in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)), 0..5),
            size in 1..20_usize,
        ) {
            let mut bytes = Vec::new();
            for (kind, body) in before {
                let (kind, body) = if kind == b'R' { (b'N', body) } else { (kind, body) };
                bytes.extend([&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), &body].concat());
            }
            bytes.extend(CLEAR);
            let mut login = Login::default();
            let found = bytes.chunks(size).position(|piece| login.wants_password(piece).is_some());
            prop_assert_eq!(found, Some((bytes.len() - 1) / size));
        }

        #[test]
        fn any_bytes_may_come(bytes: Vec<u8>) {
            Login::default().wants_password(&bytes);
        }
    }

    #[test]
    fn only_a_message_of_a_login_asks_for_the_password() {
        let message = |kind: u8, body: &[u8]| [&[kind][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat();
        let wants = |messages: &[&[u8]]| Login::default().wants_password(&messages.concat()).is_some();
        let (notice, other) = (message(b'N', &PASSWORD_IN_CLEAR), message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"));
        assert!(!wants(&[&notice, &other]));
        assert!(wants(&[&notice, &other, CLEAR]));
        assert!(wants(&[&notice, MD5]));
        let why = |message| Login::default().wants_password(message).unwrap();
        assert_eq!(why(CLEAR), IN_CLEAR);
        let as_md5 = "it asks for the MD5 of the password, which only goes over TLS: add ?tls=1 to the URL, or let the server keep \
                      passwords as scram-sha-256";
        assert_eq!(why(MD5), as_md5);
        // A message without a code.
        assert!(wants(&[&message(b'R', b""), CLEAR]));
        assert!(!wants(&[&other, &message(b'R', &LOGGED_IN), CLEAR]), "these are rows");
    }

    #[test]
    fn what_is_written_arrives() {
        let mut plain = Plain::new(tokio::io::BufWriter::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            plain.write_all(b"written").await.unwrap();
            plain.flush().await.unwrap();
        });
        assert_eq!(plain.stream.get_ref(), b"written");
    }

    #[test]
    fn what_follows_a_login_is_not_looked_at() {
        let mut login = Login::default();
        assert!(login.wants_password(b"R\0\0\0\x0c\0\0\0\x0csaltR\0\0\0\x08\0\0\0\0").is_none());
        assert!(login.is_over && login.wants_password(CLEAR).is_none());
    }
}
