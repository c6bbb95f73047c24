//! The examples of the help.

use clap::{Command, CommandFactory, Parser};
use txid_args::Args;

/// A command and all below it, by their names.
fn all(name: &str, command: &Command) -> Vec<(String, Command)> {
    let below = command.get_subcommands().filter(|it| it.get_name() != "help");
    let below = below.flat_map(|it| all(&format!("{name} {}", it.get_name()), it));
    std::iter::once((name.trim().to_string(), command.clone())).chain(below).collect()
}

/// The commands of a line of a shell, each as its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word, mut quote) = (vec![Vec::new()], String::new(), None);
    let end_word = |word: &mut String, commands: &mut Vec<Vec<String>>| {
        if !word.is_empty() {
            commands.last_mut().unwrap().push(std::mem::take(word));
        }
    };
    for char in line.chars().chain([' ']) {
        match char {
            '\'' | '"' if quote.is_none_or(|it| it == char) => quote = if quote.is_none() { Some(char) } else { None },
            _ if quote == Some('\'') => word.push(char),
            ' ' => end_word(&mut word, &mut commands),
            '|' | ';' | '(' | ')' | '<' | '>' => {
                end_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            _ => word.push(char),
        }
    }
    commands.into_iter().filter(|words| words.first().is_some_and(|first| first == "txid")).collect()
}

#[test]
fn examples_can_be_typed() {
    let mut count = 0;
    for (name, command) in all("", &Args::command()) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for example in after.split("Examples:\n").nth(1).unwrap_or_default().lines() {
            let typed = example.trim().split("   ").next().unwrap();
            let commands = commands(typed);
            let is_its_own = |words: &Vec<String>| words[1..].join(" ").starts_with(&name);
            assert!(name == "new" || commands.iter().any(is_its_own), "{name}: {example}");
            for words in commands {
                assert!(Args::try_parse_from(&words).is_ok(), "{name}: {example}: {words:?}");
                let has_one_of = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
                // Which of them, only the command asks.
                assert!(
                    !has_one_of(&["--name"]) || has_one_of(&["--digits", "--letters", "--uuid"]),
                    "{name}: {example}"
                );
                count += 1;
            }
        }
    }
    assert_eq!(count, 52);
}
