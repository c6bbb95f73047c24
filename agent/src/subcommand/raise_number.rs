//! `txid-agent raise-number`: for a store that was restored from a backup.

use crate::args::RaiseNumber;
use crate::config;
use anyhow::bail;
use std::process::ExitCode;
use txid_agent::store;

pub fn run(args: &RaiseNumber) -> anyhow::Result<ExitCode> {
    let mut store = store::open(&config::store(&args.from)?)?;
    match store.raise(&args.tag, args.number)? {
        None => bail!("the store has no tag {}", args.tag),
        Some(was) if was >= args.number => println!("{} is already at {was}, and never goes down", args.tag),
        Some(was) => println!("raised {} from {was} to {}", args.tag, args.number),
    }
    Ok(ExitCode::SUCCESS)
}
