//! Writes the man pages and the shell completions next to the built binary: `man/` and `completions/`.

use clap::CommandFactory;
use std::io;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    txid_pages::write(txid_args::Args::command(), &txid_pages::beside_binary()?)
}
