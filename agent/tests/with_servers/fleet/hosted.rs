//! A host with an agent and a child that makes ids, and what is to be known of the child's processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use txid::snowflake::Layout;

use super::host::{Host, kill, signal};
pub use crate::servers::send;
use crate::servers::{self, until};
use crate::unique;

/// A lease of seconds. On a busy host, an answer may come so late that the store's clock in it seems to be off by a second.
pub const SHORT: [&str; 7] =
    ["--assume-unused-store", "--lease-time", "25s", "--max-skew", "1500ms", "--margin", "3500ms"];
pub const ENV: [&str; 6] =
    ["--env", "WORKER_ID={orders}", "--env", "HIGH={orders:5..10}", "--env", "MARK=<{orders:0..5}>"];

/// A host with an agent, whose child makes ids.
pub struct Hosted {
    pub host: Host,
    /// Where the child puts them.
    pub ids: PathBuf,
}

impl Hosted {
    pub fn new(name: &str, server: u16, url: impl Fn(u16) -> String) -> Self {
        Self::with_layout(name, server, url, "snowflake")
    }

    pub fn with_layout(name: &str, server: u16, url: impl Fn(u16) -> String, layout: &str) -> Self {
        let host = Host::new(name, server, url, layout);
        let ids = host.path("ids");
        fs::create_dir(&ids).unwrap();
        Self { host, ids }
    }

    pub fn start(&mut self, options: &[&str], child: &[&str]) {
        let all: Vec<&str> = SHORT.iter().chain(options).chain(&["--"]).chain(child).copied().collect();
        self.host.start_agent(&all);
    }

    /// How many bytes of ids there are, by the name of the file.
    pub fn sizes(&self) -> BTreeMap<PathBuf, u64> {
        let entries = fs::read_dir(&self.ids).unwrap().map(Result::unwrap);
        entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect()
    }

    pub fn all(&self) -> u64 {
        self.sizes().values().sum()
    }

    /// Waits until there are more ids than now.
    pub fn goes_on(&self, what: &str) {
        let before = self.all();
        until(what, || self.all() > before);
    }

    /// The times of the last id of each child that had this node.
    pub fn last_ms(&self, node: u64) -> Vec<i64> {
        let is_its = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{node}-"));
        self.sizes().keys().filter(|path| is_its(path)).filter_map(|path| ids(path).last().map(|&id| ms(id))).collect()
    }
}

/// The ids in a file. The last one may be written in part.
pub fn ids(path: &Path) -> Vec<u64> {
    fs::read(path).unwrap().chunks_exact(8).map(|id| u64::from_ne_bytes(id.try_into().unwrap())).collect()
}

pub fn ms(id: u64) -> i64 {
    Layout::SNOWFLAKE.decode(id).unwrap().ms
}

/// A program that makes ids, and the variables that it finds its node in.
#[derive(Clone, Copy)]
pub enum Program {
    Python,
    /// It ignores SIGTERM.
    Stubborn,
    Java,
    Go,
}

impl Program {
    /// Those that can run here.
    pub fn all() -> Vec<Self> {
        let runs = |program: &str, argument: &str| Command::new(program).arg(argument).output().is_ok();
        let mut all = vec![Self::Python, Self::Stubborn];
        for (program, its, argument) in [(Self::Java, "javac", "-version"), (Self::Go, "go", "version")] {
            if runs(its, argument) {
                all.push(program);
            } else {
                println!("without a program that needs {its}");
            }
        }
        all
    }

    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Java => &["--env", "DATACENTER_ID={orders:5..10}", "--env", "WORKER_ID={orders:0..5}"],
            Self::Python | Self::Stubborn | Self::Go => &["--env", "WORKER_ID={orders}"],
        }
    }

    /// The command line of a program that appends `count` ids every 5 ms to files in `directory`.
    pub fn line(self, directory: &Path, count: &str) -> Vec<String> {
        // Another one may be tried by hand: an executable that takes the same arguments.
        if let Ok(program) = std::env::var("TXID_TEST_PROGRAM") {
            return [program, directory.to_str().unwrap().to_owned(), count.to_owned()].to_vec();
        }
        let source = |name: &str| format!("{}/tests/with_servers/fleet/programs/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut line: Vec<String> = match self {
            Self::Python | Self::Stubborn => vec!["python3".to_owned(), source("snowflake.py")],
            Self::Java => [
                "java",
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                &compiled("java"),
                "Snowflake",
            ]
            .map(str::to_owned)
            .to_vec(),
            Self::Go => vec![compiled("go") + "/snowflake"],
        };
        line.extend([directory.to_str().unwrap(), count].map(str::to_owned));
        if let Self::Stubborn = self {
            line.push("stubborn".to_owned());
        }
        line
    }
}

/// The directory of a program that was compiled once.
pub fn compiled(language: &str) -> String {
    servers::template(&format!("program-{language}"), |directory| {
        let sources = format!("{}/tests/with_servers/fleet/programs", env!("CARGO_MANIFEST_DIR"));
        let mut compiler = match language {
            "java" => Command::new("javac"),
            _ => Command::new("go"),
        };
        match language {
            "java" => compiler.arg("-d").arg(directory).arg(format!("{sources}/Snowflake.java")),
            _ => compiler.args(["build", "-o"]).arg(directory.join("snowflake")).arg(format!("{sources}/snowflake.go")),
        };
        servers::run(compiler.env("GOCACHE", directory.join("cache")).env("GOFLAGS", "-mod=mod"));
    })
    .to_str()
    .unwrap()
    .to_owned()
}

/// A variable that is in no environment but those of one test's processes.
pub fn mark(name: &str) -> String {
    unique(&format!("TXID_TEST_MARK={name}"))
}

/// The processes that have this in their environment.
pub fn processes_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes()) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

/// A child of a process: the guard of an agent, or the child of a guard.
pub fn child_of(process: u32) -> Option<i32> {
    let output = Command::new("ps").args(["-o", "pid=", "--ppid", &process.to_string()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().next()?.parse().ok()
}

pub fn guard_of(hosted: &Hosted) -> i32 {
    child_of(hosted.host.agent.as_ref().unwrap().id()).expect("it has a guard")
}

/// Until the guard is gone, it has the node.
pub fn kill_with_guard(agent: &mut Child) {
    let guard = child_of(agent.id()).expect("it has a guard");
    signal(agent, libc::SIGSTOP);
    send(guard, libc::SIGKILL);
    kill(agent);
    until_gone(guard);
}

/// Until nobody has this number any more: the process was reaped, too.
pub fn until_gone(process: i32) {
    until("a process that was killed is still there", || !Path::new(&format!("/proc/{process}")).exists());
}

/// How often a process has waited for something: its looks at what there is, and not the time that they take.
pub fn looks(process: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

/// As `ps` shows it; None if the process is gone.
pub fn state(process: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub fn redis(port: u16) -> String {
    format!("redis://127.0.0.1:{port}?may-lose-writes=0&timeout=10s")
}

/// The number of children that were started.
pub fn starts(host: &Host) -> usize {
    host.log().matches(": starts with ").count()
}

/// The number of children that were ended because of their leases.
pub fn gone(host: &Host) -> usize {
    host.log().matches(": gone; ").count()
}

pub fn check_unique(hosts: &[Hosted]) -> usize {
    let files: Vec<PathBuf> = hosts.iter().flat_map(|hosted| hosted.sizes().into_keys()).collect();
    let mut all: Vec<(u64, usize)> = Vec::new();
    for (which, path) in files.iter().enumerate() {
        all.extend(ids(path).into_iter().map(|id| (id, which)));
    }
    all.sort_unstable();
    if let Some(pair) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let logs: String =
            hosts.iter().map(|hosted| format!("== {}\n{}", hosted.host.name, hosted.host.log())).collect();
        let [one, other] = [pair[0].1, pair[1].1].map(|which| files[which].display());
        panic!("{} at {} is in {one} and in {other}\n{logs}", pair[0].0, ms(pair[0].0));
    }
    println!("{} ids in {} files", all.len(), files.len());
    all.len()
}

pub fn libfaketime() -> Option<String> {
    let directories = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let files = directories.map(|directory| directory.join("faketime/libfaketimeMT.so.1"));
    Some(files.into_iter().find(|file| file.exists())?.to_str()?.to_owned())
}

/// Stops a process as a debugger does, until it is dropped: SIGCONT does not wake it.
pub struct Debugger {
    /// Ends the thread that is the tracer.
    _end: Sender<()>,
}

impl Debugger {
    pub fn attach(process: i32) -> Self {
        let ((end, ended), (attached, is_attached)) = (channel::<()>(), channel());
        thread::spawn(move || {
            // SAFETY: nothing of the other process is read or written.
            let is_done = unsafe {
                libc::ptrace(libc::PTRACE_SEIZE, process, 0, 0) == 0
                    && libc::ptrace(libc::PTRACE_INTERRUPT, process, 0, 0) == 0
            };
            attached.send(is_done).unwrap();
            // A debugger hears of the process's end before its parent does.
            while ended.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
                // SAFETY: nothing is written to.
                unsafe { libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL) };
            }
        });
        assert!(is_attached.recv().unwrap(), "this user may not debug its own process");
        Self { _end: end }
    }
}
