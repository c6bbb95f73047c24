//! Servers that ask for the password in clear, as somebody between the hosts can: whatever the greeting said, nothing
//! but TLS gets it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::certificates;
use super::conformance::{one_line, open};

const PASSWORD: &str = "the-password-in-clear";
const NO_TLS: &str = "password, which only goes over TLS: add ?tls=1 to the URL";

/// A server that lets `talk` speak to each client. Returns its port, and what clients have sent, once each is gone.
fn server(talk: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> (u16, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, sent) = channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut copy = client.try_clone().unwrap();
            let reader = thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = copy.read_to_end(&mut bytes);
                bytes
            });
            let _ = talk(&mut client);
            let sent = reader.join().unwrap();
            if sender.send(sent).is_err() {
                return;
            }
        }
    });
    (port, sent)
}

/// Checks that a client of this URL ends with `wanted`, and has sent `what` or not.
fn ends(url: &str, sent: &Receiver<Vec<u8>>, wanted: &str, has_password: bool) {
    let error = open(url).unwrap().read("any/key").unwrap_err();
    let bytes = sent.recv_timeout(Duration::from_secs(60)).expect("the client does not end");
    let found = bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
    assert_eq!(found, has_password, "{url}: {}", bytes.escape_ascii());
    one_line(&error, wanted);
}

/// A packet of MySQL.
fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32).to_le_bytes()[..3], &[number], payload].concat()
}

/// What a MySQL or MariaDB says first. `plugin` is the kind of password that it wants.
fn greeting(version: &str, plugin: &str) -> Vec<u8> {
    let rest = b"\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\xff\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0";
    packet(0, &[b"\x0a", version.as_bytes(), b"\0", rest, plugin.as_bytes(), b"\0"].concat())
}

#[test]
fn mysql_and_mariadb() {
    let to = |plugin: &str| [b"\xfe", plugin.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat();
    for version in ["8.4.3", "5.5.5-10.11.6-MariaDB"] {
        for greeted in ["mysql_native_password", "caching_sha2_password", "sha256_password", "mysql_clear_password"] {
            for asks in [
                vec![to("mysql_clear_password")],
                vec![to("sha256_password")],
                vec![vec![1, 4]],
                vec![to("caching_sha2_password"), vec![1, 4]],
                vec![to("mysql_native_password"), to("mysql_clear_password")],
                vec![to("mysql_native_password"), vec![1, 4]],
            ] {
                let greeting = greeting(version, greeted);
                let (port, sent) = server(move |client| {
                    client.write_all(&greeting)?;
                    for (at, ask) in (1..).zip(&asks) {
                        client.write_all(&packet(2 * at, ask))?;
                    }
                    // The key with which a client of MySQL's would encrypt the password.
                    client.write_all(&packet(9, &[b"\x01", KEY.as_bytes()].concat()))
                });
                let url = format!("mysql://txid:{PASSWORD}@127.0.0.1:{port}/ids");
                ends(&url, &sent, NO_TLS, false);
            }
        }
    }
}

/// As `ca=` in its URL wants it.
#[test]
fn mysql_over_tls() {
    let directory = tempfile::tempdir().unwrap();
    certificates::write(directory.path());
    let chain = CertificateDer::pem_file_iter(directory.path().join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(directory.path().join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(chain.map(Result::unwrap).collect(), key).unwrap();
    let config = Arc::new(config);
    for asks in [&b"\xfemysql_clear_password\0"[..], b"\xfesha256_password\0abcdefghijklmnopqrst\0", &[1, 4]] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = config.clone();
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut greeting = greeting("8.4.3", "caching_sha2_password");
            let flags = greeting.windows(2).position(|flags| flags == b"\xff\xf7").unwrap();
            greeting[flags + 1] = 0xff;
            client.write_all(&greeting).unwrap();
            client.read_exact(&mut [0; 36]).unwrap();
            let mut connection = ServerConnection::new(config).unwrap();
            let mut client = rustls::Stream::new(&mut connection, &mut client);
            let receive = |client: &mut rustls::Stream<'_, ServerConnection, TcpStream>| {
                let mut head = [0; 4];
                client.read_exact(&mut head).unwrap();
                let mut packet = vec![0; usize::from(head[0])];
                client.read_exact(&mut packet).unwrap();
                packet
            };
            receive(&mut client);
            client.write_all(&packet(3, asks)).unwrap();
            receive(&mut client)
        });
        let ca = directory.path().join("ca.pem");
        let url = format!("mysql://txid:{PASSWORD}@127.0.0.1:{port}/ids?ca={}", ca.display());
        assert!(open(&url).unwrap().read("any/key").is_err(), "this server goes no further");
        assert_eq!(server.join().unwrap(), [PASSWORD.as_bytes(), b"\0"].concat());
    }
}

const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCg78qUlVu3A9PVpmvDAhI3u15p
dXg39rND0PA4/Bg84nW/49dZ8uWnlfpKFmijlszHpz0o7fmyH5tbi1+puZgHillS
Up78O3Z5P/fpDcrQyAUzaAJt9BuvZKLEJc79HoBRi4KX957+gDpRrn7riqvtwtab
BIVMdyW7UOK9Y/bPHQIDAQAB
-----END PUBLIC KEY-----
";

#[test]
fn postgres() {
    // A client that sends the password reads the error behind it.
    const ASKS: &[u8] = b"R\0\0\0\x08\0\0\0\x03E\0\0\0\x1eSERROR\0C57P03\0Mit starts\0\0";
    // All at once, and byte for byte.
    for size in [ASKS.len(), 1] {
        let (port, sent) = server(move |client| {
            client.set_nodelay(true)?;
            ASKS.chunks(size).try_for_each(|piece| client.write_all(piece))
        });
        let url = format!("postgres://txid:{PASSWORD}@127.0.0.1:{port}/ids");
        ends(&url, &sent, NO_TLS, false);
        ends(&format!("{url}?password-in-clear=1"), &sent, "it starts", true);
        ends(&format!("{url}?password-in-clear=0"), &sent, NO_TLS, false);
    }
    // Who has it, and the salt, tries passwords at leisure.
    let (port, sent) = server(move |client| client.write_all(b"R\0\0\0\x0c\0\0\0\x05salt"));
    let url = format!("postgres://txid:{PASSWORD}@127.0.0.1:{port}/ids");
    let error = open(&url).unwrap().read("any/key").unwrap_err();
    one_line(&error, "the MD5 of the password, which only goes over TLS");
    let bytes = sent.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(!bytes.windows(3).any(|part| part == b"md5"), "{}", bytes.escape_ascii());
}
