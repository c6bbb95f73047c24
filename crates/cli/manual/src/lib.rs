//! Manuals and completions of a command: those that `txid` prints, and those that the build script of `txid-agent` writes.

use clap::Command;
pub use clap_complete::Shell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The directory of the built binary: OUT_DIR is release/build/txid-cli-<hash>/out, and the hash is unpredictable.
pub fn beside_binary() -> io::Result<PathBuf> {
    let out = std::env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    Ok(Path::new(&out).ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?.to_path_buf())
}

/// The manual of a command.
pub fn man(command: Command, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    // The end of a help text has tables and examples, which man would reflow like paragraphs.
    out.write_all(String::from_utf8_lossy(&text).replace(".SH EXTRA\n", ".SH NOTES\n.nf\n").as_bytes())
}

/// The completions of a command for a shell.
pub fn completions(shell: Shell, mut command: Command, out: &mut impl Write) {
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, out);
}

/// A command, and those below it, each with the name of its manual.
pub fn with_subcommands(command: Command) -> Vec<(String, Command)> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let below = command.get_subcommands();
    let name = command.get_name().to_owned();
    let named = |it: &Command| {
        let name = format!("{name}-{}", it.get_name());
        let of = it.clone().display_name(name.clone());
        (name, of)
    };
    let mut all: Vec<_> = below.map(named).collect();
    all.insert(0, (name, command));
    all
}

/// Writes `man/` and `completions/` in `directory`.
pub fn write(command: Command, directory: &Path) -> io::Result<()> {
    let name = command.get_name().to_owned();
    let man_pages = directory.join("man");
    fs::create_dir_all(&man_pages)?;
    for (name, command) in with_subcommands(command.clone()) {
        man(command, &mut File::create(man_pages.join(format!("{name}.1")))?)?;
    }
    for (shell, file) in [
        (Shell::Bash, format!("bash/{name}")),
        (Shell::Zsh, format!("zsh/_{name}")),
        (Shell::Fish, format!("fish/{name}.fish")),
    ] {
        let file = directory.join("completions").join(file);
        fs::create_dir_all(file.parent().unwrap_or(directory))?;
        completions(shell, command.clone(), &mut File::create(file)?);
    }
    Ok(())
}
