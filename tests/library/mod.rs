//! `libtxid.so` as a release builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let build = Command::new(env!("CARGO")).arg("libtxid").current_dir(&root).status().unwrap();
    assert!(build.success());
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("release/libtxid.so")
});

/// Where the library is, built anew if need be.
pub fn path() -> &'static Path {
    &LIBRARY
}
