//! Writes the man pages and the shells' completions beside the built binary: `target/release/man/` and
//! `target/release/completions/`.

use clap::CommandFactory;
use std::path::Path;
use std::{env, fs, io};

#[allow(dead_code)]
#[path = "src/args.rs"]
mod args;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/args.rs");
    // OUT_DIR is target/release/build/txid-cli-<hash>/out, which nobody could guess.
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let beside_binary = Path::new(&out).ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?;

    let (man, completions) = (beside_binary.join("man"), beside_binary.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(args::Args::command(), man)?;
    for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
        clap_complete::generate_to(shell, &mut args::Args::command(), "txid", &completions)?;
    }
    Ok(())
}
