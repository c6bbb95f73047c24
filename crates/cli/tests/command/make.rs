//! `txid` and `txid new`.

use crate::hidden::{KEY, with_key};
use crate::{printed, refusal, txid};
use clap::CommandFactory;
use std::io::Read;
use std::process::{Command, Stdio};

fn ids(args: &[&str]) -> Vec<txid::Txid> {
    printed(&mut txid(args)).lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn without_arguments_it_prints_one_id_of_now() {
    let before = txid::system_ms();
    let ids = ids(&[]);
    assert_eq!(ids.len(), 1);
    assert!((before..=txid::system_ms()).contains(&ids[0].timestamp_ms()));
}

#[test]
fn it_prints_as_many_as_asked_for() {
    for (args, count) in [(&["-n", "5"][..], 5), (&["-n0"], 0), (&["new", "--count", "5000"], 5000), (&["new"], 1)] {
        let ids: std::collections::HashSet<_> = ids(args).into_iter().collect();
        assert_eq!(ids.len(), count, "{args:?}");
    }
}

#[test]
fn it_stamps_them_with_a_time() {
    for args in [&["--at", "2018-04-01T01:21:28.552Z", "-n", "3"][..], &["new", "-n3", "--at=1522545688552"]] {
        assert!(ids(args).iter().all(|id| id.timestamp_ms() == 1_522_545_688_552), "{args:?}");
    }
}

#[test]
fn a_wrong_count_or_argument_is_refused() {
    let usage = "Usage: txid [OPTIONS]\n       txid <COMMAND>\n";
    for (args, why) in [
        (&["-n", "-1"][..], format!("unexpected argument '-1' found\n\n{usage}")),
        (&["-n", "many"], "invalid value 'many' for '--count <COUNT>': invalid digit found in string\n".to_string()),
        (&["nonsense"], format!("unrecognized subcommand 'nonsense'\n\n{usage}")),
    ] {
        assert_eq!(refusal(&mut txid(args)), format!("txid: {why}\nFor more information, try '--help'.\n"));
    }
}

#[test]
fn a_reader_that_leaves_ends_it_by_a_signal() {
    use std::os::unix::process::ExitStatusExt;

    let mut child = Command::new(crate::program())
        .args(["-n", "10000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 21]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(libc::SIGPIPE));
    assert_eq!(output.stderr, b"");
}

#[test]
fn a_full_disk_is_reported() {
    let (directory, _) = with_key(KEY);
    std::fs::write(directory.path().join("ids"), crate::id(1)).unwrap();
    for args in [
        &["-n", "100000"][..],
        &["-n", "5"],
        &["inspect", "4om9qi54la8ffr4bd9sg"],
        &["inspect"],
        &["inspect", "--json"],
        &["inspect", "--time"],
        &["range", "--from", "0", "--to", "0000000000001"],
        &["grep", "--from=0", "ids"],
        &["grep", "--from=0", "-c", "ids"],
        &["grep", "--from=0", "-lZ", "ids"],
        &["grep", "--from=0", "--histogram=1m", "ids"],
        &["sort", "ids"],
        &["audit", "ids"],
        &["audit", "--json", "ids"],
        &["hide", "--key", "key", "--name", "a", "--digits", "6", "7"],
        &["reveal", "--key", "key", "--name", "a", "--digits", "6", "--json", "123456"],
        &["key", "new"],
        &["key", "check", "key", "--name", "a", "--digits", "6"],
        &["man"],
        &["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(crate::program());
        let ids = std::fs::File::open(directory.path().join("ids")).unwrap();
        let output = command.args(args).current_dir(&directory).stdin(ids).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "txid: standard output: No space left on device (os error 28)\n"
        );
    }
}

/// A write to it would be lost, and the status would not say so.
#[test]
fn a_closed_output_is_an_error() {
    for args in ["-n 5", "inspect 4om9qi54la8ffr4bd9sg", "range --from 0", "grep --from=0 /dev/null", "sort /dev/null"]
    {
        let with = |redirection| {
            let command = format!("exec \"$0\" {args} {redirection}");
            Command::new("sh").args(["-c", &command, crate::program()]).output().unwrap()
        };
        let output = with(">&-");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "txid: standard output is closed\n", "{args}");
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert_eq!(with("<>/dev/null >&0").stderr, b"", "{args}");
    }
}

/// In a thread of its own, whose children inherit what is refused.
#[cfg(target_os = "linux")]
#[test]
fn without_randomness_nothing_secret_is_made() {
    test_helpers::attack::refuse(&[libc::SYS_getrandom], libc::EIO);
    // As the library opens /dev/urandom, and nothing else.
    let flags = [(libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK) as u32];
    test_helpers::attack::refuse_where(&[libc::SYS_openat], &flags, libc::EIO);
    let why = "txid: the operating system gave no randomness, so there is no key\n";
    assert_eq!(refusal(&mut txid(&["key", "new"])), why);
    let said = refusal(&mut txid(&["new", "--format", "strong", "--at", "0", "-n", "3"]));
    let (id, why) = said.strip_prefix("txid: ").unwrap().split_at(20);
    assert_eq!(id.parse::<txid::Txid>().unwrap().timestamp_ms(), 0, "{said}");
    assert_eq!(why, " could be guessed: the operating system gave no randomness\n");
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_address_no_id_with_one_is_made() {
    let mut alone = assert_cmd::Command::new("unshare");
    alone.args(["-rn", crate::program(), "new", "--format"]);
    let output = alone.arg("sofa").output();
    match output.map(|output| String::from_utf8(output.stderr).unwrap()) {
        Ok(said) if !said.starts_with("unshare") => {
            assert_eq!(said, "txid: this format needs an IPv4 address of this host, and none was found\n");
        }
        _ => test_helpers::skipped("this user may not unshare the network, or unshare is missing"),
    }
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_status() {
    let directory = crate::directory(&[("a.bin", format!("\0 {}\n", crate::id(1)).as_bytes())]);
    for (args, status) in
        [(&["inspect", "no-id"][..], 1), (&["grep", "--from=0", "missing"], 2), (&["grep", "--from=0", "a.bin"], 0)]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(crate::program());
        let ended = command.args(args).current_dir(&directory).stderr(full).status().unwrap();
        assert_eq!(ended.code(), Some(status), "{args:?}: {ended}");
    }
}

#[test]
fn each_command_has_examples_in_its_help_and_in_its_manual() {
    let args = txid_args::Args::command();
    let names: Vec<_> = args.get_subcommands().map(|command| format!("-{}", command.get_name())).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names.iter().map(String::as_str).chain([""]) {
        let words: Vec<_> = name.trim_start_matches('-').split(' ').filter(|word| !word.is_empty()).collect();
        let help = printed(txid(&words).arg("--help"));
        assert!(help.contains("Examples:\n  txid") || name == "-key" && help.contains("Examples:\n  (umask"), "{help}");
        let manual = printed(txid(&["man"]).args(&words));
        let section = manual.split(".SH ").find(|section| section.contains("Examples:")).unwrap();
        assert!(section.starts_with("NOTES\n.nf\n"), "its tables are not to be filled as a paragraph is: {section}");
    }
    assert_eq!(printed(&mut txid(&["--version"])), format!("txid {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        let text = printed(&mut txid(&["completions", shell]));
        assert!(["inspect", "uuid_v7", "any", "snowflake"].iter().all(|word| text.contains(word)), "{shell}");
    }
}
