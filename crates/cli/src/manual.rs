//! `txid completions` and `txid man`, which need no file beside the command.

use anyhow::{Context, Result, anyhow};
use clap::CommandFactory;
use std::io::{self, Write, stdout};
use std::process::ExitCode;
use txid_args::{Args, Completions, Man, Shell};

pub(crate) fn completions(args: &Completions) -> Result<ExitCode> {
    let shell = match args.shell {
        Shell::Bash => txid_manual::Shell::Bash,
        Shell::Zsh => txid_manual::Shell::Zsh,
        Shell::Fish => txid_manual::Shell::Fish,
    };
    let mut text = Vec::new();
    txid_manual::completions(shell, Args::command(), &mut text);
    print(&text)
}

pub(crate) fn man(args: &Man) -> Result<ExitCode> {
    let all = txid_manual::with_subcommands(Args::command());
    let wanted = args.command.as_ref().map_or("txid".to_string(), |command| format!("txid-{command}"));
    let names = || all.iter().filter_map(|(name, _)| name.strip_prefix("txid-")).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|(name, _)| *name == wanted);
    let (_, command) = found.ok_or_else(|| anyhow!("'{}' is no command; they are {}", &wanted[5..], names()))?;
    let mut text = Vec::new();
    txid_manual::man(command.clone(), &mut text)?;
    print(&text)
}

fn print(text: &[u8]) -> Result<ExitCode> {
    let written: io::Result<()> = stdout().write_all(text);
    written.context("standard output").map(|()| ExitCode::SUCCESS)
}
