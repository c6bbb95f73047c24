//! `libtxid.so` as a release builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Builds everything that is shipped, because a package that is built alone may have fewer features of its
    // dependencies.
    let build =
        Command::new(env!("CARGO")).args(["build", "--locked", "--release"]).current_dir(&root).status().unwrap();
    assert!(build.success());
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("release/libtxid.so")
});

/// The path of the library, rebuilt if necessary.
pub fn path() -> &'static Path {
    &LIBRARY
}

/// The minor version of the compiler, such as 95 of 1.95.0.
pub fn rust_minor() -> u32 {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or_else(|| panic!("rustc is {version:?}"))
}
