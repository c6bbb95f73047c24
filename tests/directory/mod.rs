//! A directory for a test's files.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// It is removed when the test ends.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let parent = std::env::temp_dir().canonicalize().unwrap();
        let path = parent.join(format!("txid-{name}-{}", std::process::id()));
        // It may be left over from a killed process with the same number.
        let _ = fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }

    /// A path for a state's file.
    #[allow(dead_code)]
    pub fn file(&self) -> PathBuf {
        self.0.join("orders")
    }
}

/// The word at `at` of a page.
#[allow(dead_code)]
pub fn word(page: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(page[at..at + 8].try_into().unwrap())
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}
