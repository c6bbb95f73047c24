//! What took an agent down once, or may, from outside: full logs, passwords that are rotated, many leases.

mod reading;
mod systemd;

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::fleet::directory::Directory;
use crate::fleet::host::{agent, signal};
use crate::servers::{self, POSTGRES_PASSWORD, until};
use crate::wait::ended;

const AGENT: &str = env!("CARGO_BIN_EXE_txid-agent");

/// A program that runs the agent.
fn by(program: &str) -> Command {
    let mut command = Command::new(program);
    servers::end_with_the_test(&mut command);
    command
}

/// A log as long as a file may be (`ulimit -f`, `LimitFSIZE=`). The next line ends neither the agent nor the guard. The
/// child has the signal again as the agent got it.
#[test]
fn a_log_that_may_not_grow_ends_nobody() {
    const MOST: usize = 1 << 16;
    let directory = Directory::new();
    let path = |name: &str| directory.path(name);
    let mut log = File::options().create(true).append(true).open(path("log")).unwrap();
    log.write_all("x".repeat(MOST).as_bytes()).unwrap();
    // The child writes more than it may, and then waits for its end. A shell says so where the log is full.
    let line = format!(
        "exec 2> /dev/null; (head -c 100000 /dev/zero > {0}/out); echo $? > {0}/new; mv {0}/new {0}/status; exec sleep 600",
        directory.0.path().display()
    );
    let mut command = by("prlimit");
    command.args([&format!("--fsize={MOST}"), AGENT]).args(directory.line(&["--env", "N={orders}"]));
    command.args(["--", "sh", "-c", &line]).stdin(Stdio::null()).stderr(log);
    let mut agent = command.spawn().unwrap();
    until("the child writes nothing", || {
        let ended = agent.try_wait().unwrap();
        assert!(ended.is_none(), "the agent has ended with {ended:?}");
        path("status").exists()
    });
    assert_eq!(fs::read_to_string(path("status")).unwrap().trim(), (128 + libc::SIGXFSZ).to_string());
    assert_eq!(fs::metadata(path("log")).unwrap().len(), MOST as u64);
    signal(&agent, libc::SIGTERM);
    let ended = ended("the agent does not end", &mut agent);
    assert_eq!((ended.signal(), ended.code()), (None, Some(128 + libc::SIGTERM)), "as its child");
}

/// A connection that was made with the old password goes on. When it ends, the log says why there is no other, until the agent is
/// told to read the new one.
#[test]
fn a_password_that_is_rotated_is_read_again() {
    let server = servers::redis(&["--requirepass", "old"]);
    let directory = Directory::new();
    let (file, word) = (directory.path("agent.toml"), directory.path("password"));
    let write = |password: &str| {
        fs::write(&word, password).unwrap();
        fs::set_permissions(&word, Permissions::from_mode(0o600)).unwrap();
    };
    write("old");
    let store =
        format!("redis://127.0.0.1:{}?may-lose-writes=0&timeout=60s&password-file={}", server.port, word.display());
    let run = directory.path("run");
    fs::write(&file, format!("store = '{store}'\ndir = '{}'\nnodes.orders = 'snowflake'\n", run.display())).unwrap();
    let mut command = agent();
    command.args(["run", "--assume-unused-store", "--lease-time", "12s", "--config"]).arg(&file).stdin(Stdio::null());
    let mut agent = command.stderr(File::create(directory.path("log")).unwrap()).spawn().unwrap();
    let renewals = || {
        let status: serde_json::Value =
            serde_json::from_slice(&directory.status(&["--json"]).stdout).unwrap_or_default();
        status["renewals"].as_u64().unwrap_or(0)
    };
    let goes_on = || {
        let before = renewals();
        until("it does not renew", || renewals() > before);
    };
    goes_on();
    let redis = |password: &str, args: &[&str]| {
        let port = server.port.to_string();
        servers::run(Command::new("redis-cli").args(["-p", &port, "--no-auth-warning", "-a", password]).args(args))
    };
    redis("old", &["CONFIG", "SET", "requirepass", "new"]);
    goes_on();
    redis("new", &["CLIENT", "KILL", "TYPE", "normal"]);
    directory.says("refused: the password, or the user, is wrong");
    write("new");
    signal(&agent, libc::SIGHUP);
    directory.says("SIGHUP: goes by the file as it is now");
    goes_on();
    signal(&agent, libc::SIGTERM);
    ended("the agent does not end", &mut agent);
    assert!(directory.log().contains("gave node"), "{}", directory.log());
}

/// Twenty leases and twenty segments. `TXID_AGENT` is another agent to compare with.
#[test]
fn forty_leases_and_segments_share_two_connections() {
    let server = servers::postgres(&["fsync=on"]);
    let directory = tempfile::tempdir().unwrap();
    let mut command = agent();
    let store = format!("postgres://txid@127.0.0.1:{}/ids?timeout=60s", server.port);
    command
        .env("TXID_STORE_PASSWORD", POSTGRES_PASSWORD)
        .args(["run", "--assume-unused-store", "--create", "--store", &store])
        .args(["--dir"]);
    command.arg(directory.path()).stdin(Stdio::null()).stderr(Stdio::null());
    for number in 0..20 {
        command.args(["--node", &format!("node-{number}=snowflake"), "--segment", &format!("tag-{number}")]);
    }
    let mut agent = command.spawn().unwrap();
    until("not all are live", || {
        assert!(agent.try_wait().unwrap().is_none(), "the agent has ended");
        let status = Command::new(AGENT).args(["status", "--dir"]).arg(directory.path()).output().unwrap();
        let lines = String::from_utf8(status.stdout).unwrap();
        status.status.success() && lines.lines().count() == 40
    });
    let question = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'txid-agent'";
    let connections = servers::run(servers::psql(&server, "ids").args(["-c", question])).trim().to_owned();
    let status = fs::read_to_string(format!("/proc/{}/status", agent.id())).unwrap();
    let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned();
    let files = fs::read_dir(format!("/proc/{}/fd", agent.id())).unwrap().count();
    println!("{connections} connections, {} threads, {files} files, memory {}", of("Threads:"), of("VmRSS:"));
    agent.kill().unwrap();
    agent.wait().unwrap();
    if std::env::var_os("TXID_AGENT").is_none() {
        assert!(connections.parse::<u32>().unwrap() <= 2, "{connections} connections");
    }
}
