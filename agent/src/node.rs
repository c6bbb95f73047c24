//! A node to lease, as the command line and the file name it.

use crate::args;
use txid::snowflake::Layout;
use txid_agent::store::Store;
use txid_agent_machines::store::Numbering;

/// Its name, the layout of its ids, and what numbers it.
#[derive(Clone)]
pub struct Node {
    pub name: String,
    pub layout: Layout,
    pub numbering: Numbering,
}

impl Node {
    pub fn new(name: &str, layout: &str) -> Result<Self, String> {
        let name = args::group_name(name)?;
        if name.ends_with(".segment") {
            return Err(format!("'{name}' ends with .segment, as only the files of segments do: choose another name"));
        }
        let (numbering, layout) = Numbering::parse(layout).map_err(|why| format!("{name}: {why}"))?;
        Ok(Self { name, layout, numbering })
    }

    /// Fails if this kind of store does not have what numbers it.
    pub fn fits(&self, store: &dyn Store) -> anyhow::Result<()> {
        let Self { name, numbering, .. } = self;
        let is_there = [Numbering::Own, store.numbering()].contains(numbering);
        anyhow::ensure!(is_there, "the node {name}: {} is not in this kind of store", numbering.place());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_node_has_a_name_as_the_file_of_a_segment() {
        let why = |name| Node::new(name, "snowflake").err();
        assert_eq!(why("orders.segments"), None);
        let said = "'orders.segment' ends with .segment, as only the files of segments do: choose another name";
        assert_eq!(why("orders.segment").as_deref(), Some(said));
        assert!(why("a/b").is_some() && Node::new("a", "snowfake").err().unwrap().starts_with("a: "));
    }
}
