//! The `txid-agent` command.

mod args;
mod config;
mod environment;
mod node;
mod run;
mod subcommand;

use args::{Args, Subcommand};
use clap::Parser;
use std::process::ExitCode;

#[cfg(panic = "abort")]
compile_error!("a bug in the client of one store would end the leases of all: build the agent with `make agent`");

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if args.next().is_some_and(|name| name == run::start::NAME) {
        return run::start::become_child(args);
    }
    txid_agent::store::hide_password();
    let done = match Args::parse().subcommand {
        Subcommand::Run(args) => run::run(args),
        Subcommand::Status(args) => subcommand::status::run(&args),
        Subcommand::Nodes(args) => subcommand::nodes::run(&args),
        Subcommand::Release(args) => subcommand::release::run(&args),
        Subcommand::Floor(args) => subcommand::floor::run(&args),
        Subcommand::Raise(args) => subcommand::raise::run(&args),
    };
    done.unwrap_or_else(|error| {
        run::journal::write(&format!("txid-agent: {error:#}"));
        ExitCode::FAILURE
    })
}
