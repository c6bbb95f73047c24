//! `libtxid.so` as a release builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The same library as with the command, which a test of dependencies checks.
    let arguments = ["build", "--locked", "--release", "--package", "txid-capi"];
    let mut build = Command::new(env!("CARGO"));
    // As `make build` does. Otherwise its size depends on how long this machine's paths are.
    build.args(arguments).current_dir(&root).env("RUSTC_WRAPPER", root.join("scripts/rustc.sh"));
    assert!(build.status().unwrap().success());
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("release/libtxid.so")
});

/// The path of the library, rebuilt if necessary.
pub fn path() -> &'static Path {
    &LIBRARY
}

/// Compiles a C program, whose path is below the checkout, with the static library.
pub fn compile(source: &str, program: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
        .arg(root.join(source))
        .arg("-I")
        .arg(root.join("include"))
        .arg(path().with_extension("a"))
        .args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-o"])
        .arg(program)
        .status();
    assert!(compiled.unwrap().success());
}

/// The minor version of the compiler, such as 95 of 1.95.0.
pub fn rust_minor() -> u32 {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or_else(|| panic!("rustc is {version:?}"))
}
