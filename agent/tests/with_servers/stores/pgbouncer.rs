//! PgBouncer in front of PostgreSQL.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;

use super::conformance::{basics, one_line, open, wait_for};
use super::tags;
use crate::servers::{self, POSTGRES_PASSWORD, Server};

fn pgbouncer(behind: u16, mode: &str, more: &str) -> Server {
    let text = format!(
        "[databases]\nids = host=127.0.0.1 port={behind} user=txid password={POSTGRES_PASSWORD}\n[pgbouncer]\nlisten_addr = \
         127.0.0.1\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n{more}\nlisten_port = "
    );
    Server::start(
        |directory| fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap(),
        move |directory, port| {
            let file = directory.join("pgbouncer.ini");
            fs::write(&file, format!("{text}{port}\n")).unwrap();
            let mut command = servers::as_user("postgres", "/usr/sbin/pgbouncer");
            command.arg(file);
            command
        },
    )
}

/// The port of a server that lets nobody in, because it starts.
fn starts() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            _ = client.read(&mut [0; 1000]);
            let fields = b"SFATAL\0C57P03\0Mthe database system is starting up\0\0";
            let length = (fields.len() as u32 + 4).to_be_bytes();
            _ = client.write_all(&[b"E", &length[..], fields].concat());
        }
    });
    port
}

#[test]
fn postgres_behind_pgbouncer() {
    if Command::new("/usr/sbin/pgbouncer").arg("--version").output().is_err() {
        return crate::skipped("pgbouncer is not installed");
    }
    let server = servers::postgres(&[]);
    let url = |proxy: &Server| format!("postgres://anybody@127.0.0.1:{}/ids", proxy.port);

    let refusing = pgbouncer(server.port, "transaction", "");
    let error = open(&url(&refusing)).unwrap().read("any/key").unwrap_err();
    one_line(&error, "PgBouncer needs ignore_startup_parameters = options");

    // A server behind it that starts is one that comes back. That is not said of one that does not exist.
    let proxy = pgbouncer(starts(), "transaction", "ignore_startup_parameters = options");
    let error = open(&format!("{}?timeout=60s", url(&proxy))).unwrap().read("any/key").unwrap_err();
    assert!(error.may_pass(), "{error}");
    one_line(&error, "the database system is starting up");
    let error =
        open(&format!("{}?timeout=60s", url(&proxy).replace("/ids", "/none"))).unwrap().read("any/key").unwrap_err();
    assert!(!error.may_pass(), "{error}");

    for mode in ["session", "transaction", "statement"] {
        servers::run(servers::psql(&server, "ids").args(["-c", "DROP TABLE IF EXISTS txid_lease, leaf_alloc"]));
        // Each statement may get another connection than the last one.
        let proxy = pgbouncer(server.port, mode, "ignore_startup_parameters = options\nserver_round_robin = 1");
        wait_for(&url(&proxy));
        basics(&mut *open(&url(&proxy)).unwrap(), true);
        tags::tags(&url(&proxy));
    }
}
