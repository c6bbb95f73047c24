//! Runs wrk, which requests one path from the second processor, and is paused between two slices.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};

/// The command that runs wrk for at most this long, as an argument of `before`.
fn wrk(before: &[&str], seconds: u32, url: &str, header: &str) -> Command {
    let duration = format!("-d{seconds}");
    // Long enough that no answer is late because wrk was paused. wrk allocates a counter for each microsecond.
    let wrk = ["taskset", "-c", "1", "wrk", "-t1", "-c16", "--timeout", "20s", &duration];
    let header: &[&str] = if header.is_empty() { &[] } else { &["-H", header.trim_end()] };
    let words = [before, &wrk, header, &[url]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
    // wrk must end with this program: while paused, it would not notice.
    // SAFETY: a system call on plain data, between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        })
    };
    command
}

/// The number of requests that wrk reports. Fails if there were errors.
fn answered(url: &str, output: &Output) -> f64 {
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = said.contains("Non-2xx") || said.contains("Socket errors");
    assert!(output.status.success() && !failed, "{url}: {said}{}", String::from_utf8_lossy(&output.stderr));
    let count = said.lines().find_map(|line| line.trim().split_once(" requests in ")).unwrap().0;
    count.parse().unwrap()
}

/// Runs wrk for a second under another command, and returns the number of answers.
pub fn for_a_second(before: &[&str], url: &str, header: &str) -> f64 {
    answered(url, &wrk(before, 1, url, header).output().unwrap())
}

pub struct Load {
    wrk: Child,
    url: String,
}

impl Load {
    /// Starts wrk, and pauses it.
    pub fn new(url: String, header: &str) -> Self {
        let load = Self { wrk: wrk(&[], 3600, &url, header).spawn().unwrap(), url };
        load.signal(libc::SIGSTOP);
        load
    }

    /// Lets wrk run while `work` runs.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.signal(libc::SIGCONT);
        let result = work();
        self.signal(libc::SIGSTOP);
        result
    }

    /// Fails if any request failed.
    pub fn end(self) {
        let main_thread = self.wrk.id() as libc::c_long;
        // SAFETY: as below. The main thread's sleep is what must end; kill may choose another thread.
        let result = unsafe { libc::syscall(libc::SYS_tgkill, main_thread, main_thread, libc::SIGINT) };
        assert_eq!(result, 0);
        self.signal(libc::SIGCONT);
        answered(&self.url, &self.wrk.wait_with_output().unwrap());
    }

    fn signal(&self, signal: i32) {
        // SAFETY: wrk is a child that nobody has waited for.
        assert_eq!(unsafe { libc::kill(self.wrk.id() as i32, signal) }, 0);
    }
}
