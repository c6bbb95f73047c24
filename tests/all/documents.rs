//! Every link between the Markdown files of this repository leads somewhere, every file and make target that they name
//! exists, and README.md stays short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

const README_LINES: usize = 95;

fn markdown_files() -> Vec<PathBuf> {
    let listed =
        Command::new("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]).output();
    let listed = listed.expect("git lists the files of this repository").stdout;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(String::from_utf8(name.to_vec()).unwrap())).filter(|path| path.exists()).collect()
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((index + 1, line))
    })
}

/// The text between `](` and `)`, outside of `code`.
fn links(line: &str) -> Vec<&str> {
    let outside = line.split('`').step_by(2);
    // The text of a link may be code itself; its end is then in the next part.
    outside
        .flat_map(|part| part.match_indices("](").map(move |(at, _)| &part[at + 2..]))
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .collect()
}

/// As GitHub makes them: lower case, no punctuation, a dash for a space.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| line.trim_start_matches('#').trim());
    let kept = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ => None,
    };
    headings.map(|heading| heading.to_lowercase().chars().filter_map(kept).collect()).collect()
}

/// Without `..`, and without asking the file system.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

fn broken(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut broken = Vec::new();
    for (line, content) in prose(&text) {
        for link in links(content).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => file.to_path_buf(),
                _ => normal(&file.parent().unwrap().join(path)),
            };
            let is_there = match anchor {
                "" => target.exists(),
                _ => fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)),
            };
            if !is_there {
                broken.push(format!("{}:{line}: {link}", file.display()));
            }
        }
    }
    broken
}

#[test]
fn every_link_leads_somewhere() {
    let files = markdown_files();
    assert!(files.len() > 10, "{files:?}");
    let broken: Vec<_> = files.iter().flat_map(|file| broken(file)).collect();
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

/// The paths and make targets that a line names in `code`, or a command in a code block.
fn named(line: &str, is_code: bool) -> Vec<String> {
    let spans: Vec<_> = if is_code { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
    let mut named = Vec::new();
    for words in spans.iter().map(|span| span.split_whitespace().collect::<Vec<_>>()) {
        let is_command = |at: usize| words[at] == "make" && (at == 0 || ["&&", "sudo", "$"].contains(&words[at - 1]));
        let targets = (1..words.len()).filter(|&at| is_command(at - 1)).map(|at| format!("make {}", words[at]));
        let paths = words.iter().map(|word| word.trim_end_matches(['.', ',', ':', ';', ')']));
        let is_ours = |path: &&str| path.split_once('/').is_some_and(|(first, _)| DIRECTORIES.contains(&first));
        named.extend(targets.chain(paths.filter(is_ours).map(str::to_string)));
    }
    named
}

/// The directories whose files the documents name with a path from the root.
const DIRECTORIES: [&str; 15] = [
    "agent",
    "bench",
    "crates",
    "docs",
    "examples",
    "include",
    "lua",
    "nginx",
    "packaging",
    "readers",
    "rockspec",
    "scripts",
    "src",
    "t",
    "tests",
];

/// A path may be the beginning of a path, such as `t/native/d`.
fn exists(name: &str, makefile: &str) -> bool {
    if let Some(target) = name.strip_prefix("make ") {
        let is_word = target.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        return !is_word || makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
    }
    let (directory, start) = name.rsplit_once('/').unwrap();
    fs::read_dir(directory)
        .is_ok_and(|mut files| files.any(|file| file.unwrap().file_name().to_string_lossy().starts_with(start)))
}

#[test]
fn every_named_file_and_target_exists() {
    let makefile = fs::read_to_string("Makefile").unwrap();
    let mut missing = Vec::new();
    for file in markdown_files().iter().filter(|file| file.parent() != Some(Path::new("bench"))) {
        let text = fs::read_to_string(file).unwrap();
        let lines: BTreeSet<usize> = prose(&text).map(|(line, _)| line).collect();
        for (line, number) in text.lines().zip(1..) {
            let names = named(line, !lines.contains(&number));
            missing.extend(
                names
                    .into_iter()
                    .filter(|name| !exists(name, &makefile))
                    .map(|name| format!("{}:{number}: {name}", file.display())),
            );
        }
    }
    assert!(missing.is_empty(), "these do not exist:\n{}", missing.join("\n"));
}

/// The paths in the tree of docs/dev/design.md: what is further to the right is in the directory above.
fn tree(text: &str) -> Vec<String> {
    let (mut paths, mut above) = (Vec::new(), vec![(0, String::new())]);
    for line in text.split("```").nth(1).unwrap().lines() {
        let indent = line.len() - line.trim_start().len();
        above.retain(|(of, _)| *of < indent || *of == 0 && indent > 0);
        let directory = above.last().map(|(_, path)| path.clone()).unwrap_or_default();
        let names = line.trim_start().split("  ").next().unwrap().split(' ').map(|name| format!("{directory}{name}"));
        paths.extend(names);
        if let Some(path) = paths.last().filter(|path| path.ends_with('/')) {
            above.push((indent, path.clone()));
        }
    }
    paths
}

#[test]
fn the_design_names_what_is_there() {
    let text = fs::read_to_string("docs/dev/design.md").unwrap();
    let rooms = tree(&text);
    assert!(rooms.len() > 25, "{rooms:?}");
    let is_path = |word: &&str| {
        let is_of_a_path = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        word.contains('/') && !word.starts_with('/') && word.bytes().all(is_of_a_path)
    };
    let spans = text.split("```").step_by(2).flat_map(|part| part.split('`').skip(1).step_by(2));
    let named = spans.filter(is_path).map(str::to_string);
    let missing = |path: &String| !["", "src/", "lua/resty/txid/"].iter().any(|at| Path::new(at).join(path).exists());
    let missing: Vec<_> = rooms.into_iter().chain(named).filter(missing).collect();
    assert!(missing.is_empty(), "docs/dev/design.md names what is not there: {missing:#?}");
}

#[test]
fn the_index_has_every_page() {
    for (index, directory) in
        [("docs/README.md", "docs"), ("docs/README.md", "docs/dev"), ("agent/README.md", "agent/docs")]
    {
        let text = fs::read_to_string(index).unwrap();
        for entry in fs::read_dir(directory).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = Path::new(directory).join(&name);
            let path = path.strip_prefix(Path::new(index).parent().unwrap()).unwrap().display();
            if name.ends_with(".md") && name != "README.md" {
                assert!(text.contains(&format!("]({path})")), "{index} has no link to {name}");
            }
        }
    }
}

/// scripts/pictures.pl draws them, and t/documents.t compares the terminals with what the command prints.
#[test]
fn every_picture_is_shown() {
    let pages: String = markdown_files().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    for entry in fs::read_dir("docs/pictures").unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".svg") || pages.contains(&format!("pictures/{name})")), "no page shows {name}");
    }
}

/// Each test that is named for a promise is there.
#[test]
fn every_promise_of_the_agent_has_a_test() {
    let text = fs::read_to_string("tests/promises.md").unwrap();
    let (_, table) = text.split_once("## Of the agent").unwrap();
    let rows: Vec<_> = table.lines().filter(|line| line.ends_with("` |")).collect();
    assert_eq!(rows.len(), 17);
    for row in rows {
        let cells: Vec<_> = row.split(" | ").collect();
        let [_, file, test] = cells[..] else { panic!("{row}") };
        let (file, test) = (links(file)[0], test.trim_end_matches(" |").trim_matches('`'));
        let code = fs::read_to_string(format!("tests/{file}")).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(code.contains(&format!("fn {test}()")), "{row}");
    }
}

/// The targets that `make help` lists fit on a screen, and `make help-all` has the others.
#[test]
fn every_target_is_listed() {
    let makefile = fs::read_to_string("Makefile").unwrap();
    let mut listed = 0;
    for line in makefile.lines() {
        let Some((target, rest)) = line.split_once(':').filter(|(target, _)| {
            !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        }) else {
            continue;
        };
        let (before, what) = rest.split_once("## ").unwrap_or_else(|| panic!("{target} does not say what it does"));
        listed += usize::from(!before.ends_with('#'));
        assert!(what.len() <= 58, "in 80 columns, `make help` has no room for {target}: {what}");
    }
    assert!((15..24).contains(&listed), "make help lists {listed} targets, and names help-all");
}

/// scripts/words.pl has the limits.
#[test]
fn pages_are_short() {
    let said = Command::new("scripts/words.pl").output().expect("scripts/words.pl runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
}

#[test]
fn the_readme_is_short() {
    let lines = fs::read_to_string("README.md").unwrap().lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines, and may have {README_LINES}: move something to docs/");
}

/// The messages of the pages about trouble that nginx, LuaJIT and the system say.
const OF_OTHERS: &[&str] = &[
    "module 'resty.txid' not found",
    "unknown directive \"set_by_lua_block\"",
    "unknown directive \"txid_response_header\"",
    "unknown \"request_txid\" variable",
    "the duplicate \"request_txid\" variable",
    "module \"...\" is not binary compatible",
    "module \"...\" version ... instead of ...",
    "Permission denied (os error 13)",
];

/// The sources of a program or library that a user meets, each with its literals joined where the code breaks them.
fn sources() -> Vec<String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "lua",
            "src",
            "crates/capi/src",
            "nginx",
            "crates/cli/src",
            "agent/src",
            "agent/machines/src",
            "packaging",
            "scripts",
        ])
        .output();
    let listed = listed.expect("git lists the files of this repository").stdout;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let texts = names.filter_map(|name| fs::read_to_string(std::str::from_utf8(name).unwrap()).ok());
    texts
        .map(|text| joined(&text.replace("\" .. FILE .. \"", "libtxid.so").replace("\" .. FILE", "libtxid.so\"")))
        .collect()
}

/// Without the breaks of literals over lines: `\` in Rust, `".."` in Lua, nothing in C; and without escapes of quotes.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines().map(str::trim) {
        let before = joined.len();
        if joined.ends_with('\\') {
            joined.pop();
        } else if let Some(rest) = line.strip_prefix(".. \"").filter(|_| joined.ends_with('"')) {
            joined.pop();
            joined.push_str(rest);
            continue;
        } else if before > 0 {
            joined.push('\n');
        }
        joined.push_str(line);
    }
    joined.replace("\\\"", "\"")
}

/// Whether a text has these parts one after the other, each close to the one before it.
fn has_parts(text: &str, parts: &[&str]) -> bool {
    let [first, others @ ..] = parts else { return true };
    text.match_indices(first).any(|(at, _)| {
        let mut rest = &text[at + first.len()..];
        others.iter().all(|part| {
            let found = rest.find(part).filter(|&found| found < 600);
            rest = &rest[found.map_or(0, |found| found + part.len())..];
            found.is_some()
        })
    })
}

/// The first cell of each row of the tables with messages.
fn messages(text: &str) -> Vec<&str> {
    let mut messages = Vec::new();
    let mut is_table = false;
    for line in text.lines() {
        is_table = line.starts_with("| message ") || is_table && line.starts_with('|');
        if is_table && !line.starts_with("| message ") && !line.starts_with("|--") {
            let cell = line.split(" | ").next().unwrap();
            messages.extend(cell.split('`').skip(1).step_by(2));
        }
    }
    messages
}

#[test]
fn every_message_of_the_pages_about_trouble_is_in_the_sources() {
    let texts = ["docs/troubleshooting.md", "agent/docs/failures.md"].map(|page| fs::read_to_string(page).unwrap());
    let text = texts.join("\n");
    let messages = messages(&text);
    assert!(messages.len() > 25, "{} messages", messages.len());
    let sources = sources();
    let is_there = |message: &str| {
        let parts: Vec<&str> = message.split("...").map(str::trim).filter(|part| part.len() > 1).collect();
        OF_OTHERS.contains(&message) || sources.iter().any(|text| has_parts(text, &parts))
    };
    let unknown: Vec<&str> = messages.into_iter().filter(|message| !is_there(message)).collect();
    assert!(unknown.is_empty(), "no source says this: {unknown:#?}");
}
