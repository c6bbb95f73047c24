//! The `txid-agent` command.

fn main() {}
