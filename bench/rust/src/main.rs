//! The tables that are not made inside nginx, as Markdown in a file:
//!
//! - `txid-bench ids LIBTXID DIRECTORY` writes `ids.md` there, and has criterion keep its data there;
//! - `txid-bench requests WORKER ADDRESS DIRECTORY` writes `requests.md` there, of the nginx worker with that process id.
//!
//! Time is a thread's own on a processor, as in the first table: what else runs on the machine is nobody's cost.

mod cpu_time;
mod ids;
mod requests;
mod table;

use std::fs;
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (directory, file, table) = match words[..] {
        ["ids", library, directory] => (directory, "ids.md", ids::table(library, Path::new(directory))),
        ["requests", worker, address, directory] => {
            (directory, "requests.md", requests::table(worker, address, Path::new(directory)))
        }
        _ => panic!("txid-bench takes ids LIBTXID DIRECTORY, or requests WORKER ADDRESS DIRECTORY"),
    };
    fs::write(Path::new(directory).join(file), table).unwrap();
}
