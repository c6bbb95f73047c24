//! `libtxid.so` as a release builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
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
