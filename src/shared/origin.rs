//! The origin of a page: the boot of the machine, and the file.
//!
//! Such a page is valid only in that boot and in that file: after a restart it says nothing, and a copy of it would
//! give out what the original gives out.

use super::Identity;
use super::page::Image;
use crate::source::boot::boot_id;

const BOOT_AT: usize = 40;
const FILE_AT: usize = 56;

/// Boot and file, as the fields at bytes 40..72 of a header.
pub(crate) struct Origin {
    boot: [u8; 16],
    file: [u8; 16],
}

/// How a page can be from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The machine was rebooted in the meantime.
    OtherBoot,
    /// It belongs to another file.
    Copied,
}

impl Origin {
    /// This boot, and this file.
    pub(crate) fn new(file: Identity) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&file.device.to_ne_bytes());
        bytes[8..].copy_from_slice(&file.inode.to_ne_bytes());
        Self { boot: boot_id(), file: bytes }
    }

    /// Each field with its offset.
    pub(crate) fn placed(&self) -> [(usize, &[u8]); 2] {
        [(BOOT_AT, &self.boot), (FILE_AT, &self.file)]
    }

    /// Checks that `found`, read from `file`, was made in that file and in this boot.
    pub(crate) fn check(found: &Image, file: Identity) -> Result<(), Foreign> {
        let here = Self::new(file);
        let [boot, file] = here.placed();
        let header = found.header();
        if !header.has(&[boot]) {
            return Err(Foreign::OtherBoot);
        }
        if header.has(&[file]) { Ok(()) } else { Err(Foreign::Copied) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::Kind;
    use super::*;

    #[test]
    fn a_page_is_of_one_boot_and_of_one_file_on_one_device() {
        const KIND: Kind = Kind { magic: b"txid-tst", version: 1, name: "", advice: "", may_be_replaced: false };
        let identity = |device, inode| Identity { device, inode };
        let here = Origin::new(identity(5, 7));
        let image = |origin: &Origin| Image::new(&KIND, &origin.placed());
        assert_eq!(Origin::check(&image(&here), identity(5, 7)), Ok(()));
        for elsewhere in [identity(5, 8), identity(6, 7), identity(7, 5)] {
            assert_eq!(Origin::check(&image(&here), elsewhere), Err(Foreign::Copied));
        }
        for at in [0, 15] {
            let mut earlier = Origin::new(identity(5, 7));
            earlier.boot[at] ^= 1;
            assert_eq!(Origin::check(&image(&earlier), identity(5, 7)), Err(Foreign::OtherBoot));
        }
    }
}
