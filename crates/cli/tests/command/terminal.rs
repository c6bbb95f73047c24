//! What is different on a terminal, simulated by `script`.

use crate::{directory, id, printed, txid};
use assert_cmd::Command;
use std::io::Write;
use std::path::Path;

const ESCAPE: char = '\x1b';

/// Everything that the command writes when its output and errors go to a terminal.
fn on_terminal(directory: &Path, command: &str) -> String {
    let command = format!("'{}' {command}", crate::program());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    script.current_dir(directory).env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    printed(script.timeout(std::time::Duration::from_secs(60)))
}

#[test]
fn colors_are_for_a_terminal_only() {
    let directory = directory(&[]);
    let sample = "inspect 4om9qi54la8ffr4bd9sg";
    assert!(on_terminal(directory.path(), sample).starts_with("\x1b[1m4om9qi54la8ffr4bd9sg\x1b[0m\r\n  format  xid; "));
    assert!(!on_terminal(directory.path(), &format!("{sample} --json")).contains(ESCAPE));
    assert!(!printed(&mut txid(&["inspect", "4om9qi54la8ffr4bd9sg"])).contains(ESCAPE));
    assert!(!printed(&mut txid(&["--help"])).contains(ESCAPE));
}

/// Whether the bar is cleared before anything else is written.
fn is_cleared(shown: &str) -> bool {
    let after = |after: &str| after.trim_start_matches(' ').to_string();
    shown.split(" left").skip(1).all(|rest| after(rest).starts_with('\r') || after(rest).starts_with("\x1b[1A"))
}

/// After a second: the last line comes so late.
#[test]
fn a_bar_shows_on_a_terminal_while_files_are_read() {
    let line = format!("{}\n", id(1));
    let directory = directory(&[("a.log", line.repeat(200_000).as_bytes()), ("one.log", line.as_bytes())]);
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let shown = |command: &str| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1100));
                pipe.write_all(line.as_bytes()).unwrap();
            });
            on_terminal(directory.path(), command)
        })
    };
    for (command, count) in [
        ("grep --from=0 a.log pipe", 200_001),
        ("grep --from=0 --histogram=1m a.log pipe", 0),
        ("sort a.log pipe", 200_001),
    ] {
        let shown = shown(command);
        assert!(
            shown.contains(" of 4.01 MiB, ") && shown.contains("iB/s, ") && is_cleared(&shown),
            "{command}: {shown:.500}"
        );
        assert_eq!(shown.matches(&line[..20]).count(), count, "{command}");
    }
    assert!(!on_terminal(directory.path(), "grep --from=0 one.log").contains(" left"));
}

/// As wide as the most lines need, and the longest bar has 50.
#[test]
fn a_histogram_has_bars_on_a_terminal() {
    let lines = |second: i64, count: usize| format!("{}\n", id(second * 1000)).repeat(count);
    let log = [lines(0, 10), lines(1, 1), lines(3, 3), lines(1004, 7)].concat();
    let directory = directory(&[("a.log", log.as_bytes())]);
    let shown = on_terminal(directory.path(), "grep -H --histogram 1s a.log 2>&1");
    let span = |at: &str, count: &str, bar: usize| format!("1970-01-01T00:{at}.000Z  {count}  {}\r\n", "#".repeat(bar));
    let spans = [("00:00", "10", 50), ("00:01", " 1", 5), ("00:02", " 0", 0), ("00:03", " 3", 15)];
    let spans: String = spans.into_iter().map(|(at, count, bar)| span(at, count, bar)).collect();
    let expected = format!("a.log\r\n{spans}... 1000 spans without a line\r\n{}", span("16:44", " 7", 35));
    assert!(shown.ends_with(&expected), "{shown:?}");
    let few = lines(0, 60) + &lines(1, 1);
    let shown = on_terminal(crate::directory(&[("a.log", few.as_bytes())]).path(), "grep --histogram 1s a.log");
    assert!(shown.ends_with(&span("00:01", " 1", 1)), "a bar of less than one is one: {shown:?}");
}

#[test]
fn what_a_log_has_in_it_cannot_control_the_terminal() {
    let one = id(1);
    let line = format!("{one} \x1b]0;title\x07\u{9b}1m\0\r\n");
    let directory = directory(&[("a.log", ("x\n".repeat(100) + &line).as_bytes())]);
    let shown = on_terminal(directory.path(), "grep --from=0 a.log 2>&1");
    assert!(shown.contains(&format!("{one}\x1b[0m \\x1b]0;title\\x07\\x9b1m\\0\r")), "{shown:?}");
    assert!(!shown.contains("\x1b]") && !shown.contains('\x07'), "{shown:?}");
    assert_eq!(printed(txid(&["grep", "--from=0", "a.log"]).current_dir(&directory)), line);
}

#[test]
fn sorted_lines_cannot_control_the_terminal() {
    let (one, two) = (id(1), id(2));
    let log = format!("{two} \x1b]0;title\x07é\r\n{one} \u{9b}1m");
    let directory = directory(&[("a.log", log.as_bytes())]);
    // The terminal ends lines by \r\n.
    let shown = on_terminal(directory.path(), "sort a.log 2>/dev/null");
    assert_eq!(shown, format!("{one} \\x9b1m\r\n{two} \\x1b]0;title\\x07é\r\r\n"));
    assert_eq!(
        printed(txid(&["sort", "a.log"]).current_dir(&directory)),
        format!("{one} \u{9b}1m\n{two} \x1b]0;title\x07é\r\n")
    );
    // Nor can those that are stamped, or reported as repeats.
    let shown = on_terminal(directory.path(), "inspect --time < a.log");
    assert!(shown.contains(&format!(" {two} \\x1b]0;title\\x07é\r")) && !shown.contains(ESCAPE), "{shown:?}");
    let shown = on_terminal(directory.path(), "audit a.log a.log 2>/dev/null; true");
    assert!(shown.contains(&format!(": {two} \\x1b]0;title\\x07é\r")) && !shown.contains(ESCAPE), "{shown:?}");
}

#[test]
fn what_an_error_names_cannot_control_the_terminal() {
    const TITLE: &str = "\x1b]0;title\x07";
    let directory = directory(&[(TITLE, format!("{} \0\n", id(1)).as_bytes()), ("words", TITLE.as_bytes())]);
    for (command, named) in [
        (format!("grep --from=0 '{TITLE}'"), "txid: \\x1b]0;title\\x07: binary file matches"),
        (format!("sort '{TITLE}/none'"), "txid: \\x1b]0;title\\x07/none: "),
        ("inspect <words".to_owned(), "\\x1b]0;title\\x07"),
        (format!("range --from '{TITLE}' --to now"), "\\x1b]0;title\\x07"),
    ] {
        // Its status does not matter.
        let shown = on_terminal(directory.path(), &format!("{command}; true"));
        assert!(shown.contains(named) && !shown.contains("\x1b]"), "{shown:?}");
    }
}
