//! Pages of memory that processes share: all processes of a host through a file, or a parent and its children.
//!
//! Each use of a page defines its beginning ([`page_bytes::Kind`]), the fields of its header, and the words it changes.
//! Making, opening, checking and mapping a page, and finding it again in a child, are the same for all uses.

mod file;
pub(crate) mod key_check;
mod list;
pub(crate) mod origin;
pub(crate) mod page;
pub(crate) mod page_bytes;
pub(crate) mod word;

pub use file::FileError;
pub(crate) use file::Identity;
pub use page::PageError;

#[cfg(all(test, loom))]
pub(crate) mod tests {
    pub(crate) mod every_order;
}
