//! The origin of a page: the boot of the machine, and the file.
//!
//! Such a page is valid only in that boot and in that file: after a restart it says nothing, and a copy of it would
//! give out the same ids as the original.

use super::Identity;
use super::page_bytes::PageBytes;
use crate::source::boot::{BOOT_ID, boot_id};
use std::path::Path;

const BOOT_AT: usize = 40;
const FILE_AT: usize = 56;

/// Boot and file, as the fields at bytes 40..80 of a header.
pub(crate) struct Origin {
    /// None if it cannot be read.
    boot: Option<[u8; 16]>,
    file: [u8; 24],
}

/// How a page can be from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Nothing shows which boot this is.
    UnknownBoot,
    /// The machine was rebooted in the meantime.
    OtherBoot,
    /// It belongs to another file.
    Copied,
}

impl Origin {
    /// This boot, and this file.
    pub(crate) fn new(file: Identity) -> Self {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&file.device.to_ne_bytes());
        bytes[8..16].copy_from_slice(&file.inode.to_ne_bytes());
        bytes[16..].copy_from_slice(&file.born_ns.to_ne_bytes());
        Self { boot: boot_id(), file: bytes }
    }

    /// Each field with its offset.
    pub(crate) fn placed(&self) -> [(usize, &[u8]); 2] {
        [(BOOT_AT, self.boot.as_ref().unwrap_or(&[0; 16])), (FILE_AT, &self.file)]
    }

    /// Whether it is known which boot this is.
    pub(crate) fn is_known() -> bool {
        boot_id().is_some()
    }

    /// Checks that `found`, read from `file`, was made in that file and in this boot.
    pub(crate) fn check(found: &PageBytes, file: Identity) -> Result<(), Foreign> {
        Self::new(file).is_of(found)
    }

    fn is_of(&self, found: &PageBytes) -> Result<(), Foreign> {
        if self.boot.is_none() {
            return Err(Foreign::UnknownBoot);
        }
        let [boot, file] = self.placed();
        let header = found.header();
        if !header.has(&[boot]) {
            return Err(Foreign::OtherBoot);
        }
        if header.has(&[file]) { Ok(()) } else { Err(Foreign::Copied) }
    }
}

/// Why the file at `path` is of no use while nothing shows which boot this is.
pub(crate) fn of_unknown_boot(path: &Path) -> String {
    format!(
        "cannot tell whether {} is from this boot, because {BOOT_ID} cannot be read; mount /proc here (systemd: without \
         ProcSubset=pid)",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::super::page_bytes::Kind;
    use super::*;

    #[test]
    fn a_page_is_of_one_boot_and_of_one_file_on_one_device() {
        const KIND: Kind = Kind { magic: b"txid-tst", version: 1, name: "", advice: "", may_be_replaced: false };
        let identity = |device, inode| Identity { device, inode, born_ns: 9 };
        let here = Origin::new(identity(5, 7));
        let contents = |origin: &Origin| PageBytes::new(&KIND, &origin.placed());
        assert_eq!(Origin::check(&contents(&here), identity(5, 7)), Ok(()));
        let later = Identity { born_ns: 10, ..identity(5, 7) };
        for elsewhere in [identity(5, 8), identity(6, 7), identity(7, 5), later] {
            assert_eq!(Origin::check(&contents(&here), elsewhere), Err(Foreign::Copied));
        }
        for at in [0, 15] {
            let mut earlier = Origin::new(identity(5, 7));
            earlier.boot.as_mut().unwrap()[at] ^= 1;
            assert_eq!(Origin::check(&contents(&earlier), identity(5, 7)), Err(Foreign::OtherBoot));
        }
        // Otherwise such pages would be valid in every boot.
        let nowhere = Origin { boot: None, ..Origin::new(identity(5, 7)) };
        assert_eq!(nowhere.is_of(&contents(&here)), Err(Foreign::UnknownBoot));
        assert_eq!(nowhere.is_of(&contents(&nowhere)), Err(Foreign::UnknownBoot));
        assert_eq!(here.is_of(&contents(&nowhere)), Err(Foreign::OtherBoot));
    }
}
