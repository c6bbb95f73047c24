//! Help: its options, the sentences that other tests show to be true, and its examples.

use clap::{Arg, Command, CommandFactory, Parser};
use std::collections::BTreeMap;
use txid_args::Args;

/// A command and all below it, by their names.
fn all(name: &str, command: &Command) -> Vec<(String, Command)> {
    let below = command.get_subcommands().filter(|it| it.get_name() != "help");
    let below = below.flat_map(|it| all(&format!("{name} {}", it.get_name()), it));
    std::iter::once((name.trim().to_string(), command.clone())).chain(below).collect()
}

/// An option as people read it.
fn shown(arg: &Arg) -> String {
    let short = arg.get_short().map_or(String::new(), |short| format!("-{short} "));
    let aliases: String = arg.get_all_aliases().unwrap_or_default().iter().map(|it| format!(" or --{it}")).collect();
    // A flag that is not given is false.
    let values = if arg.get_action().takes_values() { arg.get_default_values() } else { &[] };
    let default: String = values.iter().map(|it| format!(" [{}]", it.to_string_lossy())).collect();
    format!("{short}{arg}{aliases}{default}: {}", arg.get_help().unwrap())
}

/// The options of commands, with the values that stand for them if they are not given.
const OPTIONS: &[(&str, &[&str])] = &[
    (
        ", new",
        &[
            "-n --count <COUNT> [1]: How many ids to make",
            "--at <TIME>: Stamp ids with this time instead of the current time",
            "--format <NAME> [txid]: What kind of ids to make",
            "--node <NODE>: For --format snowflake: the node, as a number, env:NAME, ip, hostname, or lease (the one from txid-agent)",
            "--state <FILE>: For --format snowflake: the file that all processes with this node share; it is created if missing. For --format segment: the file that txid-agent keeps",
            "--layout <LAYOUT>: For --format snowflake: snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, or time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01",
            "--length <COUNT>: For --format nanoid: how many characters, 1 to 90 instead of 21",
            "--alphabet <CHARACTERS>: For --format nanoid: the characters, 2 to 94 different ones instead of A-Za-z0-9_-",
            "--prefix <PREFIX>: For --format typeid: what the ids begin with, 1 to 63 characters of a-z_",
        ],
    ),
    (
        "inspect",
        &[
            "[ID]...: Ids, or texts with ids in them; reads lines of standard input if none are given",
            "--json: Print one JSON object per line",
            "--time: Pass on the lines of standard input, each with the time of its first id before it",
            "--layout <LAYOUT>: Read 64-bit ids in this layout (see txid help new, or mastodon) instead of all",
            "--epoch <TIME>: Read 64-bit ids with this epoch instead of the layout's",
            "--url <TEMPLATE>: Print a link for each id, from a template or from the one of this name",
            "--within <SPAN> [1m]: For --url: how long before and after the time of the id the window is",
        ],
    ),
    (
        "grep, range",
        &[
            "--from <TIME> or --since: The start of the window; --since is the same",
            "--to <TIME>: The end of the window, exclusive",
            "--for <SPAN>: How long the window is, after --from or before --to",
            "--around <TIME>: The middle of the window",
            "--within <SPAN>: How long before and after --around the window is [default: 5s]",
        ],
    ),
    (
        "audit, grep, range, sort",
        &[
            "--format <NAME>: The formats of the ids, with commas between them, or any",
            "--layout <LAYOUT>: The layout of 64-bit ids, numbers of 15 to 19 digits (see txid help new); implies --format snowflake",
        ],
    ),
    ("audit, grep, sort", &["[FILE]...: Files to read; - or no file means standard input"]),
    (
        "range",
        &[
            "--sql <COLUMN>: Print a condition on this column, for a WHERE clause",
            "--dialect <NAME>: Write the condition for this database",
        ],
    ),
    ("audit, range", &["--json: Print one JSON object"]),
    (
        "grep",
        &[
            "--in-flight <TIME>: Print lines of what had begun and not ended at this time",
            "--late <SPAN>: Read only what has the window, if no line is written later than this after its id was made",
            "--histogram <SPAN>: Print how many lines match in each span of this length, such as 1m: a bar a line on a terminal; with -H, of each file",
            "--json: Print a JSON object for each line, or for each span of --histogram",
            "-c --count: Print only the number of matching lines of each file",
            "-n --line-number: Print the number of each line before it",
            "-o --only-matching: Print only the ids, each on its own line",
            "-l --files-with-matches: Print only the names of the files with a matching line",
            "-L --files-without-match: Print only the names of the files without one",
            "-Z --null: Print a zero byte after the name of a file instead of : or a newline",
            "-q --quiet or --silent: Print nothing, and end with the first match",
            "-s --no-messages: Do not say which files cannot be read",
            "-v --invert-match: Print the lines that do not match",
            "-m --max-count <COUNT>: Read no further in a file after this many lines",
            "-H --with-filename: Print the name of its file before each line, even if there is only one",
            "-h --no-filename: Never print names of files before lines",
            "-A --after-context <COUNT>: Also print this many lines after each match",
            "-B --before-context <COUNT>: Also print this many lines before each match",
            "-C --context <COUNT>: Also print this many lines before and after each match",
            "--color[=<WHEN>] or --colour [auto]: Print ids, names and numbers in colors",
            "-r --recursive: Search all files in directories; without any FILE, in this one",
            "--include <GLOB>: With --recursive, search only files whose name matches, such as '*.log'",
            "-a --text: Search files with zero bytes as if they were text",
            "--help: Print help (-h is --no-filename)",
        ],
    ),
    (
        "sort",
        &[
            "-r --reverse: Print the newest id first; lines with the same id keep their order",
            "-u --unique: Print only the first of equal lines with the same id",
            "-o --output <FILE>: Write to this file, which may be one of those that are read",
        ],
    ),
    (
        "audit",
        &[
            "--per <KEY>: An id may be on several lines if they have the same KEY, the first of these that a line has; with file, in each file once",
            "--host <KEY>: Which host made the ids of a line",
            "--gap <SPAN> [1m]: Report spans without an id that are longer",
            "--memory <SIZE> [256M]: How much memory to use, such as 64M or 1G",
            "--show <COUNT> [10]: How many findings of each kind, and how many hosts, to show",
        ],
    ),
    (
        "hide, key check, reveal",
        &[
            "--digits <COUNT>: How many digits images have, 6 to 19",
            "--letters <COUNT>: How many letters images have, 4 to 13: 0-9 and a-z without i, l, o and u",
            "--uuid: Hide UUIDs of version 7, as UUIDs of version 4",
            "--check: Images of numbers end with a check digit",
        ],
    ),
    (
        "hide, reveal",
        &[
            "--key <FILE>: The file of the key, which only its owner may read",
            "--name <NAME>: The name of the series; with another name, the images are others",
            "--state <FILE>: The file of the segment that the numbers are of: a key that its store does not have is refused",
            "--json: Print one JSON object on each line",
        ],
    ),
    ("key check", &["<FILE>: The file of keys", "--name <NAME>: The name of the series"]),
    ("hide", &["[NUMBER]...: The numbers or UUIDs; reads lines of standard input if none are given"]),
    ("reveal", &["[IMAGE]...: The images; reads lines of standard input if none are given"]),
    ("completions", &["<SHELL>: Which shell"]),
    ("man", &["[COMMAND]: The command that it is about; without it, txid itself"]),
];

#[test]
fn each_option_says_what_it_does() {
    let (mut args, mut found): (_, BTreeMap<String, Vec<String>>) = (Args::command(), BTreeMap::new());
    args.build();
    for (name, command) in all("", &args) {
        let is_of_clap = |arg: &&Arg| ["help", "version"].contains(&arg.get_id().as_str()) && name != "grep";
        for arg in command.get_arguments().filter(|arg| !is_of_clap(arg)) {
            found.entry(shown(arg)).or_default().push(name.clone());
        }
    }
    let mut count = 0;
    for (commands, options) in OPTIONS {
        for option in *options {
            let mut of = found.get(*option).cloned().unwrap_or_default();
            of.sort();
            assert_eq!(of.join(", "), *commands, "{option}");
            count += 1;
        }
    }
    assert_eq!(found.len(), count, "{found:#?}");
}

/// Each is shown to be true by a test of its command.
const SENTENCES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "Without a command, `txid` makes ids, as `txid new` does.",
            "new Make ids, one per line inspect Show what ids hold: format, time (UTC, local, age), fields and bits range Print the first \
         and the last id of a time window, for a query grep Print the lines with an id from a time window sort Sort the lines of \
         files by the ids in them audit Report what is wrong with the ids of logs: repeats, clocks that went back, shared nodes, gaps \
         key Make a key for hidden numbers and UUIDs, or print the check values of keys hide Print the images of numbers or UUIDs, one \
         per line reveal Print the numbers or the UUIDs of images, one per line completions Print the completions of a shell man \
         Print a manual help",
            "txid an id of this moment",
            "txid -n 5 --at 2018-04-01T01:21:28.552Z five of that millisecond",
            "txid inspect b2fr5nvqg00000000000 what an id holds",
            "txid grep --since 10m access.log the lines of the last ten minutes",
            "txid sort a.log b.log.gz two logs as one, in order of time",
            "txid audit access.log did ids repeat? did a clock go back?",
        ],
    ),
    ("new", &["Options may follow it: 'nanoid(length=10)'."]),
    (
        "inspect",
        &[
            "If it can be of several, all are shown, the likeliest first.",
            "A number is read in every known layout, unless --layout is given. Ids are shown as txid writes them.",
            "A text that is no id may have ids in it, such as a URL, a header or a line of a log: each is shown.",
            "A text without an id is reported on standard error, and the exit status is then 1. The others are still printed.",
            "With --url, prints a link for each id instead: of a log or of a store of traces, with a window of time round the id.",
            "In the template, {id} is the id as it stands in a URL. {time}, {from} and {to} are RFC 3339; {ms}, {from_ms} and {to_ms} \
         milliseconds since 1970; {s}, {from_s} and {to_s} seconds; {ns}, {from_ns} and {to_ns} nanoseconds. {{ is a brace.",
            "A template can be in a file, by a name: NAME = TEMPLATE on a line. The file is links in the directory txid of \
         XDG_CONFIG_HOME (~/.config), or the one that the variable TXID_LINKS names.",
        ],
    ),
    (
        "range",
        &[
            "The ids of the format must sort by time. Without --to, the window ends now.",
            "postgresql: PostgreSQL - mysql: MySQL and MariaDB - sqlite: SQLite - duckdb: DuckDB - clickhouse: ClickHouse",
            "--from, --to, --around and --in-flight also take an id, for the time in it. A SPAN is 10m, 1h30m or '2 days'.",
        ],
    ),
    (
        "grep",
        &[
            "A line matches if it contains an id with a time in the window, and no letter or digit directly before or after that, but for \
             an escape such as \\n, \\x22, %2F or a color.",
            "A number is an id only if --layout says how it is read; how many may be ids from the window is said at the end. To find one \
         id, use grep -F.",
            "Without --from, the window has no start; without --to, it has no end.",
            "With --in-flight, a line matches if its id began before TIME and the line was written after it, by the line's own time, the \
         first in it: as nginx logs it, RFC 3339 and what is like it, or seconds or milliseconds since 1970.",
            "With --late, only the part of a file is read that can have lines of the window. Nothing is missed if each line was written \
         at most SPAN after its id was made, and lines stand in the order in which they were written.",
            "Lines are printed as soon as they are read, so the input may be a tail -f. Where several files are searched, the name of its \
         file stands before each line. On a terminal, the id has a color, and control characters are escaped, as \\x1b. Input that is \
         compressed with gzip or zstd is decompressed.",
            "Of a file in whose first 64 KiB one byte in a hundred is zero, or more, grep only says whether it matches, unless \
             --text is given.",
            "Lines longer than 8 MiB are skipped and reported. Memory stays below 32 MB, besides the lines of --before-context and what \
         zstd was told to remember.",
            "The exit status is 0 if a line was found, 1 if none was, and 2 after an error.",
            "auto: On a terminal - always: Everywhere - never: Nowhere",
            "--from, --to, --around and --in-flight also take an id, for the time in it. A SPAN is 10m, 1h30m or '2 days'.",
        ],
    ),
    (
        "sort",
        &[
            "The first txid in a line counts, or if it has none, the first id of another format. With --format, the first of those counts.",
            "Ids of one format that sort by time are compared whole, others by their time. A line without an id stays below the line \
         before it, as in a stack trace, and so does an indented line without a txid; at the top of a file, it comes before all \
         others. Lines with the same id keep their order. Input that is compressed with gzip or zstd is decompressed.",
            "Files that cannot be read and lines longer than 8 MiB are skipped and reported, and the exit status is then 2.",
            "Memory stays below 128 MB for input of any size. The rest goes to an unnamed file in the temporary directory (TMPDIR), which \
         disappears when the command ends.",
        ],
    ),
    (
        "audit",
        &[
            "The first id of each format in a line counts: txids, unless --format says which. The end says which ids were passed over.",
            "A host is a file with those that were rotated (its name with .1 or a day), unless --host names a KEY.",
            "Memory stays below --memory for input of any size. The rest goes to an unnamed file in the temporary directory (TMPDIR), and \
         so does what is no regular file, to show lines of it.",
            "The exit status is 1 if an id repeats, 0 if none does, and 2 after an error or if there is no id.",
            "shared nodes a node that two hosts used in turn, so at once. An id that both have says nothing",
            "repeats an id on two lines; with --per, on two lines with another value of one KEY; with --per file, on two lines of a file",
            "steps back a clock that was set back: at least 16 ids of a host in a row are more than 1 s older than four before them",
            "future ids of more than a minute after now",
            "sequences nine tenths of the numbers of one unit of time are used, or more",
            "gaps spans without an id, of all hosts and of each, longer than --gap: also from the first id of all to that of a host, and \
         to the last",
            "outliers at most ten first or last ids, more than an hour from all others: gaps and rates leave them out",
            "rates ids a second, on average and at most, of all hosts and of each",
            "request the request line of an access log, or what else has this name",
            "pod any name, as in pod=web-1, pod: web-1 or \"pod\":\"web-1\"",
            "3 a column, from 1",
        ],
    ),
    (
        "key",
        &[
            "new Print a new key check Print the check value of each key in a file",
            "(umask 077; txid key new > /etc/txid/orders.key) a file that only its owner may read",
            "(umask 077; echo \"1 $(txid key new)\" > orders.key) the key of a period",
        ],
    ),
    (
        "key check",
        &[
            "A check value does not help to find the key. Hosts with equal ones show the same images: it is of the key, the name, the \
         length and the check digit. In the file of txid-agent, it is key = \"66e94b-767ab6ec\", or \"1:66e94b-767ab6ec\" for a key \
         of period 1.",
        ],
    ),
    (
        "hide",
        &["For one without an image, an empty line is printed and the error is reported; the exit status is then 1."],
    ),
    (
        "reveal",
        &[
            "For a text that is not an image, an empty line is printed and the error is reported; the exit status is then 1.",
        ],
    ),
];

/// The help of all commands, each as one line.
fn helps() -> BTreeMap<String, String> {
    let mut args = Args::command();
    args.build();
    let help = |mut command: Command| command.render_long_help().to_string();
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    all("", &args).into_iter().map(|(name, command)| (name, line(help(command)))).collect()
}

#[test]
fn sentences_are_those_that_tests_show() {
    let helps = helps();
    for (command, sentences) in SENTENCES {
        for sentence in *sentences {
            assert!(helps[*command].contains(sentence), "help {command} says no more: {sentence}\n{}", helps[*command]);
        }
    }
    // Formats are named by what takes them, and not by clap once more.
    let all = txid::formats::ALL.into_iter().filter(|format| format.has_a_time()).map(|format| format.name);
    let names = "A NAME is any, uuid (of every version with a time), or one of the formats whose ids hold a time: "
        .to_string()
        + &all.collect::<Vec<_>>().join(", ");
    for command in ["range", "grep", "sort", "audit"] {
        assert!(helps[command].contains(&format!("{names} Examples: ")), "{command}");
    }
    assert!(helps.values().all(|help| !help.contains("[possible values: txid")));
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
                let is_one = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
                // Which of them, only the command asks.
                assert!(!is_one(&["--name"]) || is_one(&["--digits", "--letters", "--uuid"]), "{name}: {example}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 50);
}
