//! The tables that are not made inside nginx, as Markdown in a file:
//!
//! - `txid-bench ids LIBTXID DIRECTORY` writes `ids.md` there, and has criterion keep its data there;
//! - `txid-bench encoders DIRECTORY` writes `encoders.md` there;
//! - `txid-bench requests WORKER ADDRESS COUNTED ITS_ADDRESS DIRECTORY` writes `requests.md` there, of the nginx worker with
//!   that process id, and of another one, which runs under callgrind.
//!
//! Time is a thread's own processor time, as in the first table, so other programs do not count.

mod callgrind;
mod cpu_time;
mod encoders;
mod ids;
mod load;
mod requests;
mod table;

use callgrind::Callgrind;
use std::fs;
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (directory, file, table) = match words[..] {
        ["ids", library, directory] => (directory, "ids.md", ids::table(library, Path::new(directory))),
        ["encoders", directory] => (directory, "encoders.md", encoders::table()),
        ["requests", worker, address, counted, its_address, directory] => {
            let directory_path = Path::new(directory);
            let counted = Callgrind { pid: counted, address: its_address, output: &directory_path.join("callgrind") };
            (directory, "requests.md", requests::table(worker, address, &counted, directory_path))
        }
        _ => panic!(
            "txid-bench takes ids LIBTXID DIRECTORY, encoders DIRECTORY, or requests WORKER ADDRESS COUNTED ITS_ADDRESS DIRECTORY"
        ),
    };
    fs::write(Path::new(directory).join(file), table).unwrap();
}
