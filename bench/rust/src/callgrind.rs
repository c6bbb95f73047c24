//! Counts the instructions of a request, which do not depend on other load.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Enough requests for LuaJIT to compile everything that it compiles.
const WARM_UP: usize = 1000;
const REQUESTS: usize = 2000;
/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An nginx that runs under callgrind, without a master process.
pub struct Callgrind {
    pub pid: String,
    pub address: String,
    /// The prefix of the names of its files.
    pub output: PathBuf,
}

impl Callgrind {
    /// The instructions of a request with this header line, if any, without the kernel's.
    pub fn instructions(&self, path: &str, header: &str) -> f64 {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n");
        let mut answer = [0; 4096];
        connection.write_all(request.as_bytes()).unwrap();
        // All answers have the same length, and are short enough to arrive at once.
        let length = connection.read(&mut answer).unwrap();
        let mut ask = |times| {
            for _ in 0..times {
                connection.write_all(request.as_bytes()).unwrap();
                connection.read_exact(&mut answer[..length]).unwrap();
            }
        };
        ask(WARM_UP);
        self.control("--zero");
        ask(REQUESTS);
        // callgrind writes a file for each dump, and numbers them.
        self.control("--dump");
        let written = (1..).map(|number| self.output.with_extension(number.to_string()));
        let last = written.take_while(|file| file.exists()).last().unwrap();
        let profile = fs::read_to_string(last).unwrap();
        let total = profile.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
        total.parse::<f64>().unwrap() / REQUESTS as f64
    }

    fn control(&self, what: &str) {
        let output = Command::new("callgrind_control").args([what, &self.pid]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
