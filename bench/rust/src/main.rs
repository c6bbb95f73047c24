//! Makes the tables that are not made inside nginx, as Markdown in a file:
//!
//! - `txid-bench ids LIBTXID SOFT DIRECTORY` writes `ids.md` and criterion's data to the directory. SOFT is a libtxid.so without
//!   AES instructions;
//! - `txid-bench encoders DIRECTORY` writes `encoders.md`;
//! - `txid-bench requests DIRECTORY [NAME WORKER ADDRESS COUNTED ITS_ADDRESS]...` writes `requests.md`. WORKER is the process id
//!   of an nginx worker, and COUNTED the one of a worker under callgrind, which writes to `DIRECTORY/NAME/callgrind`.
//! - `txid-bench logs TXID DIRECTORY` writes `logs.md`, and uses the directory for gigabytes.
//!
//! Time is processor time, of a thread as in the first table or of a program, so other programs do not count.

mod callgrind;
mod cpu_time;
mod encoders;
mod ids;
mod load;
mod logs;
mod requests;
mod table;

use std::fs;
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (directory, file, table) = match words[..] {
        ["ids", library, soft, directory] => (directory, "ids.md", ids::table(library, soft, Path::new(directory))),
        ["encoders", directory] => (directory, "encoders.md", encoders::table()),
        ["requests", directory, ref servers @ ..] => {
            (directory, "requests.md", requests::table(servers, Path::new(directory)))
        }
        ["logs", txid, directory] => (directory, "logs.md", logs::table(txid, Path::new(directory))),
        _ => panic!(
            "txid-bench takes ids LIBTXID SOFT DIRECTORY, encoders DIRECTORY, logs TXID DIRECTORY, or requests DIRECTORY [NAME WORKER \
             ADDRESS COUNTED ITS_ADDRESS]..."
        ),
    };
    fs::write(Path::new(directory).join(file), table).unwrap();
}
