//! What the `txid` command does: it makes, reads, finds and sorts ids, and hides numbers. The parts that read what anybody may have written
//! are public for `crates/fuzz/`.

mod audit;
pub mod blocks;
mod errors;
mod grep;
mod grep_page;
pub mod gzip;
mod hidden;
mod histogram;
mod ids;
mod input;
mod inspect;
mod line_time;
mod link;
mod manual;
mod new;
mod pattern;
pub mod picture;
mod range;
mod read_ahead;
mod records;
mod runs;
mod seek;
mod skipped;
mod sort;
mod sql;
pub mod terminal;
pub mod time;
mod window;
mod zone;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use errors::{TROUBLE, complain, say};
use std::process::ExitCode;
use txid_args::{Args, Command};

/// Runs the command with the arguments of this process. Nothing is done if its output goes nowhere.
pub fn run(output_is_closed: bool) -> ExitCode {
    end_quietly_when_nobody_reads();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(mut error) => {
            suggest_longer(&mut error);
            match error.to_string().strip_prefix("error: ") {
                Some(what) => {
                    say(what.trim_end());
                    return ExitCode::from(TROUBLE);
                }
                None => error.exit(),
            }
        }
    };
    if output_is_closed {
        complain(&anyhow::anyhow!("standard output is closed"));
        return ExitCode::from(TROUBLE);
    }
    let done = match args.command.unwrap_or(Command::New(args.new)) {
        Command::New(args) => new::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Range(args) => range::run(&args),
        Command::Grep(args) => grep::run(&args),
        Command::Sort(args) => sort::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Key(args) => hidden::key(&args),
        Command::Hide(args) => hidden::hide(&args),
        Command::Reveal(args) => hidden::reveal(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    done.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(TROUBLE)
    })
}

/// What is cut short means an option that begins so, and not a shorter one.
fn suggest_longer(error: &mut clap::Error) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return };
    let command = Args::command();
    let name = std::env::args().nth(1).unwrap_or_default();
    let options = command.find_subcommand(&name).unwrap_or(&command).get_arguments();
    let longer: Vec<_> = options
        .filter_map(|option| Some(format!("--{}", option.get_long()?)))
        .filter(|option| option.starts_with(given))
        .collect();
    if let ([one], ErrorKind::UnknownArgument) = (&longer[..], error.kind()) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(one.clone()));
    }
}

/// Rust ignores SIGPIPE, so `txid -n 1000000 | head` would end with an error. It should just end, like grep.
fn end_quietly_when_nobody_reads() {
    // SAFETY: the default action is not a handler of ours, and no other thread runs yet.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL)
    };
}
