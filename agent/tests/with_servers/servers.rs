//! Real servers, each on 127.0.0.1, a free port and its own directory. They end with the test.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid};
use tempfile::TempDir;

use crate::failure;
pub use crate::wait::until;
use crate::wait::{ended, last_lines};

/// Makes the command from the directory and the port.
type Start = dyn Fn(&Path, u16) -> Command + Send + Sync;

/// A server that can be killed and restarted with its data.
pub struct Server {
    pub port: u16,
    pub directory: TempDir,
    start: Box<Start>,
    /// Whether it answers on a connection that it has accepted.
    answers: fn(TcpStream) -> bool,
    child: Option<Child>,
}

impl Server {
    pub fn start(prepare: impl FnOnce(&Path), start: impl Fn(&Path, u16) -> Command + Send + Sync + 'static) -> Self {
        Self::start_until(|_| true, prepare, start)
    }

    fn start_until(
        answers: fn(TcpStream) -> bool,
        prepare: impl FnOnce(&Path),
        start: impl Fn(&Path, u16) -> Command + Send + Sync + 'static,
    ) -> Self {
        let directory = tempfile::Builder::new().prefix("txid-store").tempdir().unwrap();
        prepare(directory.path());
        let mut server = Self { port: free_port(), directory, start: Box::new(start), answers, child: None };
        server.restart();
        server
    }

    /// Starts it, and waits until it accepts connections.
    pub fn restart(&mut self) {
        let log = self.directory.path().join("log");
        // If the previous one was killed, its children may hold resources for a moment.
        until("a server does not start", || {
            let ended = self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            if ended {
                self.child = Some(self.spawn(&log));
            }
            if !ended && self.takes_connections() {
                return Ok(());
            }
            Err(last_lines(&fs::read_to_string(&log).unwrap_or_default(), 5))
        });
    }

    /// Whether the server accepts connections. A connection to a port without a listener may connect to itself.
    fn takes_connections(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port))
            .is_ok_and(|stream| stream.local_addr().unwrap() != stream.peer_addr().unwrap() && (self.answers)(stream))
    }

    fn spawn(&self, log: &Path) -> Child {
        let mut command = (self.start)(self.directory.path(), self.port);
        let output = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
        end_with_the_test(&mut command);
        let name = command.get_program().to_owned();
        command.spawn().unwrap_or_else(|error| panic!("{name:?}: {error}; scripts/need.sh stores installs the servers"))
    }

    /// As kill -9 does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
            // PostgreSQL's children have to notice that they are orphans.
            until("the children of a server do not end", || !self.has_processes());
        }
    }

    /// Whether a process works in the directory.
    fn has_processes(&self) -> bool {
        let directory = self.directory.path();
        fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let place = fs::read_link(entry.path().join("cwd"));
            place.is_ok_and(|place| place.starts_with(directory))
        })
    }

    /// Lets it end well.
    pub fn end(&mut self) {
        self.signal(libc::SIGTERM);
        ended("a server does not end", self.child.as_mut().unwrap());
        self.child = None;
    }

    /// Stops it, or lets it go on. On a busy machine, a server still answers after SIGSTOP was sent: so its stop is waited for.
    pub fn signal(&self, signal: i32) {
        let id = self.child.as_ref().unwrap().id() as i32;
        send(id, signal);
        if signal == libc::SIGSTOP {
            // An end is left to `Child`, and would otherwise be waited for in vain.
            let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            waitid(WaitId::Pid(Pid::from_raw(id).unwrap()), options).unwrap();
        }
    }

    pub fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }
}

impl Server {
    /// Whether the server still runs, and what it said last: a test may have failed because of it.
    fn testify(&mut self) {
        let state = match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) => format!("has ended with {status}"),
            Some(_) => "runs".to_owned(),
            None => "was killed by the test".to_owned(),
        };
        let program = (self.start)(self.directory.path(), self.port).get_program().to_string_lossy().into_owned();
        let program = program.rsplit('/').next().unwrap_or_default().to_owned();
        failure::show(&format!("{program} on port {} {state}", self.port), &self.directory.path().join("log"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.testify();
        }
        self.kill();
    }
}

/// In the environment of all that tests start: the process id of their program.
const STARTED_BY: &str = "TXID_TEST_STARTED_BY";

/// Sends a signal to a process that tests of this program have started. A process that is gone gets none, and neither does
/// another one that has its number since.
pub fn send(process: i32, signal: i32) {
    let Ok(open) = pidfd_open(Pid::from_raw(process).unwrap(), PidfdFlags::empty()) else { return };
    let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
    let (mark, own) = (format!("{STARTED_BY}={}", std::process::id()), format!("\nPPid:\t{}\n", std::process::id()));
    let is_own = String::from_utf8_lossy(&read("status")).contains(&own);
    if is_own || read("environ").split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes()) {
        _ = pidfd_send_signal(open, Signal::from_named_raw(signal).unwrap());
    }
}

/// A test that fails or is killed leaves no process behind. Each is in a group of its own, because tests stop some: when a group
/// with a stopped process loses its last parent, as when a shell ends, the kernel sends SIGHUP to all in it.
pub fn end_with_the_test(command: &mut Command) {
    command.env(STARTED_BY, std::process::id().to_string());
    // SAFETY: `setpgid`, `signal` and `prctl` are async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            // It may lead a session already.
            libc::setpgid(0, 0);
            // Tests that are run by `nohup` ignore it.
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        })
    };
}

/// A port below those that the kernel gives to clients, and that no other test has until this program ends.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static TAKEN: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    until("no port is free", || {
        let port = (10_000 + (97 * std::process::id() + NEXT.fetch_add(1, Ordering::Relaxed)) % 5_000 * 4) as u16;
        // The name of a socket is one program's, and gone with it. The suites in t/ mark four ports by this name.
        let name = SocketAddr::from_abstract_name(format!("test-nginx-port-{port}")).unwrap();
        let mark = UnixListener::bind_addr(&name).ok()?;
        TcpListener::bind(("127.0.0.1", port)).ok()?;
        TAKEN.lock().unwrap().push(mark);
        Some(port)
    })
}

pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What a server on this port answers to an HTTP request; None if there is no answer with the status 200.
pub fn http(port: u16, method: &str, path: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n{body}").ok()?;
    let answer = io::read_to_string(stream).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    (head.split(' ').nth(1) == Some("200")).then(|| body.to_owned())
}

pub fn redis(options: &[&str]) -> Server {
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    Server::start(
        |_| {},
        move |directory, port| {
            let mut command = Command::new("redis-server");
            command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"]);
            command.args(["--dir", directory.to_str().unwrap()]);
            if !options.iter().any(|option| option == "--tls-port") {
                command.args(["--port", &port.to_string()]);
            }
            for option in &options {
                // An option may have several words.
                command.args(option.replace("PORT", &port.to_string()).split(' '));
            }
            command
        },
    )
}

/// A Sentinel that replaces the master `fleet`, on this port, half a second after its end.
pub fn sentinel(master: u16) -> Server {
    Server::start(
        |_| {},
        move |directory, port| {
            let file = directory.join("sentinel.conf");
            // It writes there what it finds.
            if !file.exists() {
                let text = format!(
                    "bind 127.0.0.1\nport {port}\nsentinel monitor fleet 127.0.0.1 {master} 1\nsentinel \
                     down-after-milliseconds fleet 1500\nsentinel failover-timeout fleet 2000\n"
                );
                fs::write(&file, text).unwrap();
            }
            let mut command = Command::new("redis-server");
            command.arg(file).arg("--sentinel");
            command
        },
    )
}

pub fn etcd(options: &[&str]) -> Server {
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let scheme = if options.iter().any(|option| option.starts_with("--cert-file")) { "https" } else { "http" };
    let peer = format!("http://127.0.0.1:{}", free_port());
    Server::start(
        |_| {},
        move |directory, port| {
            let client = format!("{scheme}://127.0.0.1:{port}");
            let mut command = Command::new("etcd");
            command.arg("--data-dir").arg(directory.join("data")).args(["--log-level", "warn"]);
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
            command.args(["--initial-cluster", &format!("default={peer}")]);
            // The last of several counts.
            command.args(&options);
            command
        },
    )
}

/// A Consul whose ACLs deny all that no token allows, and the token that may do all. None if it is not installed: Debian 11
/// has it.
pub fn consul() -> Option<(Server, String)> {
    if Command::new("consul").arg("version").output().is_err() {
        crate::skipped("consul is not installed");
        return None;
    }
    let [server, lan, wan] = [(); 3].map(|()| free_port());
    // It listens before it has a leader.
    let answers = |mut stream: TcpStream| {
        let asked = stream.write_all(b"GET /v1/status/leader HTTP/1.0\r\n\r\n");
        asked.is_ok() && io::read_to_string(stream).is_ok_and(|answer| answer.contains("\"127.0.0.1:"))
    };
    let server = Server::start_until(
        answers,
        |_| {},
        move |directory, port| {
            let settings = format!(
                "server = true\nbootstrap_expect = 1\nperformance {{ raft_multiplier = 1 }}\nacl {{ enabled = true\n \
                 default_policy = \"deny\" }}\nports {{ http = {port}\n dns = -1\n server = {server}\n serf_lan = {lan}\n serf_wan = \
                 {wan} }}\n"
            );
            fs::write(directory.join("consul.hcl"), settings).unwrap();
            let mut command = Command::new("consul");
            command.args(["agent", "-bind", "127.0.0.1", "-data-dir"]).arg(directory.join("data"));
            command.arg("-config-file").arg(directory.join("consul.hcl"));
            command
        },
    );
    let made = until("it makes no token", || http(server.port, "PUT", "/v1/acl/bootstrap", ""));
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    Some((server, made["SecretID"].as_str().unwrap().to_owned()))
}

/// Servers that start side by side. They end with this.
pub struct Cluster {
    pub servers: Vec<Server>,
    _until_the_end: mpsc::Sender<()>,
}

impl Cluster {
    /// Each server ends with the thread that started it.
    pub fn start(count: usize, start: impl Fn(usize) -> Server + Send + Sync + 'static) -> Self {
        let (_until_the_end, end) = mpsc::channel();
        let (started, servers) = mpsc::channel();
        let (start, end) = (Arc::new(start), Arc::new(Mutex::new(end)));
        for at in 0..count {
            let (start, started, end) = (start.clone(), started.clone(), end.clone());
            thread::spawn(move || {
                started.send((at, start(at))).unwrap();
                _ = end.lock().map(|end| end.recv());
            });
        }
        let mut servers: Vec<_> = servers.iter().take(count).collect();
        servers.sort_by_key(|&(at, _)| at);
        Self { servers: servers.into_iter().map(|(_, server)| server).collect(), _until_the_end }
    }
}

/// A cluster of etcd whose servers listen to each other on the first of these ports, and call each other on the second.
pub fn etcd_cluster(peers: &[(u16, u16)]) -> Cluster {
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let all = peers.iter().enumerate().map(|(at, &(_, called))| format!("m{at}={}", url(called)));
    let all = all.collect::<Vec<_>>().join(",");
    let peers = peers.to_vec();
    Cluster::start(peers.len(), move |at| {
        etcd(&[
            &format!("--name=m{at}"),
            &format!("--initial-cluster={all}"),
            &format!("--listen-peer-urls={}", url(peers[at].0)),
            &format!("--initial-advertise-peer-urls={}", url(peers[at].1)),
        ])
    })
}

/// PostgreSQL and MariaDB do not run as root.
pub fn as_user(user: &str, program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--pdeathsig", "KILL", program]);
    command
}

fn postgres_program(name: &str) -> String {
    let newest = fs::read_dir("/usr/lib/postgresql").unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    newest.join("bin").join(name).to_str().unwrap().to_owned()
}

/// A directory that is made once, because that takes a few seconds. The data of a server is copied for each test.
pub fn template(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    static CHECKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut checked = CHECKED.lock().unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if checked.contains(&kept) {
        return kept;
    }
    // Another program of tests may be about to make it.
    let lock = fs::File::create(kept.with_extension("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let list = kept.with_extension("made");
    let is_made = kept.exists();
    if !is_made || fs::read_to_string(&list).ok() != Some(contents(&kept)) {
        if is_made {
            // Also if the test succeeds.
            let why = "is not as it was made (a copy, perhaps, without its owner); it is made anew";
            _ = writeln!(std::io::stderr(), "{} {why}", kept.display());
            fs::remove_dir_all(&kept).unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        make(directory.path());
        run(Command::new("cp").arg("-a").arg(directory.path()).arg(&kept));
        fs::write(&list, contents(&kept)).unwrap();
    }
    checked.push(kept.clone());
    kept
}

/// The owner, mode and length of each file in a directory, and who may be meant by that.
fn contents(directory: &Path) -> String {
    let mut found = BTreeMap::new();
    let mut ways = vec![directory.to_owned()];
    while let Some(way) = ways.pop() {
        let about = fs::symlink_metadata(&way).unwrap();
        if about.is_dir() {
            ways.extend(fs::read_dir(&way).unwrap().map(|entry| entry.unwrap().path()));
        }
        let length = if about.is_file() { about.len() } else { 0 };
        found.insert(way.strip_prefix(directory).unwrap().to_owned(), (about.uid(), about.mode(), length));
    }
    let postgres = Command::new("id").args(["-u", "postgres"]).output().map(|output| output.stdout);
    let mut text = format!("postgres is {}\n", String::from_utf8_lossy(&postgres.unwrap_or_default()).trim());
    for (name, (uid, mode, length)) in found {
        text += &format!("{} {uid} {mode:o} {length}\n", name.display());
    }
    text
}

pub const POSTGRES_PASSWORD: &str = "the-password-of-postgres";

/// A server with the database `ids` and the users `owner` (may do everything), `txid` (may use what exists) and
/// `nobody`.
pub fn postgres(options: &[&str]) -> Server {
    let made = template("postgres", |directory| {
        let password = directory.join("password");
        fs::write(&password, POSTGRES_PASSWORD).unwrap();
        run(Command::new("chown").args(["-R", "postgres"]).arg(directory));
        run(as_user("postgres", &postgres_program("initdb"))
            .args(["--auth=scram-sha-256", "--username=owner", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(directory.join("data")));
    });
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let server = Server::start(
        |directory| {
            run(Command::new("cp").arg("-a").arg(made.join("data")).arg(directory));
            run(Command::new("chown").args(["postgres"]).arg(directory));
        },
        move |directory, port| postgres_in(directory, port, &options),
    );
    until_postgres_answers(&server);
    run(psql(&server, "postgres").args(["-c", "CREATE DATABASE ids"]));
    for user in ["txid", "nobody"] {
        let create = format!("CREATE USER {user} PASSWORD '{POSTGRES_PASSWORD}'");
        run(psql(&server, "ids").args(["-c", &create]));
    }
    run(psql(&server, "ids").args(["-c", "GRANT CREATE ON SCHEMA public TO txid"]));
    server
}

fn postgres_in(directory: &Path, port: u16, options: &[String]) -> Command {
    let mut command = as_user("postgres", &postgres_program("postgres"));
    command.arg("-D").arg(directory.join("data"));
    command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", directory.to_str().unwrap()]);
    // A test does not crash the machine, and disks may be slow.
    command.args(["-c", "fsync=off"]);
    for option in options {
        command.args(["-c", &option.replace("DIRECTORY", directory.to_str().unwrap())]);
    }
    command
}

fn until_postgres_answers(server: &Server) {
    until("postgres does not answer", || {
        psql(server, "postgres").args(["-c", "SELECT 1"]).output().unwrap().status.success()
    });
}

/// A server that follows this one, and can only be read.
pub fn hot_standby(primary: &Server) -> Server {
    let port = primary.port.to_string();
    let standby = Server::start(
        |directory| {
            run(Command::new("chown").arg("postgres").arg(directory));
            let mut copy = as_user("postgres", &postgres_program("pg_basebackup"));
            copy.env("PGPASSWORD", POSTGRES_PASSWORD).args(["-h", "127.0.0.1", "-p", &port, "-U", "owner"]);
            run(copy.args(["--checkpoint=fast", "--write-recovery-conf", "-D"]).arg(directory.join("data")));
        },
        |directory, port| postgres_in(directory, port, &[]),
    );
    until_postgres_answers(&standby);
    standby
}

pub fn psql(server: &Server, database: &str) -> Command {
    let mut command = Command::new("psql");
    command.env("PGPASSWORD", POSTGRES_PASSWORD);
    command.args(["-h", "127.0.0.1", "-p", &server.port.to_string(), "-U", "owner", "-d", database, "-qAt"]);
    command
}

pub const MARIADB_PASSWORD: &str = "the-password-of-mariadb";

/// A server without TLS.
pub fn mariadb() -> Server {
    mariadb_with(&["--skip-ssl"])
}

/// The data of a server, and the statements that make the users.
fn mariadb_template() -> PathBuf {
    template("mariadb", |directory| {
        let output = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(mariadb_places(directory))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let sql = directory.join("users.sql");
        fs::write(
            &sql,
            format!(
                "CREATE DATABASE ids;\nCREATE USER txid@'%' IDENTIFIED BY '{MARIADB_PASSWORD}';\nGRANT ALL ON ids.* TO \
                 txid@'%';\nCREATE USER nobody@'%' IDENTIFIED BY '{MARIADB_PASSWORD}';\nGRANT SELECT ON ids.* TO \
                 nobody@'%';\nFLUSH PRIVILEGES;\n"
            ),
        )
        .unwrap();
    })
}

/// A server with the database `ids` and the users `txid` (may do everything in `ids`) and `nobody`.
pub fn mariadb_with(options: &[&str]) -> Server {
    let made = mariadb_template();
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let server = Server::start(
        |directory| drop(run(Command::new("cp").arg("-a").arg(made.join("data")).arg(directory))),
        move |directory, port| mariadbd(directory, port, &options),
    );
    let client = || mariadb_client(&server);
    until("mariadb does not answer", || client().args(["-e", "SELECT 1"]).output().unwrap().status.success());
    run(client().stdin(fs::File::open(made.join("users.sql")).unwrap()));
    server
}

pub fn mariadbd(directory: &Path, port: u16, options: &[String]) -> Command {
    let mut command = Command::new("mariadbd");
    command.args(["--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
    command.args(options);
    command.args(mariadb_places(directory));
    command.arg(format!("--port={port}"));
    command.arg(format!("--socket={}", directory.join("socket").display()));
    command.args(["--innodb-buffer-pool-size=16M", "--performance-schema=off"]);
    command
}

pub fn mariadb_client(server: &Server) -> Command {
    let mut client = Command::new("mariadb");
    // Newer clients insist on TLS.
    client.args(["--no-defaults", "--skip-ssl", "-u", "root", &format!("--socket={}", server.path("socket"))]);
    client
}

/// A server that starts deletes the temporary tables it finds, and they may be those of another in `/tmp`.
fn mariadb_places(directory: &Path) -> [String; 2] {
    [format!("--datadir={}", directory.join("data").display()), format!("--tmpdir={}", directory.display())]
}

pub fn zookeeper() -> Server {
    zookeeper_with("-Xmx64m")
}

/// A server with so much memory.
pub fn zookeeper_with(memory: &'static str) -> Server {
    zookeeper_of(&[memory], "ZooKeeperServerMain", "")
}

/// One server of three, of which the others are down. It serves clients that only read.
pub fn zookeeper_without_a_majority() -> Server {
    let mut more = "initLimit=10\nsyncLimit=5\n4lw.commands.whitelist=isro\n".to_owned();
    for number in 1..=3 {
        more += &format!("server.{number}=127.0.0.1:{}:{}\n", free_port(), free_port());
    }
    zookeeper_of(&["-Xmx64m", "-Dreadonlymode.enabled=true"], "quorum.QuorumPeerMain", &more)
}

fn zookeeper_of(options: &[&'static str], class: &'static str, more: &str) -> Server {
    let (options, more) = (options.to_vec(), more.to_owned());
    // It forgets a session that is asked for while "This ZooKeeper instance is not currently serving requests", and then a client waits for
    // the whole of its time-out.
    let answers = |mut stream: TcpStream| {
        let mut first = [0];
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        stream.write_all(b"srvr").is_ok() && stream.read(&mut first).is_ok_and(|read| read > 0) && first != *b"T"
    };
    Server::start_until(
        answers,
        |directory| fs::write(directory.join("myid"), "1").unwrap(),
        move |directory, port| {
            let config = directory.join("zoo.cfg");
            let text = format!(
                "tickTime=500\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
                 maxClientCnxns=0\n{more}",
                directory.display()
            );
            fs::write(&config, text).unwrap();
            let mut command = Command::new("java");
            command.args(&options).args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
            command.args(["-cp", "/usr/share/java/zookeeper.jar"]);
            command.arg(format!("org.apache.zookeeper.server.{class}")).arg(config);
            command
        },
    )
}
