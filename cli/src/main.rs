//! The `txid` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    txid_cli::run()
}
