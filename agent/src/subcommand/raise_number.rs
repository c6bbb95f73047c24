//! `txid-agent raise-number`: for a store that was restored from a backup.

use crate::args::RaiseNumber;
use crate::config;
use anyhow::bail;
use txid_agent::store::{self, Store};

pub fn run(args: &RaiseNumber) -> anyhow::Result<String> {
    raise(&mut *store::open(&config::store(&args.from)?)?, &args.tag, args.number)
}

/// Tells what was done.
fn raise(store: &mut dyn Store, tag: &str, number: u64) -> anyhow::Result<String> {
    Ok(match store.raise(tag, number)? {
        None => bail!("the store has no tag {tag}"),
        Some(was) if was >= number => format!("{tag} is already at {was}, and never goes down"),
        Some(was) => format!("raised {tag} from {was} to {number}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::directory;
    use super::*;

    #[test]
    fn a_number_goes_up_and_that_is_said() {
        let (_directory, mut store) = directory();
        let mut said = |number| match raise(&mut *store, "invoices", number) {
            Ok(said) => said,
            Err(error) => {
                store.create_tag("invoices", 20).unwrap();
                error.to_string()
            }
        };
        assert_eq!(said(51), "the store has no tag invoices");
        assert_eq!(said(51), "raised invoices from 1 to 51");
        assert_eq!([50, 51].map(said), ["invoices is already at 51, and never goes down"; 2]);
    }
}
