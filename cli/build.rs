//! Writes the man pages and the shells' completions beside the built binary: `man/` and `completions/`.

use args::Args;
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs::{self, File};
use std::path::Path;
use std::{env, io};

#[allow(dead_code)]
#[path = "src/args.rs"]
mod args;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/args.rs");
    // OUT_DIR is release/build/txid-cli-<hash>/out, which nobody could guess.
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let beside_binary = Path::new(&out).ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?;

    let man = beside_binary.join("man");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(Args::command(), &man)?;
    for page in fs::read_dir(man)? {
        let page = page?.path();
        // What help says last is tables and examples, which man would fill as it fills a paragraph.
        fs::write(&page, fs::read_to_string(&page)?.replace(".SH EXTRA\n", ".SH NOTES\n.nf\n"))?;
    }
    for (shell, file) in [(Shell::Bash, "bash/txid"), (Shell::Zsh, "zsh/_txid"), (Shell::Fish, "fish/txid.fish")] {
        let file = beside_binary.join("completions").join(file);
        fs::create_dir_all(file.parent().unwrap_or(beside_binary))?;
        clap_complete::generate(shell, &mut Args::command(), "txid", &mut File::create(file)?);
    }
    Ok(())
}
