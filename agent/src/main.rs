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
    // SAFETY: no thread was started yet.
    unsafe { txid_agent::store::hide_secrets() };
    let subcommand = match Args::try_parse() {
        Ok(args) => args.subcommand,
        Err(error) => match error.to_string().strip_prefix("error: ") {
            Some(what) => {
                run::journal::write(&format!("txid-agent: {}", what.trim_end()));
                return ExitCode::from(2);
            }
            None => error.exit(),
        },
    };
    // As with grep and diff, 1 is an answer there.
    let failed = if matches!(subcommand, Subcommand::Status(_)) { ExitCode::from(2) } else { ExitCode::FAILURE };
    let done = match subcommand {
        Subcommand::Run(args) => run::run(args),
        Subcommand::Check(args) => run::check(args),
        Subcommand::Status(args) => subcommand::status::run(&args),
        Subcommand::Nodes(args) => subcommand::nodes::run(&args),
        Subcommand::Release(args) => subcommand::release::run(&args).map(tell),
        Subcommand::SetFloor(args) => subcommand::set_floor::run(&args).map(tell),
        Subcommand::RaiseNumber(args) => subcommand::raise_number::run(&args).map(tell),
    };
    done.unwrap_or_else(|error| {
        run::journal::write_error(&format!("{error:#}"));
        failed
    })
}

/// Says what was done.
fn tell(done: String) -> ExitCode {
    println!("{done}");
    ExitCode::SUCCESS
}
