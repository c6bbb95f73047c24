//! Children that the kernel does not kill when their agent and their guard are killed at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::host::agent;
use super::hosted::{Hosted, Program, check_unique, child_of, kill_with_guard, processes_with, redis, send, starts};
use crate::servers::{self, until};
use crate::wait::ended;

/// Undoes what its guard has asked the kernel for, as a change of its user does, and becomes the rest of the line.
const ALONE: &str = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 0); ";
/// Closes the files that it has inherited, too.
const CLOSES: &str = "os.closerange(3, 4096); ";
const BECOMES: &str = "os.execvp(sys.argv[1], sys.argv[1:])";

/// Starts an agent whose child makes ids, and kills it with its guard.
fn left(name: &str, server: u16, before: &[&str]) -> (Hosted, String) {
    let mark = format!("TXID_TEST_MARK={name}-{}", std::process::id());
    let mut hosted = Hosted::new(name, server, redis);
    let line = Program::Stubborn.line(&hosted.ids, "8");
    let line: Vec<&str> = ["env", &mark].iter().chain(before).copied().chain(line.iter().map(String::as_str)).collect();
    hosted.start(Program::Stubborn.variables(), &line);
    hosted.goes_on("the child makes no ids");
    kill_with_guard(hosted.host.agent.as_mut().unwrap());
    (hosted, mark)
}

/// Starts another agent. It ends the child that is there before it starts its own.
fn is_ended(hosted: &mut Hosted, mark: &str) {
    hosted.goes_on("it is not left");
    let left = processes_with(mark);
    assert_eq!(left.len(), 1);
    // Whoever is the parent now may not have reaped it yet.
    let script = format!("grep -qs '^State:.[^Z]' /proc/{}/status || exec \"$@\"", left[0]);
    let line = Program::Python.line(&hosted.ids, "8");
    let line: Vec<&str> = ["sh", "-c", &script, "sh"].into_iter().chain(line.iter().map(String::as_str)).collect();
    hosted.start(Program::Python.variables(), &line);
    until("the child does not start", || {
        starts(&hosted.host) == 2 || hosted.host.agent.as_mut().unwrap().try_wait().unwrap().is_some()
    });
    let log = hosted.host.log();
    assert!(
        log.contains(&format!("orders: ended process {}, which an earlier txid-agent had started", left[0])),
        "{log}"
    );
    assert_eq!(processes_with(mark), [""; 0]);
    hosted.goes_on("the child makes no ids");
    assert!(check_unique(std::slice::from_ref(hosted)) > 0 && hosted.sizes().len() == 2);
}

#[test]
fn a_child_that_has_closed_its_files_is_ended_by_the_next_agent() {
    let server = servers::redis(&[]);
    let (mut hosted, mark) = left("left-closes", server.port, &["python3", "-c", &[ALONE, CLOSES, BECOMES].concat()]);
    is_ended(&mut hosted, &mark);
}

/// It has the lock, too.
#[test]
fn a_child_that_has_its_files_is_ended_by_the_next_agent() {
    let server = servers::redis(&[]);
    let (mut hosted, mark) = left("left-keeps", server.port, &["python3", "-c", &[ALONE, BECOMES].concat()]);
    is_ended(&mut hosted, &mark);
}

#[test]
fn a_child_that_has_changed_its_user_is_ended_by_the_next_agent() {
    // SAFETY: `geteuid` has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return println!("not tested: only root may change the user");
    }
    let server = servers::redis(&[]);
    let change = ["setpriv", "--reuid", "daemon", "--regid", "daemon", "--clear-groups", "--"];
    // Another user may read neither this test's directory nor the program.
    let writes = |hosted: &Path| servers::run(Command::new("chmod").args(["-R", "a+rwx"]).arg(hosted));
    let mut hosted = Hosted::new("gosu", server.port, redis);
    writes(hosted.host.directory.path());
    let mark = format!("TXID_TEST_MARK=left-gosu-{}", std::process::id());
    let script = "while :; do echo; sleep 0.1; done > $0";
    let file = hosted.host.path("alive");
    let sh = ["sh", "-c", script, file.to_str().unwrap()];
    let line: Vec<&str> = ["env", &mark].iter().chain(&change).chain(&sh).copied().collect();
    hosted.start(Program::Python.variables(), &line);
    until("the child does not start", || fs::metadata(&file).is_ok_and(|file| file.len() > 0));
    kill_with_guard(hosted.host.agent.as_mut().unwrap());
    assert!(!processes_with(&mark).is_empty(), "the kernel has ended it");
    hosted.start(Program::Python.variables(), &["true"]);
    let code = ended("the agent does not end", hosted.host.agent.as_mut().unwrap()).code();
    assert_eq!(code, Some(0), "{}", hosted.host.log());
    until("it is left", || processes_with(&mark).is_empty());
}

/// An agent without the right to end it names it.
#[test]
fn a_child_that_the_next_agent_may_not_end_is_named() {
    // SAFETY: `geteuid` has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return println!("not tested: only root may start an agent as another user");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    // `daemon` starts it, and it becomes `bin`.
    servers::run(Command::new("cp").args(["/usr/bin/setpriv", &path("")]));
    fs::set_permissions(path("setpriv"), fs::Permissions::from_mode(0o4755)).unwrap();
    servers::run(Command::new("cp").arg(agent().get_program()).arg(path("txid-agent")));
    servers::run(Command::new("chmod").args(["755", &path("txid-agent")]));
    servers::run(Command::new("chown").args(["daemon", &path("")]));
    let run = |child: &[&str]| {
        let mut run = servers::as_user("daemon", &path("txid-agent"));
        run.args(["run", "--store", &format!("file://{}", path("leases")), "--dir", &path("run"), "--new"]);
        run.args(["--node", "orders=snowflake", "--env", "WORKER_ID={orders}", "--"]).args(child);
        run.stdin(Stdio::null()).stderr(Stdio::piped());
        run
    };
    let mut first = run(&[&path("setpriv"), "--reuid", "bin", "--regid", "bin", "--clear-groups", "sleep", "1000"])
        .spawn()
        .unwrap();
    let mut child = None;
    until("there is no child", || {
        child = child_of(first.id()).and_then(|guard| child_of(guard as u32));
        let name = |child| fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        child.is_some_and(|child| name(child) == "sleep\n")
    });
    kill_with_guard(&mut first);
    let next = run(&["true"]).output().unwrap();
    let wanted = format!("process {}, which an earlier txid-agent has started, still runs; end it", child.unwrap());
    let said = String::from_utf8(next.stderr).unwrap();
    assert!(next.status.code() == Some(1) && said.contains(&wanted), "{said}");
    send(child.unwrap(), libc::SIGKILL);
    until("no agent starts", || run(&["true"]).output().unwrap().status.success());
}
