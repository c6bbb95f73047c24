//! A keyed permutation of numbers, and its keys: from a file, in memory that is not dumped. `txid::hidden` is made of it.
//!
//! It is a crate of its own to be optimized for size: AES in software would otherwise be unrolled loops.

mod cipher;
mod ff1;
mod file;
mod secret;

pub use ff1::Ff1;
pub use file::{Key, KeyFileError, KeyFlaw};

use cipher::Cipher;
use secret::Secret;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The keys of a file, each as a permutation. They are wiped from memory when this is dropped.
pub struct Keys(Secret<Key>);

impl Keys {
    /// Reads a file that its owner alone may read, and makes of each key a permutation of texts of `length` characters
    /// over an alphabet of `radix`. There is at least one.
    pub fn read(path: &Path, radix: u32, length: u32, tweak: &[u8]) -> Result<Self, KeyFileError> {
        let read = file::keys(path, &mut |key| Ff1::new(Cipher::of(key), radix, length, tweak));
        read.map(Self).map_err(|flaw| KeyFileError { path: path.to_path_buf(), flaw })
    }

    /// Why the system may write the keys to its swap space, if it may.
    pub fn not_locked(&self) -> Option<io::Error> {
        self.0.not_locked()
    }
}

impl Deref for Keys {
    type Target = [Key];

    #[inline(always)]
    fn deref(&self) -> &[Key] {
        &self.0
    }
}
