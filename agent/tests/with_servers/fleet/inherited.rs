//! What an agent inherits from whoever starts it: blocked and ignored signals, and where the log goes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::directory::Directory;
use super::host::{Running, agent, signal};
use super::hosted::{child_of, kill_with_guard, send};
use crate::servers::{self, until};
use crate::wait::ended;

const ENV: &[&str] = &["--env", "WORKER_ID={orders}"];

struct Started {
    directory: Directory,
    agent: Child,
}

impl Started {
    /// Starts an agent after `prepare`, which may only do what is async-signal-safe.
    fn new(prepare: fn(), env: &[&str], child: &[&str]) -> Self {
        let directory = Directory::new();
        let mut command = directory.run(&[env, &["--"], child].concat());
        // SAFETY: see above.
        unsafe {
            command.pre_exec(move || {
                prepare();
                Ok(())
            })
        };
        command.stderr(fs::File::create(directory.path("log")).unwrap());
        let agent = command.spawn().unwrap();
        Self { directory, agent }
    }

    fn ends(&mut self) -> Option<i32> {
        let code = ended("it does not end", &mut self.agent).code();
        assert!(self.directory.log().contains("gave node"), "{}", self.directory.log());
        code
    }

    /// The child's process, once it is what it is to be.
    fn child(&self, has_guard: bool) -> i32 {
        let agent = self.agent.id();
        until("there is no child", || {
            let child = child_of(if has_guard { child_of(agent)? as u32 } else { agent })?;
            (fs::read_to_string(format!("/proc/{child}/comm")).ok()? == "sleep\n").then_some(child)
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Whether a process ignores or blocks a signal.
fn has(process: i32, set: &str, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(":\t")).unwrap();
    u64::from_str_radix(line, 16).unwrap() >> (signal - 1) & 1 == 1
}

fn block_all() {
    // SAFETY: a set of signals may be zeros, and is filled before it is used.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

fn ignore(signals: &[i32]) {
    for &signal in signals {
        // SAFETY: there is no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[test]
fn signals_that_were_blocked_or_ignored() {
    let prepare: [fn(); 2] = [block_all, || ignore(&[libc::SIGTERM, libc::SIGCHLD, libc::SIGINT])];
    for prepare in prepare {
        for env in [&[], ENV] {
            // The end of the child is seen.
            let mut started = Started::new(prepare, env, &["sh", "-c", "exit 7"]);
            assert_eq!(started.ends(), Some(7));
            // It is passed on, and ends the child.
            let mut started = Started::new(prepare, env, &["sleep", "1000"]);
            let child = started.child(!env.is_empty());
            for set in ["SigBlk", "SigIgn"] {
                for signal in [libc::SIGTERM, libc::SIGCHLD, libc::SIGTTOU] {
                    assert!(!has(child, set, signal), "{set} of the child has {signal}");
                }
            }
            signal(&started.agent, libc::SIGTERM);
            assert_eq!(started.ends(), Some(128 + libc::SIGTERM));
        }
    }
}

/// As with `nohup`.
#[test]
fn a_hangup_that_is_ignored_stays_so() {
    for env in [&[], ENV] {
        for is_ignored in [true, false] {
            let prepare = if is_ignored { || ignore(&[libc::SIGHUP]) } else { || {} };
            let mut started = Started::new(prepare, env, &["sleep", "1000"]);
            let child = started.child(!env.is_empty());
            assert_eq!(has(child, "SigIgn", libc::SIGHUP), is_ignored);
            if !env.is_empty() {
                // It ends by an order of the agent only.
                let guard = child_of(started.agent.id()).unwrap();
                assert!(has(guard, if is_ignored { "SigIgn" } else { "SigCgt" }, libc::SIGHUP));
            }
            signal(&started.agent, libc::SIGHUP);
            if is_ignored {
                // To the guard, or to the child.
                send(child_of(started.agent.id()).unwrap(), libc::SIGHUP);
                // Of two signals, the kernel delivers SIGHUP first.
                signal(&started.agent, libc::SIGTERM);
            }
            let code = started.ends();
            assert_eq!(code, Some(128 + if is_ignored { libc::SIGTERM } else { libc::SIGHUP }));
        }
    }
}

/// Each write to this socket is a message of its own, so lines of several processes do not mix.
#[test]
fn a_line_of_the_log_is_one_write() {
    let directory = Directory::new();
    for (env, child) in [(ENV, "true"), (&[], "true"), (&[], "/nowhere/app"), (&["--lease-time", "1s"], "true")] {
        let (log, end) = UnixDatagram::pair().unwrap();
        let status = directory.run(&[env, &["--", child]].concat()).stderr(OwnedFd::from(end)).status().unwrap();
        log.set_nonblocking(true).unwrap();
        let (mut lines, mut line) = (0, [0; 4096]);
        while let Ok(length @ 1..) = log.recv(&mut line) {
            let line = std::str::from_utf8(&line[..length]).unwrap();
            assert!(line.ends_with('\n') && line.lines().count() == 1, "{line:?}");
            lines += 1;
        }
        assert!(lines > 0, "{status:?}");
    }
}

/// Gives up root, writes to all that it has inherited that root's next agent is to end process `argv[1]`, and says where that
/// is possible.
const TELLS: &str = "
import os, sys, time
os.setgroups([])
os.setgid(1)
os.setuid(1)
victim = sys.argv[1]
start = open(f'/proc/{victim}/stat').read().rpartition(')')[2].split()[19]
boot = open('/proc/sys/kernel/random/boot_id').read().strip()
note = f'{boot} {victim} {start} 1 0'.ljust(127).encode() + b'\\n'
def tell(write):
    try:
        write()
        return True
    except OSError:
        return False
told = []
for fd in [int(name) for name in os.listdir('/proc/self/fd')]:
    if fd > 2 and os.path.isfile(f'/proc/self/fd/{fd}'):
        told += [fd] if tell(lambda: os.pwrite(fd, note, 0)) else []
        told += [fd] if tell(lambda: os.pwrite(os.open(f'/proc/self/fd/{fd}', os.O_WRONLY), note, 0)) else []
print('told', told, flush=True)
time.sleep(1000)
";

/// A child that has given up root, and outlives its agent and its guard, has no say in what root's next agent ends.
#[test]
fn a_child_inherits_nothing_that_it_can_write() {
    if !rustix::process::geteuid().is_root() {
        return crate::skipped("only root may change the user");
    }
    let victim = Running(Command::new("sleep").arg("1000").spawn().unwrap());
    let directory = Directory::new();
    let process = victim.0.id().to_string();
    let line = [ENV, &["--", "python3", "-c", TELLS, &process]].concat();
    let mut agent = directory.run(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(agent.stdout.take().unwrap()).read_line(&mut told).unwrap();
    let child = child_of(child_of(agent.id()).unwrap() as u32).unwrap();
    kill_with_guard(&mut agent);
    let next = directory.run(&[ENV, &["--", "true"]].concat()).output().unwrap();
    assert!(fs::read_to_string(format!("/proc/{process}/stat")).unwrap().contains(") S "), "it was ended");
    let said = String::from_utf8_lossy(&next.stderr);
    assert!(next.status.code() == Some(1) && said.contains("still runs"), "{said}");
    assert_eq!(told, "told []\n");
    send(child, libc::SIGKILL);
}

/// Processes of the agent's user may read the environment that it was started with.
#[test]
fn the_password_is_not_in_the_environment_once_it_is_read() {
    const PASSWORD: &str = "the-password-of-the-store";
    let server = servers::redis(&["--requirepass", PASSWORD]);
    for (env, word) in [(&[][..], ""), (ENV, ""), (&[], &format!(":{PASSWORD}@"))] {
        let directory = Directory::new();
        let mut command = agent();
        command.env("TXID_STORE", format!("redis://{word}127.0.0.1:{}?may-lose-writes=0", server.port));
        command.args(["run", "--node", "orders=snowflake", "--assume-unused-store", "--dir"]);
        command.arg(directory.path("run")).args(env);
        let script = "tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' '\\n' < /proc/self/environ";
        command.args(["--", "sh", "-c", script]).env("TXID_STORE_PASSWORD", PASSWORD).env("TXID_TEST", "seen");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(shown.contains("TXID_TEST=seen\n") && !shown.contains(PASSWORD), "{shown}");
    }
}
