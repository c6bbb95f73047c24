//! Why a state, or a lease's page, could not be opened.

use super::layout::Layout;
use crate::shared::{PageError, origin};
use crate::text::error_texts;
use std::path::PathBuf;

/// Why a state could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateError {
    /// The layout has no such node.
    Node {
        /// The node asked for.
        node: u64,
        /// The highest node of the layout.
        last: u64,
    },
    /// The page could not be opened or made.
    Page(PageError),
    /// The file belongs to another layout.
    OtherLayout {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: Layout,
        /// The layout asked for.
        wanted: Layout,
    },
    /// The file belongs to another node.
    OtherNode {
        /// The file.
        path: PathBuf,
        /// Its node.
        found: u64,
        /// The node asked for.
        wanted: u64,
    },
    /// The file of the lease does not exist.
    NoLease(PathBuf),
    /// Nothing shows which boot this is, so the file may be from an earlier one.
    UnknownBoot(PathBuf),
    /// The file was made before the last boot, or on another machine.
    OtherBoot(PathBuf),
    /// The file is a copy, so another process may be using the original.
    Copied(PathBuf),
    /// The layout has no bits for nodes.
    NoNodes(Layout),
}

impl From<PageError> for StateError {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

error_texts! { StateError {
    Self::Node { node, last } => "node {node} is not in the layout's range, 0 to {last}";
    Self::Page(error) => "{error}";
    Self::OtherLayout { path, found, wanted } => "{} belongs to the layout {found}, not to {wanted}", path.display();
    Self::OtherNode { path, found, wanted } => "{} belongs to node {found}, not to node {wanted}", path.display();
    Self::NoLease(path) =>
        "{} does not exist; txid-agent makes it, so start that first, with --node", path.display();
    Self::UnknownBoot(path) => "{}", origin::of_unknown_boot(path);
    Self::OtherBoot(path) =>
        "{} was made before this boot or on another machine; txid-agent makes a new one when it starts", path.display();
    Self::Copied(path) => "{} is a copy of a lease; remove it, and txid-agent will make a new one", path.display();
    Self::NoNodes(layout) => "the layout {layout} has no bits for a node, so none can be leased";
} }
