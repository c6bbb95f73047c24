//! PgBouncer in front of PostgreSQL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use txid_agent_machines::store::StoreError;

use super::conformance::{basics, one_line, open, wait_for};
use super::tags;
use crate::servers::{self, POSTGRES_PASSWORD, Server, until};

fn pgbouncer(behind: &Server, mode: &str, more: &str) -> Server {
    let text = format!(
        "[databases]\nids = host=127.0.0.1 port={} user=txid password={POSTGRES_PASSWORD}\n[pgbouncer]\nlisten_addr = \
         127.0.0.1\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n{more}\nlisten_port = ",
        behind.port
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

#[test]
fn postgres_behind_pgbouncer() {
    if Command::new("/usr/sbin/pgbouncer").arg("--version").output().is_err() {
        return println!("not tested: pgbouncer is not installed");
    }
    let server = servers::postgres(&[]);
    let url = |proxy: &Server| format!("postgres://anybody@127.0.0.1:{}/ids", proxy.port);

    let refusing = pgbouncer(&server, "transaction", "");
    let error = open(&url(&refusing)).unwrap().read("any/key").unwrap_err();
    one_line(&error, "PgBouncer needs ignore_startup_parameters = options");

    // A server behind it that is away, or starts, is one that comes back. That is not said of one that does not exist.
    let mut away = servers::postgres(&[]);
    away.kill();
    let proxy = pgbouncer(&away, "transaction", "ignore_startup_parameters = options\nserver_connect_timeout = 1");
    // The first client waits, and the next one hears of it.
    let error = until("it does not say that its server is away", || {
        let error = open(&format!("{}?timeout=1s", url(&proxy))).unwrap().read("any/key").unwrap_err();
        if matches!(error, StoreError::TimedOut { .. }) { Err(error) } else { Ok(error) }
    });
    assert!(error.may_pass(), "{error}");
    let error =
        open(&format!("{}?timeout=60s", url(&proxy).replace("/ids", "/none"))).unwrap().read("any/key").unwrap_err();
    assert!(!error.may_pass(), "{error}");

    for mode in ["session", "transaction", "statement"] {
        servers::run(servers::psql(&server, "ids").args(["-c", "DROP TABLE IF EXISTS txid_lease, leaf_alloc"]));
        // Each statement may get another connection than the last one.
        let proxy = pgbouncer(&server, mode, "ignore_startup_parameters = options\nserver_round_robin = 1");
        wait_for(&url(&proxy));
        basics(&mut *open(&url(&proxy)).unwrap(), true);
        tags::tags(&url(&proxy));
    }
}
