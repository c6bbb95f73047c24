//! Writes the manuals and the shell completions next to the built binary: `man/` and `completions/`.

use clap::CommandFactory;
use std::io;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    txid_manual::write(txid_args::Args::command(), &txid_manual::beside_binary()?)
}
