//! Writes the man pages and the shell completions next to the built binary: `agent/man/` and `agent/completions/`.

use args::Args;
use clap::CommandFactory;
use std::io;

#[allow(dead_code)]
#[path = "src/args.rs"]
mod args;
#[path = "../cli/pages.rs"]
mod pages;

fn main() -> io::Result<()> {
    for file in ["build.rs", "../cli/pages.rs", "src/args.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    pages::write(Args::command(), &pages::beside_binary()?.join("agent"))
}
