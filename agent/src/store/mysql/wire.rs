//! The protocol of MySQL and MariaDB, as far as one statement at a time needs it: login, TLS, `COM_QUERY` and rows of
//! texts.

use std::io;

use super::super::cell::Value;
use super::super::limits::{MOST_RECORDS, Room};
use super::super::sql::Answer;
use super::password;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const LONGEST_PACKET: u32 = 0xff_ffff;

/// Our tables have fewer.
const MOST_COLUMNS: u64 = 64;

const LONG_PASSWORD: u32 = 1;
/// An UPDATE reports how many rows it found, even if they already have the new value.
const FOUND_ROWS: u32 = 1 << 1;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;

/// `utf8mb4_general_ci`.
const COLLATION: u8 = 45;

/// What went wrong.
#[derive(Debug)]
pub(super) enum Error {
    /// The server says so.
    Server {
        code: u16,
        message: String,
    },
    /// It asks for the whole password, and there is no TLS.
    InClear,
    Io(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What the server says first.
#[derive(Debug)]
pub(super) struct Greeting {
    capabilities: u32,
    scramble: Vec<u8>,
    plugin: Vec<u8>,
}

pub(super) struct Login<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub database: &'a str,
}

/// A connection that reads and writes packets.
pub(super) struct Connection<S> {
    pub stream: S,
    sequence: u8,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, sequence: 0 }
    }

    /// Carries the connection on over what `stream` makes of the stream.
    pub(super) async fn over<E>(self, stream: impl AsyncFnOnce(S) -> Result<S, E>) -> Result<Self, E> {
        Ok(Self { stream: stream(self.stream).await?, sequence: self.sequence })
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Error> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).await?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        self.sequence = header[3].wrapping_add(1);
        // Not allocated before it is there: the server's word is not enough.
        let mut packet = Vec::new();
        (&mut self.stream).take(length.into()).read_to_end(&mut packet).await?;
        if packet.len() != length as usize {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        match packet.first() {
            Some(0xff) => Err(server_error(&packet)),
            Some(_) => Ok(packet),
            None => Err(wrong("an empty packet")),
        }
    }

    async fn send(&mut self, payload: &[u8]) -> Result<(), Error> {
        // One of this length would be followed by another.
        let length = u32::try_from(payload.len()).ok().filter(|length| *length < LONGEST_PACKET);
        let length = length.ok_or_else(|| wrong("a statement that is too long"))?.to_le_bytes();
        let mut packet = vec![length[0], length[1], length[2], self.sequence];
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&packet).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads what the server says first.
    pub(super) async fn greeting(&mut self) -> Result<Greeting, Error> {
        let packet = self.receive().await?;
        Greeting::parse(&packet).ok_or_else(|| wrong("its greeting is not one"))
    }

    /// Asks for TLS. If the server has it, the stream continues with it.
    pub(super) async fn ask_for_tls(&mut self, greeting: &Greeting) -> Result<bool, Error> {
        if greeting.capabilities & SSL == 0 {
            return Ok(false);
        }
        self.send(&head(CAPABILITIES | SSL)).await?;
        Ok(true)
    }

    /// Logs in. The whole password goes only over TLS: without it, somebody between the hosts may ask for it, and a key to
    /// encrypt it with would be theirs.
    pub(super) async fn log_in(&mut self, greeting: &Greeting, login: &Login<'_>, is_tls: bool) -> Result<(), Error> {
        let mut plugin = match greeting.plugin.as_slice() {
            CACHING_SHA2 => CACHING_SHA2.to_vec(),
            _ => NATIVE.to_vec(),
        };
        let mut scramble = greeting.scramble.clone();
        let first = proof(&plugin, login.password, &scramble).unwrap_or_default();
        let mut response = head(CAPABILITIES | if is_tls { SSL } else { 0 });
        response.extend_from_slice(login.user.as_bytes());
        response.push(0);
        response.push(first.len() as u8);
        response.extend_from_slice(&first);
        response.extend_from_slice(login.database.as_bytes());
        response.push(0);
        response.extend_from_slice(&plugin);
        response.push(0);
        self.send(&response).await?;
        // No login has more packets.
        for _ in 0..6 {
            let packet = self.receive().await?;
            match (packet[0], &packet[1..]) {
                (0x00, _) => return Ok(()),
                (0xfe, rest) => {
                    let mut parts = rest.splitn(2, |byte| *byte == 0);
                    plugin = parts.next().unwrap_or_default().to_vec();
                    scramble = parts.next().unwrap_or_default().to_vec();
                    if scramble.last() == Some(&0) {
                        scramble.pop();
                    }
                    match proof(&plugin, login.password, &scramble) {
                        Some(proof) => self.send(&proof).await?,
                        None if plugin == SHA256 || plugin == CLEAR => self.send_password(login, is_tls).await?,
                        None => {
                            let why = format!(
                                "the user's password is of the kind {}; this client knows mysql_native_password, \
                                 caching_sha2_password, sha256_password and mysql_clear_password",
                                String::from_utf8_lossy(&plugin)
                            );
                            return Err(io::Error::new(io::ErrorKind::Unsupported, why).into());
                        }
                    }
                }
                // The server knows the password already.
                (0x01, [0x03]) => {}
                (0x01, [0x04]) => self.send_password(login, is_tls).await?,
                _ => return Err(wrong("its answer to the login is not one")),
            }
        }
        Err(wrong("its login does not end"))
    }

    async fn send_password(&mut self, login: &Login<'_>, is_tls: bool) -> Result<(), Error> {
        if !is_tls {
            return Err(Error::InClear);
        }
        self.send(&[login.password.as_bytes(), &[0]].concat()).await
    }

    /// Runs one statement.
    pub(super) async fn query(&mut self, statement: &str) -> Result<Answer, Error> {
        self.sequence = 0;
        self.send(&[&[0x03], statement.as_bytes()].concat()).await?;
        let packet = self.receive().await?;
        let mut rest = &packet[..];
        if packet[0] == 0 {
            rest = &rest[1..];
            let done = number(&mut rest).zip(number(&mut rest)).ok_or_else(|| wrong("a result that is cut off"))?;
            return Ok(Answer { affected: done.0, last_id: done.1, rows: Vec::new() });
        }
        let columns = number(&mut rest).filter(|columns| (1..=MOST_COLUMNS).contains(columns) && rest.is_empty());
        let columns = columns.ok_or_else(|| wrong("a number of columns that cannot be"))?;
        for _ in 0..columns {
            self.receive().await?;
        }
        if !is_end(&self.receive().await?) {
            return Err(wrong("columns without an end"));
        }
        let mut rows = Vec::new();
        let mut room = Room::default();
        loop {
            let packet = self.receive().await?;
            if is_end(&packet) {
                return Ok(Answer { rows, ..Answer::default() });
            }
            if rows.len() == MOST_RECORDS {
                return Err(wrong("more rows than there can be"));
            }
            room.take(0)?;
            rows.push(row(&packet, columns, &mut room)?.ok_or_else(|| wrong("a row that is cut off"))?);
        }
    }
}

const CAPABILITIES: u32 =
    LONG_PASSWORD | FOUND_ROWS | CONNECT_WITH_DB | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;

/// What a request for TLS and a login begin with.
fn head(capabilities: u32) -> Vec<u8> {
    let mut bytes = capabilities.to_le_bytes().to_vec();
    bytes.extend((1_u32 << 24).to_le_bytes());
    bytes.push(COLLATION);
    bytes.extend([0; 23]);
    bytes
}

const NATIVE: &[u8] = b"mysql_native_password";
const CACHING_SHA2: &[u8] = b"caching_sha2_password";
/// These two want the whole password.
const SHA256: &[u8] = b"sha256_password";
const CLEAR: &[u8] = b"mysql_clear_password";

/// Shows that this client knows the password; None if the method wants more than that, or is not known here.
fn proof(plugin: &[u8], password: &str, scramble: &[u8]) -> Option<Vec<u8>> {
    let password = password.as_bytes();
    match plugin {
        NATIVE => Some(password::native(password, scramble)),
        CACHING_SHA2 => Some(password::caching_sha2(password, scramble)),
        _ => None,
    }
}

impl Greeting {
    fn parse(packet: &[u8]) -> Option<Self> {
        let rest = packet.strip_prefix(&[10])?;
        let version_ends = rest.iter().position(|byte| *byte == 0)?;
        // The number of the connection.
        let rest = rest.get(version_ends + 1 + 4..)?;
        let (first, rest) = rest.split_at_checked(8)?;
        let (low, rest) = rest.get(1..)?.split_at_checked(2)?;
        // The collation and the state.
        let (high, rest) = rest.get(3..)?.split_at_checked(2)?;
        let (&length, rest) = rest.split_first()?;
        let second = (usize::from(length).max(21) - 8).min(rest.get(10..)?.len());
        let (second, plugin) = rest[10..].split_at(second);
        let scramble = [first, second.strip_suffix(&[0]).unwrap_or(second)].concat();
        Some(Self {
            capabilities: u32::from_le_bytes([low[0], low[1], high[0], high[1]]),
            scramble: scramble[..scramble.len().min(20)].to_vec(),
            plugin: plugin.split(|byte| *byte == 0).next().unwrap_or_default().to_vec(),
        })
    }
}

/// Reads a number of a variable length. The first byte of NULL is none.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let (&first, after) = rest.split_first()?;
    let length = match first {
        0..=0xfa => 0,
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return None,
    };
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    if length == 0 {
        return Some(first.into());
    }
    let mut number = [0; 8];
    number[..length].copy_from_slice(bytes);
    Some(u64::from_le_bytes(number))
}

/// None if it is cut off.
fn row(mut packet: &[u8], columns: u64, room: &mut Room) -> io::Result<Option<Vec<Value>>> {
    let mut values = Vec::new();
    for _ in 0..columns {
        let value = match packet.strip_prefix(&[0xfb]) {
            Some(rest) => {
                packet = rest;
                None
            }
            None => {
                let length = number(&mut packet).and_then(|length| usize::try_from(length).ok());
                let parts = length.and_then(|length| packet.split_at_checked(length));
                let Some((value, rest)) = parts else { return Ok(None) };
                packet = rest;
                Some(value)
            }
        };
        room.take(value.map_or(0, <[u8]>::len))?;
        values.push(value.map(<[u8]>::to_vec));
    }
    Ok(packet.is_empty().then_some(values))
}

/// The packet that ends columns or rows.
fn is_end(packet: &[u8]) -> bool {
    packet[0] == 0xfe && packet.len() < 9
}

/// The code, a state of five letters, and a sentence.
fn server_error(packet: &[u8]) -> Error {
    let code = packet.get(1..3).map_or(0, |code| u16::from_le_bytes([code[0], code[1]]));
    let message = packet.get(3..).unwrap_or_default();
    let message = if message.first() == Some(&b'#') { message.get(6..).unwrap_or_default() } else { message };
    Error::Server { code, message: String::from_utf8_lossy(&message[..message.len().min(500)]).into_owned() }
}

fn wrong(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned()).into()
}

/// A text as a literal that needs no escapes, whatever the server's mode is.
pub(super) fn literal(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb4 x'{hex}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A connection on which the server has sent these packets.
    fn run<T>(
        packets: &[u8],
        work: impl AsyncFnOnce(&mut Connection<tokio::io::Join<&[u8], tokio::io::Sink>>) -> T,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stream = tokio::io::join(packets, tokio::io::sink());
        runtime.block_on(work(&mut Connection::new(stream)))
    }

    fn packets(payloads: &[Vec<u8>]) -> Vec<u8> {
        let packet = |payload: &Vec<u8>| [&(payload.len() as u32).to_le_bytes()[..3], &[0], payload].concat();
        payloads.iter().flat_map(packet).collect()
    }

    /// An answer with two columns.
    fn rows(rows: &[[Option<Vec<u8>>; 2]]) -> Vec<u8> {
        let value = |value: &Option<Vec<u8>>| match value {
            None => vec![0xfb],
            Some(bytes) => [&[0xfc], &(bytes.len() as u16).to_le_bytes()[..], bytes].concat(),
        };
        let mut payloads = vec![vec![2], b"column".to_vec(), b"column".to_vec(), vec![0xfe, 0, 0, 0, 0]];
        payloads.extend(rows.iter().map(|[first, second]| [value(first), value(second)].concat()));
        payloads.push(vec![0xfe, 0, 0, 0, 0]);
        packets(&payloads)
    }

    const LOGIN: Login<'_> = Login { user: "txid", password: "the-password", database: "ids" };

    fn try_all(bytes: &[u8]) {
        let _ = run(bytes, async |connection| connection.query("SELECT 1").await);
        for is_tls in [false, true] {
            let _ = run(bytes, async |connection| {
                let greeting = connection.greeting().await?;
                connection.log_in(&greeting, &LOGIN, is_tls).await
            });
        }
    }

    fn greeting() -> Vec<u8> {
        let mut bytes = b"\x0a8.0.36\0\x01\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\xff\x15".to_vec();
        bytes.extend([0; 10]);
        bytes.extend(b"ijklmnopqrst\0caching_sha2_password\0");
        bytes
    }

    proptest! {
        #[test]
        fn rows_are_read_back(sent in prop::collection::vec(any::<[Option<Vec<u8>>; 2]>(), 0..5)) {
            let answer = run(&rows(&sent), async |connection| connection.query("SELECT 1").await).unwrap();
            prop_assert_eq!(answer.rows, sent.into_iter().map(Vec::from).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in any::<Vec<u8>>(), payloads: Vec<Vec<u8>>) {
            try_all(&bytes);
            try_all(&packets(&payloads));
            try_all(&packets(&[vec![greeting()], payloads].concat()));
        }

        #[test]
        fn a_changed_answer_is_one_or_an_error(
            sent in prop::collection::vec(any::<[Option<Vec<u8>>; 2]>(), 0..3),
            at in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            for mut bytes in [rows(&sent), packets(&[greeting(), vec![1, 3], vec![0, 0, 0, 2, 0, 0, 0]])] {
                let at = at.index(bytes.len());
                bytes[at] = byte;
                try_all(&bytes);
                try_all(&bytes[..at]);
            }
        }
    }

    #[test]
    fn a_login_sends_what_the_server_asks_for() {
        const OTHER: &str = "the user's password is of the kind client_ed25519; this client knows mysql_native_password, \
                             caching_sha2_password, sha256_password and mysql_clear_password";
        let asks = |plugin: &str| [b"\xfe", plugin.as_bytes(), b"\0ABCDEFGHIJKLMNOPQRST\0"].concat();
        let password = [LOGIN.password.as_bytes(), &[0]].concat();
        let native = password::native(LOGIN.password.as_bytes(), b"ABCDEFGHIJKLMNOPQRST");
        let sha2 = password::caching_sha2(LOGIN.password.as_bytes(), b"ABCDEFGHIJKLMNOPQRST");
        // As the greeting wants it.
        let first = password::caching_sha2(LOGIN.password.as_bytes(), b"abcdefghijklmnopqrst");
        let first = [b"txid\0\x20", &first[..], b"ids\0caching_sha2_password\0"].concat();
        for (asked, is_tls, wanted) in [
            // The server knows the password already.
            (vec![vec![1, 3]], false, Ok(vec![])),
            (vec![asks("caching_sha2_password"), vec![1, 3]], false, Ok(sha2)),
            (vec![asks("mysql_native_password")], false, Ok(native)),
            (vec![vec![1, 4]], true, Ok(password.clone())),
            (vec![asks("mysql_clear_password")], true, Ok(password.clone())),
            (vec![asks("sha256_password")], true, Ok(password)),
            (vec![asks("sha256_password")], false, Err("InClear")),
            (vec![vec![1, 4]], false, Err("InClear")),
            // Whatever it makes of the password, it does not get it.
            (vec![asks("client_ed25519")], true, Err(OTHER)),
        ] {
            let shown = asked.concat().escape_ascii().to_string();
            let answers = packets(&[vec![greeting()], asked, vec![vec![0, 0, 0, 2, 0, 0, 0]]].concat());
            let mut sent = Vec::new();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let result = runtime.block_on(async {
                let mut connection = Connection::new(tokio::io::join(&answers[..], &mut sent));
                let greeting = connection.greeting().await?;
                connection.log_in(&greeting, &LOGIN, is_tls).await
            });
            let (login, sent) = sent.split_at(4 + usize::from(sent[0]));
            assert!(login.ends_with(&first), "{}", login.escape_ascii());
            // Flags, packets of 16 MB, and utf8mb4.
            let flags = if is_tls { 0xaa } else { 0xa2 };
            assert!(login[4..].starts_with(&[0x0b, flags, 8, 0, 0, 0, 0, 1, 45]), "{}", login.escape_ascii());
            match (result, wanted) {
                // After the head of a packet, whose number follows the server's: here, 0.
                (Ok(()), Ok(wanted)) => {
                    assert_eq!(sent.get(4..).unwrap_or_default(), wanted, "{shown}");
                    assert!(login[3] == 1 && sent.get(3).is_none_or(|&number| number == 1), "{shown}");
                }
                (Err(error), Err(wanted)) => {
                    assert!(sent.is_empty() && format!("{error:?}").contains(wanted), "{shown}: {error:?}");
                }
                (result, _) => panic!("{shown}: {result:?}"),
            }
        }
    }

    /// The server's word on the length of a packet, and on when a login ends, is not enough.
    #[test]
    fn what_is_no_login_is_an_error() {
        let (known, asks) = (vec![1, 3], b"\xfemysql_native_password\0salt\0".to_vec());
        let longest = format!("message: \"{}\" }}", "x".repeat(500));
        for (payloads, wanted) in [
            (vec![], "kind: UnexpectedEof"),
            (vec![vec![]], "an empty packet"),
            (vec![b"\x09old\0".to_vec()], "its greeting is not one"),
            (vec![b"\xff\x10\x04Too many".to_vec()], "Server { code: 1040, message: \"Too many\" }"),
            (vec![b"\xff".to_vec()], "Server { code: 0, message: \"\" }"),
            (vec![[&b"\xff\x10\x04#HY000"[..], &[b'x'; 501]].concat()], longest.as_str()),
            (vec![greeting(), vec![1, 2]], "its answer to the login is not one"),
            (vec![greeting(), vec![1, 3, 3]], "its answer to the login is not one"),
            (
                vec![greeting(), asks.clone(), asks.clone(), known.clone(), known.clone(), known.clone(), vec![0]],
                "Ok(())",
            ),
            (
                vec![greeting(), asks.clone(), asks, known.clone(), known.clone(), known.clone(), known],
                "its login does not end",
            ),
        ] {
            let result = run(&packets(&payloads), async |connection| {
                let greeting = connection.greeting().await?;
                connection.log_in(&greeting, &LOGIN, true).await
            });
            assert!(format!("{result:?}").contains(wanted), "{payloads:?}: {result:?}");
        }
        let cut = run(&packets(&[greeting()])[..9], async |connection| connection.greeting().await).unwrap_err();
        assert!(matches!(&cut, Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof), "{cut:?}");
    }

    #[test]
    fn a_request_for_tls_is_the_head_of_a_login() {
        let mut sent = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (capabilities, wanted) in [(u32::MAX, true), (u32::MAX - SSL, false)] {
            let greeting = Greeting { capabilities, ..Greeting::parse(&greeting()).unwrap() };
            let mut connection = Connection::new(tokio::io::join(tokio::io::empty(), &mut sent));
            assert_eq!(runtime.block_on(connection.ask_for_tls(&greeting)).unwrap(), wanted);
        }
        assert_eq!(sent, [&[32, 0, 0, 0, 0x0b, 0xaa, 8, 0, 0, 0, 0, 1, 45][..], &[0; 23]].concat(), "one of them asks");
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        let end = || vec![0xfe, 0, 0, 0, 0];
        for (payloads, wanted) in [
            (vec![vec![0, 1]], "a result that is cut off"),
            (vec![vec![0]], "a result that is cut off"),
            (vec![vec![0xfb]], "a number of columns that cannot be"),
            // As many as there may be.
            (vec![vec![64]], "UnexpectedEof"),
            (vec![vec![65]], "a number of columns that cannot be"),
            (vec![vec![1, 1]], "a number of columns that cannot be"),
            (vec![vec![1], b"column".to_vec(), b"another".to_vec()], "columns without an end"),
            (vec![vec![1], b"column".to_vec(), end(), b"\x02a".to_vec()], "a row that is cut off"),
            (vec![vec![1], b"column".to_vec(), end(), b"\x01ab".to_vec()], "a row that is cut off"),
        ] {
            let error = run(&packets(&payloads), async |connection| connection.query("SELECT 1").await).unwrap_err();
            assert!(format!("{error:?}").contains(wanted), "{payloads:?}: {error:?}");
        }
        let many =
            |count| packets(&[vec![vec![1], b"column".to_vec(), end()], vec![vec![0]; count], vec![end()]].concat());
        let read = |count| run(&many(count), async |connection| connection.query("SELECT 1").await);
        assert_eq!(read(MOST_RECORDS).unwrap().rows.len(), MOST_RECORDS);
        assert!(format!("{:?}", read(MOST_RECORDS + 1)).contains("more rows than there can be"));
        // The longest length of one byte.
        let long = [&[0xfa][..], &[b'x'; 0xfa]].concat();
        let answer = packets(&[vec![1], b"column".to_vec(), end(), long, end()]);
        let answer = run(&answer, async |connection| connection.query("SELECT 1").await).unwrap();
        assert_eq!(answer.rows, [[Some(vec![b'x'; 0xfa])]]);
        // A length of eight bytes begins as an end does.
        let row = [&[0xfe][..], &[0; 8]].concat();
        let answer = packets(&[vec![1], b"column".to_vec(), end(), row, end()]);
        let answer = run(&answer, async |connection| connection.query("SELECT 1").await).unwrap();
        assert_eq!(answer.rows, [[Some(vec![])]]);
    }

    /// A longer statement would need another packet.
    #[test]
    fn a_statement_fits_into_a_packet() {
        let mut statement = "x".repeat((1 << 24) - 3);
        let done = packets(&[vec![0, 1, 2]]);
        run(&done, async |connection| connection.query(&statement).await).unwrap();
        statement.push('x');
        let error = run(&done, async |connection| connection.query(&statement).await).unwrap_err();
        assert!(format!("{error:?}").contains("a statement that is too long"), "{error:?}");
    }

    #[test]
    fn a_greeting_and_a_result() {
        let greeting = Greeting::parse(&greeting()).unwrap();
        assert_eq!((greeting.scramble, greeting.plugin), (b"abcdefghijklmnopqrst".to_vec(), CACHING_SHA2.to_vec()));
        let done = packets(&[vec![0, 1, 0xfd, 1, 2, 3, 2, 0, 0, 0]]);
        let answer = run(&done, async |connection| connection.query("UPDATE t").await).unwrap();
        assert_eq!(answer, Answer { affected: 1, last_id: 0x03_0201, rows: Vec::new() });
        let failed = packets(&[b"\xff\x26\x04#23000Duplicate".to_vec()]);
        let error = run(&failed, async |connection| connection.query("UPDATE t").await).unwrap_err();
        assert!(matches!(&error, Error::Server { code: 1062, message } if message == "Duplicate"), "{error:?}");
    }
}
