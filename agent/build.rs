//! Writes the manuals and the shell completions next to the built binary: `agent/man/` and `agent/completions/`.

use args::Args;
use clap::CommandFactory;
use std::io;

#[allow(dead_code)]
#[path = "src/args.rs"]
mod args;

fn main() -> io::Result<()> {
    for file in ["build.rs", "src/args.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    txid_manual::write(Args::command(), &txid_manual::beside_binary()?.join("agent"))
}
