//! Pages of memory that processes share: all of a host through a file, or a parent and its children.
//!
//! A tenant says how its pages begin ([`page::Kind`]), which fields its header has, and which words it changes. Making,
//! opening, checking and mapping a page, and finding it again in a child, are the same for all of them.

mod file;
pub(crate) mod origin;
pub(crate) mod page;
mod registry;
pub(crate) mod word;

pub use file::FileError;
pub(crate) use file::Identity;
pub use page::PageError;
