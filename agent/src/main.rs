//! The `txid-agent` command.

mod args;
mod command;
mod config;
mod environment;
mod run;

use args::{Args, Command};
use clap::Parser;
use std::io::{Write, stderr};
use std::process::ExitCode;

#[cfg(panic = "abort")]
compile_error!("a bug in the client of one store would end the leases of all: build the agent with `make agent`");

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if args.next().is_some_and(|name| name == run::start::NAME) {
        return run::start::become_command(args);
    }
    let done = match Args::parse().command {
        Command::Run(args) => run::run(args),
        Command::Status(args) => command::status::run(&args),
        Command::Nodes(args) => command::nodes::run(&args),
        Command::Release(args) => command::release::run(&args),
        Command::Floor(args) => command::floor::run(&args),
        Command::Raise(args) => command::raise::run(&args),
    };
    done.unwrap_or_else(|error| {
        let _ = writeln!(stderr(), "txid-agent: {error:#}");
        ExitCode::FAILURE
    })
}
