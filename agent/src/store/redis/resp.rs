//! The protocol of Redis: commands are arrays of texts, and answers one of five types.

use std::io;

use super::super::limits::Room;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// Our answers have lists in lists, and no more.
const DEEPEST: u8 = 4;

/// The longest line: an error, a number or a short text.
const LONGEST_LINE: u64 = 1 << 16;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Nil,
    Integer(i64),
    Text(Vec<u8>),
    List(Vec<Reply>),
    /// A code such as `NOAUTH`, and a sentence.
    Error(String),
}

/// The bytes of a command.
pub(super) fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend_from_slice(word);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// A connection that sends commands and reads their answers in order.
pub(super) struct Connection<S>(BufReader<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S) -> Self {
        Self(BufReader::new(stream))
    }

    pub(super) fn stream(&self) -> &S {
        self.0.get_ref()
    }

    pub(super) fn stream_mut(&mut self) -> &mut S {
        self.0.get_mut()
    }

    /// Sends all commands, then reads an answer for each.
    pub(super) async fn ask(&mut self, commands: &[Vec<u8>]) -> io::Result<Vec<Reply>> {
        self.0.write_all(&commands.concat()).await?;
        self.0.flush().await?;
        let mut replies = Vec::new();
        for _ in commands {
            replies.push(read(&mut self.0).await?);
        }
        Ok(replies)
    }
}

/// Reads one answer.
pub(super) async fn read<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> io::Result<Reply> {
    read_within(reader, DEEPEST, &mut Room::default()).await
}

async fn read_within<R: AsyncRead + Unpin>(reader: &mut BufReader<R>, depth: u8, room: &mut Room) -> io::Result<Reply> {
    let line = line(reader).await?;
    let (kind, rest) = line.split_at_checked(1).ok_or_else(|| wrong("an empty line"))?;
    room.take(rest.len())?;
    match kind {
        "+" => Ok(Reply::Text(rest.as_bytes().to_vec())),
        "-" => Ok(Reply::Error(rest.to_owned())),
        ":" => rest.parse().map(Reply::Integer).map_err(|_| wrong(&line)),
        "$" => match length(rest).ok_or_else(|| wrong(&line))? {
            None => Ok(Reply::Nil),
            Some(length) => {
                room.take(length)?;
                text(reader, length).await.map(Reply::Text)
            }
        },
        "*" => {
            let Some(count) = length(rest).ok_or_else(|| wrong(&line))? else { return Ok(Reply::Nil) };
            let left = depth.checked_sub(1).ok_or_else(|| wrong("lists in lists in lists"))?;
            room.fits(count)?;
            // Not allocated before it is there: the server's word is not enough.
            let mut list = Vec::new();
            for _ in 0..count {
                list.push(Box::pin(read_within(reader, left, room)).await?);
            }
            Ok(Reply::List(list))
        }
        _ => Err(wrong(&line)),
    }
}

/// A line without its end. Its bytes need not be UTF-8.
async fn line<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> io::Result<String> {
    let mut bytes = Vec::new();
    (&mut *reader).take(LONGEST_LINE).read_until(b'\n', &mut bytes).await?;
    match bytes.strip_suffix(b"\r\n") {
        Some(line) => Ok(String::from_utf8_lossy(line).into_owned()),
        None if bytes.len() as u64 == LONGEST_LINE || bytes.ends_with(b"\n") => {
            Err(wrong(&String::from_utf8_lossy(&bytes)))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

async fn text<R: AsyncRead + Unpin>(reader: &mut BufReader<R>, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut *reader).take(length as u64).read_to_end(&mut bytes).await?;
    let mut end = [0; 2];
    reader.read_exact(&mut end).await?;
    if &end == b"\r\n" { Ok(bytes) } else { Err(wrong("a text without its end")) }
}

/// A length; the inner None is -1, which means that there is nothing.
fn length(text: &str) -> Option<Option<usize>> {
    if text == "-1" { Some(None) } else { text.parse().ok().map(Some) }
}

fn wrong(what: &str) -> io::Error {
    let start: String = what.chars().take(100).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("it does not speak the protocol of Redis: {start:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> io::Result<Reply> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read(&mut BufReader::new(bytes)))
    }

    fn encode(reply: &Reply) -> Vec<u8> {
        match reply {
            Reply::Nil => b"$-1\r\n".to_vec(),
            Reply::Integer(number) => format!(":{number}\r\n").into_bytes(),
            Reply::Text(text) => [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat(),
            Reply::List(list) => {
                let head = format!("*{}\r\n", list.len()).into_bytes();
                list.iter().map(encode).fold(head, |bytes, part| [bytes, part].concat())
            }
            Reply::Error(error) => format!("-{error}\r\n").into_bytes(),
        }
    }

    fn replies() -> impl Strategy<Value = Reply> {
        let one = prop_oneof![
            Just(Reply::Nil),
            any::<i64>().prop_map(Reply::Integer),
            any::<Vec<u8>>().prop_map(Reply::Text),
            "[A-Z]{1,9} [ -~]{0,40}".prop_map(Reply::Error),
        ];
        one.prop_recursive(2, 20, 6, |one| prop::collection::vec(one, 0..6).prop_map(Reply::List))
    }

    proptest! {
        #[test]
        fn what_redis_sends_is_read_back(reply in replies()) {
            prop_assert_eq!(decode(&encode(&reply)).unwrap(), reply);
        }

        #[test]
        fn a_part_of_an_answer_is_none(reply in replies(), end in any::<prop::sample::Index>()) {
            let bytes = encode(&reply);
            prop_assert!(decode(&bytes[..end.index(bytes.len())]).is_err());
        }

        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in any::<Vec<u8>>(), kind in 0..5_usize) {
            let _ = decode(&[&b"+-:$*"[kind..=kind], &bytes].concat());
        }

        #[test]
        fn a_changed_answer_is_one_or_an_error(reply in replies(), at in any::<prop::sample::Index>(), byte: u8) {
            let mut bytes = encode(&reply);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let deep = |lists| [b"*1\r\n".repeat(lists), b":7\r\n".to_vec()].concat();
        assert!(decode(&deep(4)).is_ok());
        let line = |letters| [vec![b'+'], vec![b'x'; letters], b"\r\n".to_vec()].concat();
        assert!(decode(&line((1 << 16) - 3)).is_ok());
        let quoted = |text: &str| format!("it does not speak the protocol of Redis: {text:?}");
        let x = "x".repeat(99);
        // Each of two such lists has room, and both have not.
        let half = [b"*200000\r\n".to_vec(), b":1\r\n".repeat(200_000)].concat();
        let too_many = "an answer is larger than 4 MB, or has too many parts".to_owned();
        assert!(decode(&half).is_ok());
        for (bytes, wanted) in [
            (deep(5), quoted("lists in lists in lists")),
            (b"\r\n".to_vec(), quoted("an empty line")),
            (b"+ok\n".to_vec(), quoted("+ok\n")),
            (b":seven\r\n".to_vec(), quoted(":seven")),
            (b"$-2\r\n".to_vec(), quoted("$-2")),
            (b"*many\r\n".to_vec(), quoted("*many")),
            (b"HTTP/1.1 200\r\n".to_vec(), quoted("HTTP/1.1 200")),
            (b"$1\r\nxyz".to_vec(), quoted("a text without its end")),
            (line((1 << 16) - 2), quoted(&format!("+{x}"))),
            (b"*1000000\r\n".to_vec(), too_many.clone()),
            ([b"*2\r\n".to_vec(), half.clone(), half].concat(), too_many),
        ] {
            let Err(error) = decode(&bytes) else { panic!("no error: {wanted}") };
            assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::InvalidData, wanted));
        }
        for cut in [&b"+ok"[..], b"$3\r\nab", b"$1\r\na", b""] {
            assert_eq!(decode(cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
        let nothing = [&b"*-1\r\n"[..], b"$-1\r\n"].map(|bytes| decode(bytes).unwrap());
        assert_eq!(nothing, [Reply::Nil, Reply::Nil]);
        assert_eq!(command(&[b"GET", b"a\r\nb"]), b"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n");
    }
}
