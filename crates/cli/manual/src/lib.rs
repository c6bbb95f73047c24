//! Manuals and completions of a command, for the build scripts of `txid` and `txid-agent`.

use clap::Command;
use clap_complete::Shell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The directory of the built binary: OUT_DIR is release/build/txid-cli-<hash>/out, and the hash is unpredictable.
pub fn beside_binary() -> io::Result<PathBuf> {
    let out = std::env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    Ok(Path::new(&out).ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?.to_path_buf())
}

/// Writes `man/` and `completions/` in `directory`.
pub fn write(command: Command, directory: &Path) -> io::Result<()> {
    let name = command.get_name().to_owned();
    let man = directory.join("man");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(command.clone(), &man)?;
    for file in fs::read_dir(man)? {
        let file = file?.path();
        // The end of a help text has tables and examples, which man would reflow like paragraphs.
        fs::write(&file, fs::read_to_string(&file)?.replace(".SH EXTRA\n", ".SH NOTES\n.nf\n"))?;
    }
    for (shell, file) in [
        (Shell::Bash, format!("bash/{name}")),
        (Shell::Zsh, format!("zsh/_{name}")),
        (Shell::Fish, format!("fish/{name}.fish")),
    ] {
        let file = directory.join("completions").join(file);
        fs::create_dir_all(file.parent().unwrap_or(directory))?;
        clap_complete::generate(shell, &mut command.clone(), &name, &mut File::create(file)?);
    }
    Ok(())
}
