//! A directory for a test's files.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// It is removed when the test ends.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        /// Tests that run at the same time may choose the same name.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let parent = std::env::temp_dir().canonicalize().unwrap();
        let path = parent.join(format!("txid-{name}-{}-{number}", std::process::id()));
        // It may be left over from a killed process with the same number.
        let _ = fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }

    /// A path for a state's file.
    pub fn file(&self) -> PathBuf {
        self.0.join("orders")
    }
}

/// The word at `at` of a page.
pub fn word(page: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(page[at..at + 8].try_into().unwrap())
}

/// Whether the file at `path` has the header of a page of `kind`, in the places where other versions look: the kind and
/// version first, the boot and the file in bytes 40..72.
pub fn has_header_of(path: &Path, kind: &[u8; 8]) -> bool {
    let (page, status) = (fs::read(path).unwrap(), fs::metadata(path).unwrap());
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().replace('-', "");
    let found: String = page[40..56].iter().map(|byte| format!("{byte:02x}")).collect();
    let file = [word(&page, 56), word(&page, 64)];
    page[..8] == *kind && word(&page, 8) == 1 && found == boot && file == [status.dev(), status.ino()]
}

impl Drop for Directory {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        // A second panic would hide the first.
        if !std::thread::panicking() {
            removed.unwrap();
        }
    }
}
