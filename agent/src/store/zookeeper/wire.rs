//! The protocol of ZooKeeper, as far as records need it: packets with a length, and fields in a fixed order.

use std::io;
use std::time::Duration;

use super::super::limits::Room;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Errors of the server, by ZooKeeper's own names.
pub(super) const UNIMPLEMENTED: i32 = -6;
pub(super) const BAD_ARGUMENTS: i32 = -8;
pub(super) const NO_NODE: i32 = -101;
pub(super) const NO_AUTH: i32 = -102;
pub(super) const BAD_VERSION: i32 = -103;
pub(super) const NODE_EXISTS: i32 = -110;
pub(super) const INVALID_ACL: i32 = -114;
pub(super) const AUTH_FAILED: i32 = -115;
pub(super) const NOT_READ_ONLY: i32 = -119;
pub(super) const QUOTA_EXCEEDED: i32 = -125;

/// The result of a request in a multi that failed because another one did.
const OTHER_FAILED: i32 = -2;

const AUTH: i32 = -4;
/// Numbers of packets that are no answers: watches and pings.
const NO_ANSWERS: [i32; 2] = [-1, -2];

/// What went wrong.
#[derive(Debug)]
pub(super) enum Error {
    /// The server says so, with this code.
    Server(i32),
    Io(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The state of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stat {
    pub mtime: i64,
    pub version: i32,
}

/// Who may access a new record.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Anyone,
    Creator,
}

/// A request: its operation, and its fields.
pub(super) struct Request(i32, Vec<u8>);

impl Request {
    pub(super) fn sync(path: &str) -> Self {
        Self(9, Fields::default().text(path).0)
    }

    pub(super) fn children(path: &str) -> Self {
        Self(8, Fields::default().text(path).flag(false).0)
    }

    pub(super) fn data(path: &str) -> Self {
        Self(4, Fields::default().text(path).flag(false).0)
    }

    /// `is_numbered` lets the server add a number of ten digits to the path.
    pub(super) fn create(path: &str, data: &[u8], access: Access, is_numbered: bool) -> Self {
        let (scheme, id) = match access {
            Access::Anyone => ("world", "anyone"),
            Access::Creator => ("auth", ""),
        };
        const ALL: i32 = 31;
        let fields = Fields::default().text(path).bytes(data).number(1).number(ALL).text(scheme).text(id);
        Self(1, fields.number(if is_numbered { 2 } else { 0 }).0)
    }

    /// Any version is -1.
    pub(super) fn set_data(path: &str, data: &[u8], version: i32) -> Self {
        Self(5, Fields::default().text(path).bytes(data).number(version).0)
    }

    pub(super) fn check(path: &str, version: i32) -> Self {
        Self(13, Fields::default().text(path).number(version).0)
    }

    /// Does all or nothing.
    pub(super) fn all(requests: &[Self]) -> Self {
        Self::several(14, requests)
    }

    /// Reads all; each has an answer of its own. Since 3.6.
    pub(super) fn reads(requests: &[Self]) -> Self {
        Self::several(22, requests)
    }

    fn several(kind: i32, requests: &[Self]) -> Self {
        let mut fields = Fields::default();
        for Self(operation, body) in requests {
            fields = fields.number(*operation).flag(false).number(-1);
            fields.0.extend_from_slice(body);
        }
        Self(kind, fields.number(-1).flag(true).number(-1).0)
    }
}

/// Fields of a packet, in their order.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn number(mut self, number: i32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn long(mut self, number: i64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn flag(mut self, flag: bool) -> Self {
        self.0.push(flag.into());
        self
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let mut fields = self.number(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        fields.0.extend_from_slice(bytes);
        fields
    }

    fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }
}

/// An answer whose fields are read in their order.
#[derive(Debug)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    at: usize,
}

impl Answer {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<i64> {
        Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A length of -1 is an empty value.
    fn bytes(&mut self) -> Option<Vec<u8>> {
        match self.number()? {
            -1 => Some(Vec::new()),
            length => Some(self.take(usize::try_from(length).ok()?)?.to_vec()),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, Error> {
        self.bytes().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| wrong("a text"))
    }

    pub(super) fn texts(&mut self) -> Result<Vec<String>, Error> {
        let count = self.number().ok_or_else(|| wrong("a list"))?;
        // Not allocated before it is there: the server's word is not enough.
        let mut room = Room::default();
        let mut texts = Vec::new();
        for _ in 0..count {
            let text = self.text()?;
            room.take(text.len())?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// A record's content and state.
    pub(super) fn record(&mut self) -> Result<(Vec<u8>, Stat), Error> {
        let bytes = self.bytes().ok_or_else(|| wrong("a record"))?;
        Ok((bytes, self.stat()?))
    }

    pub(super) fn stat(&mut self) -> Result<Stat, Error> {
        let mut stat = || {
            // The transactions of its making and of its last change, and the time of its making.
            self.take(3 * 8)?;
            let stat = Stat { mtime: self.long()?, version: self.number()? };
            // What children, permissions, owner, and lengths there are.
            self.take(2 * 4 + 8 + 2 * 4 + 8)?;
            Some(stat)
        };
        stat().ok_or_else(|| wrong("the state of a record"))
    }

    /// The operation of the next part of an answer to several requests; None at the end.
    fn next_part(&mut self) -> Result<Option<i32>, Error> {
        let head = self.number().zip(self.take(1).map(|done| done[0] != 0)).zip(self.number());
        let ((operation, is_done), _) = head.ok_or_else(|| wrong("the answer to several requests"))?;
        Ok(Some(operation).filter(|_| !is_done))
    }

    /// The next part of the answer to [`Request::reads`], whose fields are then read; or the error of that read.
    pub(super) fn next_read(&mut self) -> Result<&mut Self, Error> {
        match self.next_part()? {
            Some(-1) => Err(self.number().map_or_else(|| wrong("an error"), Error::Server)),
            Some(_) => Ok(self),
            None => Err(wrong("the answer to several reads")),
        }
    }

    /// The last state in the answer to [`Request::all`], if it contains one; or the error of the request that failed.
    pub(super) fn all(&mut self) -> Result<Option<Stat>, Error> {
        let (mut last, mut failed) = (None, None);
        while let Some(operation) = self.next_part()? {
            match operation {
                1 => drop(self.text()?),
                5 => last = Some(self.stat()?),
                13 => {}
                -1 => match self.number().ok_or_else(|| wrong("an error"))? {
                    0 | OTHER_FAILED => {}
                    code => failed = Some(code),
                },
                _ => return Err(wrong("the answer to several requests")),
            }
        }
        failed.map_or(Ok(last), |code| Err(Error::Server(code)))
    }
}

/// A connection with its session.
pub(super) struct Connection<S> {
    pub stream: S,
    next: i32,
    /// When the server forgets the session of a silent client.
    pub session: Duration,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Begins a session. `auth` is a name and a password.
    pub(super) async fn begin(stream: S, session: Duration, auth: Option<&str>) -> Result<Self, Error> {
        let mut connection = Self { stream, next: 1, session };
        let session_ms = i32::try_from(session.as_millis()).unwrap_or(i32::MAX);
        let hello = Fields::default().number(0).long(0).number(session_ms).long(0).bytes(&[0; 16]).flag(false);
        connection.send(&[hello.0]).await?;
        let mut answer = connection.receive().await?;
        let granted = answer.number().and_then(|_| answer.number()).ok_or_else(|| wrong("a session"))?;
        connection.session = Duration::from_millis(u64::try_from(granted).unwrap_or(0));
        if let Some(auth) = auth {
            let packet = Fields::default().number(AUTH).number(100).number(0).text("digest").text(auth);
            connection.send(&[packet.0]).await?;
            connection.answer(AUTH).await??;
        }
        Ok(connection)
    }

    /// Sends all requests at once, and returns the answer to each.
    pub(super) async fn ask(&mut self, requests: &[Request]) -> Result<Vec<Result<Answer, Error>>, Error> {
        let first = self.next;
        self.next = first.checked_add_unsigned(requests.len() as u32).unwrap_or(1);
        let numbered = |(number, Request(operation, body)): (i32, &Request)| {
            let mut packet = Fields::default().number(number).number(*operation).0;
            packet.extend_from_slice(body);
            packet
        };
        let packets: Vec<_> = (first..).zip(requests).map(numbered).collect();
        self.send(&packets).await?;
        let mut answers = Vec::new();
        for number in (first..).take(requests.len()) {
            answers.push(self.answer(number).await?);
        }
        Ok(answers)
    }

    async fn send(&mut self, packets: &[Vec<u8>]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for packet in packets {
            bytes = Fields(bytes).bytes(packet).0;
        }
        self.stream.write_all(&bytes).await?;
        Ok(self.stream.flush().await?)
    }

    async fn receive(&mut self) -> Result<Answer, Error> {
        let length = self.stream.read_i32().await?;
        let length = u64::try_from(length).map_err(|_| wrong("a length below 0"))?;
        let mut bytes = Vec::new();
        (&mut self.stream).take(length).read_to_end(&mut bytes).await?;
        if bytes.len() as u64 == length { Ok(Answer { bytes, at: 0 }) } else { Err(closed()) }
    }

    async fn answer(&mut self, wanted: i32) -> Result<Result<Answer, Error>, Error> {
        loop {
            let mut answer = self.receive().await?;
            let head = answer.number().zip(answer.long()).zip(answer.number());
            let ((number, _), code) = head.ok_or_else(|| wrong("an answer that is cut off"))?;
            if number == wanted {
                return Ok(if code == 0 { Ok(answer) } else { Err(Error::Server(code)) });
            }
            if !NO_ANSWERS.contains(&number) {
                return Err(wrong("an answer to another request"));
            }
        }
    }
}

fn closed() -> Error {
    io::Error::from(io::ErrorKind::UnexpectedEof).into()
}

fn wrong(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it does not speak the protocol of ZooKeeper: {what}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn try_all(bytes: &[u8]) {
        let answer = || Answer { bytes: bytes.to_vec(), at: 0 };
        let _ = answer().text();
        let _ = answer().texts();
        let _ = answer().record();
        let _ = answer().all();
        let mut reads = answer();
        while reads.next_read().and_then(Answer::record).is_ok() {}
        let stream = || tokio::io::join(bytes, tokio::io::sink());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _ = runtime.block_on(Connection::begin(stream(), Duration::from_secs(1), Some("a:b")));
        let mut connection = Connection { stream: stream(), next: 1, session: Duration::ZERO };
        let _ = runtime.block_on(connection.ask(&[Request::sync("/a"), Request::data("/a")]));
    }

    fn stat(mtime: i64, version: i32) -> Vec<u8> {
        let fields = Fields::default().long(1).long(2).long(3).long(mtime).number(version).number(0).number(0);
        fields.long(0).number(0).number(0).long(0).0
    }

    proptest! {
        #[test]
        fn fields_are_read_back(texts: Vec<String>, data: Vec<u8>, mtime: i64, version: i32) {
            let count = Fields::default().number(texts.len() as i32);
            let bytes = texts.iter().fold(count, |fields, text| fields.text(text)).0;
            prop_assert_eq!(Answer { bytes, at: 0 }.texts().unwrap(), texts);
            let bytes = [Fields::default().bytes(&data).0, stat(mtime, version)].concat();
            prop_assert_eq!(Answer { bytes, at: 0 }.record().unwrap(), (data, Stat { mtime, version }));
        }

        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes: Vec<u8>, count in 0..4_i32) {
            try_all(&bytes);
            try_all(&Fields::default().number(count).bytes(&bytes).0);
        }

        #[test]
        fn a_changed_answer_is_one_or_an_error(at in any::<prop::sample::Index>(), byte: u8, mtime: i64) {
            let set = [Fields::default().number(5).flag(false).number(0).0, stat(mtime, 1)].concat();
            let end = Fields::default().number(-1).flag(true).number(-1).0;
            let all = [Fields::default().number(13).flag(false).number(0).0, set, end].concat();
            let whole = Answer { bytes: all.clone(), at: 0 }.all().unwrap();
            prop_assert_eq!(whole, Some(Stat { mtime, version: 1 }));
            let packet = [Fields::default().number(1).long(9).number(0).0, all].concat();
            let mut bytes = Fields::default().bytes(&packet).0;
            let at = at.index(bytes.len());
            bytes[at] = byte;
            try_all(&bytes);
            try_all(&bytes[..at]);
        }
    }

    #[test]
    fn a_record_without_bytes_is_empty() {
        let bytes = [Fields::default().number(-1).0, stat(5, 1)].concat();
        assert_eq!(Answer { bytes, at: 0 }.record().unwrap(), (Vec::new(), Stat { mtime: 5, version: 1 }));
        let bytes = [Fields::default().number(-2).0, stat(5, 1)].concat();
        assert!(Answer { bytes, at: 0 }.record().is_err());
    }

    #[test]
    fn requests_in_the_bytes_of_zookeeper() {
        let (path, data): (&[u8], &[u8]) = (b"\0\0\0\x02/a", b"\0\0\0\x01d");
        let anyone: &[u8] = b"\0\0\0\x01\0\0\0\x1f\0\0\0\x05world\0\0\0\x06anyone\0\0\0\0";
        let creator: &[u8] = b"\0\0\0\x01\0\0\0\x1f\0\0\0\x04auth\0\0\0\0\0\0\0\x02";
        for (Request(operation, bytes), wanted, body) in [
            (Request::sync("/a"), 9, vec![path]),
            (Request::children("/a"), 8, vec![path, &[0]]),
            (Request::data("/a"), 4, vec![path, &[0]]),
            (Request::create("/a", b"d", Access::Anyone, false), 1, vec![path, data, anyone]),
            (Request::create("/a", b"d", Access::Creator, true), 1, vec![path, data, creator]),
            (Request::set_data("/a", b"d", -1), 5, vec![path, data, &[0xff; 4]]),
            (Request::reads(&[]), 22, vec![&b"\xff\xff\xff\xff\x01\xff\xff\xff\xff"[..]]),
        ] {
            assert_eq!((operation, bytes), (wanted, body.concat()));
        }
        let refused = [NO_AUTH, INVALID_ACL, AUTH_FAILED, QUOTA_EXCEEDED, UNIMPLEMENTED, BAD_ARGUMENTS, NOT_READ_ONLY];
        assert_eq!(refused, [-102, -114, -115, -125, -6, -8, -119]);
        assert_eq!([NO_NODE, BAD_VERSION, NODE_EXISTS, OTHER_FAILED], [-101, -103, -110, -2]);
    }

    /// It is not allocated before it is there, and says what is missing.
    #[test]
    fn what_is_cut_off_is_an_error() {
        let why = |wanted: &str, result: Result<(), Error>| {
            let Err(Error::Io(error)) = result else { panic!("{wanted}: {result:?}") };
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert_eq!(error.to_string(), format!("it does not speak the protocol of ZooKeeper: {wanted}"));
        };
        let of = |fields: Fields| Answer { bytes: fields.0, at: 0 };
        let nothing = || of(Fields::default());
        let part = |operation, is_done| Fields::default().number(operation).flag(is_done).number(0);
        why("a text", nothing().text().map(drop));
        why("a text", of(Fields::default().bytes(b"\xff")).text().map(drop));
        why("a text", of(Fields::default().number(1)).texts().map(drop));
        why("a list", nothing().texts().map(drop));
        why("a record", nothing().record().map(drop));
        why("the state of a record", nothing().stat().map(drop));
        why("the state of a record", of(Fields(stat(1, 1)[1..].to_vec())).stat().map(drop));
        why("the answer to several requests", nothing().all().map(drop));
        why("the answer to several requests", of(part(7, false)).all().map(drop));
        why("the answer to several requests", nothing().next_read().map(|_| ()));
        why("the answer to several reads", of(part(-1, true)).next_read().map(|_| ()));
        why("an error", of(part(-1, false)).all().map(drop));
        why("an error", of(part(-1, false)).next_read().map(|_| ()));
        let talk = |packet: &[u8]| {
            let stream = tokio::io::join(std::io::Cursor::new(packet.to_vec()), tokio::io::sink());
            let mut connection = Connection { stream, next: 1, session: Duration::ZERO };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(connection.ask(&[Request::sync("/a")])).map(drop)
        };
        why("a length below 0", talk(&[0xff; 4]));
        why("an answer that is cut off", talk(&[0, 0, 0, 2, 0, 0]));
        let Err(Error::Io(error)) = talk(&[0, 0, 0, 2, 0]) else { panic!("it is whole") };
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_session_begins_with_a_login() {
        let greeting = Fields::default().number(0).number(4_000).long(9).bytes(&[0; 16]).0;
        let login = |code| Fields::default().number(AUTH).long(0).number(code).0;
        let begin = |auth, code| {
            let packets = [greeting.clone(), login(code)].map(|packet| Fields::default().bytes(&packet).0).concat();
            let mut sent = Vec::new();
            let stream = tokio::io::join(std::io::Cursor::new(packets), &mut sent);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let begun = runtime.block_on(Connection::begin(stream, Duration::from_secs(40), auth)).map(drop);
            (format!("{begun:?}"), sent)
        };
        let hello = [
            b"\0\0\0\x2d".to_vec(),
            vec![0; 12],
            b"\0\0\x9c\x40".to_vec(),
            vec![0; 8],
            b"\0\0\0\x10".to_vec(),
            vec![0; 17],
        ];
        let auth = b"\0\0\0\x1d\xff\xff\xff\xfc\0\0\0\x64\0\0\0\0\0\0\0\x06digest\0\0\0\x03a:b";
        assert_eq!(begin(None, 0), ("Ok(())".to_owned(), hello.concat()));
        assert_eq!(begin(Some("a:b"), 0), ("Ok(())".to_owned(), [&hello.concat()[..], auth].concat()));
        assert_eq!(begin(Some("a:b"), AUTH_FAILED).0, "Err(Server(-115))");
    }

    /// ZooKeeper's own client sends these bytes.
    #[test]
    fn several_requests_are_one() {
        let body = b"\x00\x00\x00\x0d\x00\xff\xff\xff\xff\x00\x00\x00\x02/a\x00\x00\x00\x05";
        let end = b"\xff\xff\xff\xff\x01\xff\xff\xff\xff";
        let Request(operation, bytes) = Request::all(&[Request::check("/a", 5)]);
        assert_eq!((operation, bytes), (14, [&body[..], end].concat()));
    }

    #[test]
    fn each_request_has_a_number_of_its_own() {
        let stream = tokio::io::join(tokio::io::empty(), tokio::io::sink());
        let mut connection = Connection { stream, next: 1, session: Duration::ZERO };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asked = runtime.block_on(connection.ask(&[Request::sync("/a"), Request::data("/a")]));
        assert!(asked.is_err() && connection.next == 3);
    }

    #[test]
    fn a_session_lasts_as_long_as_the_server_grants() {
        let greeting = Fields::default().number(0).number(4_000).long(9).bytes(&[0; 16]).0;
        let packet = Fields::default().bytes(&greeting).0;
        let stream = tokio::io::join(std::io::Cursor::new(packet), tokio::io::sink());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let connection = runtime.block_on(Connection::begin(stream, Duration::from_secs(40), None)).unwrap();
        assert_eq!(connection.session, Duration::from_secs(4));
    }

    /// Messages of the server's own, or about the login, may come in between.
    #[test]
    fn an_answer_is_of_the_request_that_was_sent() {
        let packet = |number, code| Fields::default().bytes(&Fields::default().number(number).long(9).number(code).0).0;
        let ask = |packets: &[Vec<u8>]| {
            let stream = tokio::io::join(std::io::Cursor::new(packets.concat()), tokio::io::sink());
            let mut connection = Connection { stream, next: 1, session: Duration::ZERO };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(connection.ask(&[Request::sync("/a")])).map(|mut answers| answers.pop().unwrap())
        };
        let [first, second] = NO_ANSWERS;
        let found = ask(&[packet(first, 0), packet(second, 0), packet(1, 0)]);
        assert!(matches!(found, Ok(Ok(_))), "{:?}", found.err());
        assert!(matches!(ask(&[packet(first, 0), packet(1, NO_NODE)]), Ok(Err(Error::Server(NO_NODE)))));
        let Err(Error::Io(error)) = ask(&[packet(2, 0), packet(1, 0)]) else { panic!("it takes another answer") };
        assert!(error.to_string().contains("an answer to another request"), "{error}");
    }

    /// Also before another answer, which begins where it ends.
    #[test]
    fn a_state_is_read_to_its_end() {
        let head = |operation| Fields::default().number(operation).flag(false).number(0).0;
        let end = Fields::default().number(-1).flag(true).number(-1).0;
        let bytes = [head(5), stat(7, 1), head(13), end].concat();
        assert_eq!(Answer { bytes, at: 0 }.all().unwrap(), Some(Stat { mtime: 7, version: 1 }));
    }

    #[test]
    fn of_several_requests_the_one_that_failed_counts() {
        let failed = |code| Fields::default().number(-1).flag(false).number(code).number(code);
        let end = Fields::default().number(-1).flag(true).number(-1).0;
        let bytes = [failed(0).0, failed(BAD_VERSION).0, failed(OTHER_FAILED).0, end].concat();
        let error = Answer { bytes, at: 0 }.all().unwrap_err();
        assert!(matches!(error, Error::Server(BAD_VERSION)), "{error:?}");
    }
}
