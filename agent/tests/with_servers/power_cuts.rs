//! After a power cut, a store in a directory and the files of states have all that was confirmed.
//!
//! A program works under strace, and says what was confirmed to it. Its system calls are then carried out on a model of a
//! file system, up to a random call. Each write that was not synced by then survives or not, at random.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::RngCore;
use proptest::test_runner::{RngAlgorithm, TestRng};
use txid::snowflake::{Layout, State};
use txid_agent::store;
use txid_agent_machines::store::{Expected, Put};

const CUTS: usize = 1_000;
const ROUNDS: u64 = 30;

/// Where the program works, if this is that program.
const DIRECTORY: &str = "TXID_POWER_CUTS";

/// What the program says on its standard output when something must be kept from now on: `kept PATH`, and then what the
/// file has. A state changes later, without system calls, and must only be there whole.
fn say(path: &Path, content: &str) {
    let line = format!("kept {} {content}\n", path.display());
    // At once, in one call.
    // SAFETY: the text is our own.
    let written = unsafe { libc::write(1, line.as_ptr().cast(), line.len()) };
    assert_eq!(written, line.len() as isize);
}

/// Takes ranges of a tag, leases a new node at each one, and makes a state.
#[test]
#[ignore = "nothing_that_was_confirmed_is_lost_in_a_power_cut runs it under strace"]
fn work() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("it is run by the test"));
    let leases = directory.join("store/leases");
    let mut store = store::open(&format!("file://{}", leases.display())).unwrap();
    for round in 0..ROUNDS {
        let (tag, range) = ("segments/orders", format!("{{\"next\":{}}}", 1000 * (round + 1)));
        let expected = store.read(tag).unwrap().map_or(Expected::Absent, |found| Expected::Version(found.version));
        assert!(matches!(store.put(tag, &expected, range.as_bytes()).unwrap(), Put::Written(_)));
        say(&leases.join(tag), &range);

        let (node, lease) = (format!("group{}/nodes/{round}", round % 3), format!("{{\"node\":{round}}}"));
        // As by an agent that was killed before it could sync them.
        std::fs::create_dir_all(leases.join(&node).parent().unwrap()).unwrap();
        assert!(matches!(store.put(&node, &Expected::Absent, lease.as_bytes()).unwrap(), Put::Written(_)));
        say(&leases.join(&node), &lease);

        let path = directory.join(format!("states/{}/{round}", round % 3));
        State::open(&path, &Layout::SNOWFLAKE, 1).unwrap();
        say(&path, "a state");
    }
}

type Inode = usize;

/// A change of a directory: this name is that file's or directory's from now on, or nothing's.
type Entry = (String, Option<Inode>);

#[derive(Clone, Debug, PartialEq)]
enum Call {
    /// The file at this path, made if it is not there, and emptied if that is asked for.
    Open {
        path: PathBuf,
        makes: bool,
        empties: bool,
    },
    MakeDirectory(PathBuf),
    Write(PathBuf, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, PathBuf),
    Remove(PathBuf),
    /// The program said that this file has this content.
    Confirmed(PathBuf, Vec<u8>),
}

/// What is on the disk, and the changes since.
#[derive(Clone, Default)]
struct File {
    bytes: Vec<u8>,
    /// The content after each write or truncation that is not synced.
    unsynced: Vec<Vec<u8>>,
    entries: BTreeMap<String, Inode>,
    unsynced_entries: Vec<Entry>,
}

impl File {
    fn content(&self) -> &Vec<u8> {
        self.unsynced.last().unwrap_or(&self.bytes)
    }

    fn entry(&self, name: &str) -> Option<Inode> {
        let changed = self.unsynced_entries.iter().rev().find(|(of, _)| of == name).map(|(_, inode)| *inode);
        changed.unwrap_or_else(|| self.entries.get(name).copied())
    }

    fn enter(&mut self, (name, inode): Entry) {
        match inode {
            Some(inode) => _ = self.entries.insert(name, inode),
            None => _ = self.entries.remove(&name),
        }
    }

    fn sync(&mut self) {
        if let Some(bytes) = self.unsynced.pop() {
            self.bytes = bytes;
        }
        self.unsynced.clear();
        std::mem::take(&mut self.unsynced_entries).into_iter().for_each(|entry| self.enter(entry));
    }

    /// Loses some writes of each file that were not synced, or their bytes without their length.
    fn cut(&mut self, random: &mut impl FnMut(usize) -> usize) {
        let survive = random(self.unsynced.len() + 1);
        if survive > 0 {
            self.bytes = self.unsynced[survive - 1].clone();
            match random(3) {
                0 => self.bytes.fill(0),
                1 => self.bytes.truncate(random(self.bytes.len() + 1)),
                _ => {}
            }
        }
        for entry in std::mem::take(&mut self.unsynced_entries) {
            if random(2) == 0 {
                self.enter(entry);
            }
        }
    }
}

/// A file system below the directory of the test, which is on the disk.
#[derive(Clone)]
struct Disk {
    root: PathBuf,
    files: Vec<File>,
}

impl Disk {
    fn new(root: &Path) -> Self {
        Self { root: root.into(), files: vec![File::default()] }
    }

    /// The directory of `path`, and its name there.
    fn place(&self, path: &Path) -> Option<(Inode, String)> {
        let parent = self.find(path.parent()?)?;
        Some((parent, path.file_name()?.to_str()?.to_owned()))
    }

    fn find(&self, path: &Path) -> Option<Inode> {
        let below = path.strip_prefix(&self.root).ok()?;
        below.iter().try_fold(0, |directory: Inode, name| self.files[directory].entry(name.to_str()?))
    }

    fn make(&mut self, path: &Path) -> Inode {
        let inode = self.files.len();
        self.files.push(File::default());
        self.enter(path, Some(inode));
        inode
    }

    fn enter(&mut self, path: &Path, inode: Option<Inode>) {
        let (parent, name) = self.place(path).unwrap_or_else(|| panic!("no directory of {}", path.display()));
        self.files[parent].unsynced_entries.push((name, inode));
    }

    fn carry_out(&mut self, call: &Call) {
        match call {
            Call::Open { path, makes, empties } => {
                let found = self.find(path);
                let inode = if *makes { Some(found.unwrap_or_else(|| self.make(path))) } else { found };
                if let (true, Some(inode)) = (*empties, inode) {
                    self.files[inode].unsynced.push(Vec::new());
                }
            }
            Call::MakeDirectory(path) => _ = self.make(path),
            Call::Write(path, bytes) => {
                let inode = self.find(path).unwrap_or_else(|| panic!("no {}", path.display()));
                let content = [&self.files[inode].content()[..], bytes].concat();
                self.files[inode].unsynced.push(content);
            }
            Call::Sync(path) => {
                let inode = self.find(path).unwrap_or_else(|| panic!("no {}", path.display()));
                self.files[inode].sync();
            }
            Call::Rename(from, to) => {
                let inode = self.find(from);
                // The disk keeps each half when it keeps its directory.
                self.enter(to, inode);
                self.enter(from, None);
            }
            Call::Link(from, to) => {
                let inode = self.find(from);
                self.enter(to, inode);
            }
            Call::Remove(path) => self.enter(path, None),
            Call::Confirmed(..) => {}
        }
    }
}

/// The files that a program finds after a power cut after these calls, for which `kept` says what they must have.
fn lost_after(root: &Path, calls: &[Call], attempted: &[Call], random: &mut impl FnMut(usize) -> usize) -> Vec<String> {
    let mut disk = Disk::new(root);
    let mut kept: HashMap<&Path, &[u8]> = HashMap::new();
    for call in calls {
        disk.carry_out(call);
        if let Call::Confirmed(path, content) = call {
            kept.insert(path, content);
        }
    }
    disk.files.iter_mut().for_each(|file| file.cut(random));
    let content = |path: &Path| disk.find(path).map(|inode| disk.files[inode].bytes.clone());
    let mut lost = Vec::new();
    for (path, expected) in &kept {
        let found = content(path);
        let is_kept = match &found {
            Some(bytes) if *expected == b"a state" => bytes.starts_with(b"txid") && bytes.len() == 4096,
            Some(bytes) if bytes == expected => true,
            // What the program was about to have confirmed.
            Some(bytes) => {
                attempted.iter().any(|call| matches!(call, Call::Confirmed(of, next) if of == path && next == bytes))
            }
            None => false,
        };
        if !is_kept {
            lost.push(format!("{} has {:?}", path.display(), found.map(|bytes| bytes.len())));
        }
    }
    // A state that nothing was said of yet is whole, or not there.
    for path in attempted.iter().filter_map(|call| match call {
        Call::Confirmed(path, content) if content == b"a state" => Some(path),
        _ => None,
    }) {
        if content(path).is_some_and(|bytes| !bytes.starts_with(b"txid") || bytes.len() != 4096) {
            lost.push(format!("{} is damaged", path.display()));
        }
    }
    lost
}

/// The texts in a line of strace, which writes each byte as `\x2f` with -xx.
fn texts(line: &str) -> Vec<Vec<u8>> {
    let decode = |text: &str| {
        let digits = text.split("\\x").skip(1);
        digits.map(|pair| u8::from_str_radix(&pair[..2], 16).unwrap()).collect()
    };
    line.split('"').skip(1).step_by(2).map(decode).collect()
}

/// The paths that -y adds to descriptors: `5</var/lib>`, also with -xx as bytes.
fn paths(line: &str) -> Vec<PathBuf> {
    let inside = line.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    let decode = |text: &str| match text.contains("\\x") {
        true => PathBuf::from(String::from_utf8(texts(&format!("\"{text}\"")).remove(0)).unwrap()),
        false => PathBuf::from(text),
    };
    inside.map(decode).collect()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::str::from_utf8(bytes).unwrap())
}

/// The call in a line of strace, if it changes something below `root`.
fn call_of(line: &str, root: &Path) -> Option<Call> {
    let (_, call) = line.split_once(' ')?;
    let (name, arguments) = call.trim_start().split_once('(')?;
    if arguments.contains(" = -1 ") {
        return None;
    }
    let (texts, paths) = (texts(arguments), paths(arguments));
    if name == "write" && arguments.starts_with('1') {
        let said = String::from_utf8(texts[0].clone()).ok()?;
        let (path, content) = said.strip_prefix("kept ")?.trim_end().split_once(' ')?;
        return Some(Call::Confirmed(path.into(), content.into()));
    }
    // A name in a directory: paths[0] is that directory's, and join() takes an absolute name as it is.
    let named = |text: usize, directory: usize| match texts.get(text)?.first()? {
        b'/' => Some(path_of(&texts[text])),
        _ => Some(paths.get(directory)?.join(path_of(&texts[text]))),
    };
    let call = match name {
        "openat" | "open" => {
            let (makes, empties) = (arguments.contains("O_CREAT"), arguments.contains("O_TRUNC"));
            Call::Open { path: paths.last()?.clone(), makes, empties }
        }
        "mkdir" | "mkdirat" => Call::MakeDirectory(named(0, 0)?),
        "write" | "pwrite64" => Call::Write(paths.first()?.clone(), texts[0].clone()),
        "fsync" | "fdatasync" => Call::Sync(paths.first()?.clone()),
        "rename" | "renameat" | "renameat2" => Call::Rename(named(0, 0)?, named(1, 1)?),
        "link" | "linkat" => Call::Link(named(0, 0)?, named(1, 1)?),
        "unlink" | "unlinkat" => Call::Remove(named(0, 0)?),
        _ => return None,
    };
    let path = match &call {
        Call::Open { path, makes: true, .. } | Call::MakeDirectory(path) | Call::Write(path, _) => path,
        Call::Sync(path) | Call::Rename(path, _) | Call::Link(path, _) | Call::Remove(path) => path,
        Call::Open { .. } | Call::Confirmed(..) => return None,
    };
    path.starts_with(root).then_some(call)
}

/// The calls of the program, in order.
fn calls(root: &Path) -> Vec<Call> {
    let log = root.with_extension("strace");
    let traced = "trace=open,openat,mkdir,mkdirat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat";
    let output = Command::new("strace")
        .args(["-f", "-y", "-xx", "-s", "100000", "-e", traced, "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "power_cuts::work", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, root)
        .output()
        .expect("strace runs (scripts/need.sh test installs it)");
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    _ = write!(said, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let lines = std::fs::read_to_string(&log).unwrap();
    assert!(!lines.contains("unfinished"), "two threads at once:\n{lines}");
    lines.lines().filter_map(|line| call_of(line, root)).collect()
}

/// In how many of the power cuts something was lost, and what.
fn cuts(root: &Path, calls: &[Call]) -> (usize, Vec<String>) {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut random = move |below: usize| (rng.next_u64() % below as u64) as usize;
    let (mut count, mut all) = (0, Vec::new());
    for _ in 0..CUTS {
        let (before, after) = calls.split_at(1 + random(calls.len()));
        let lost = lost_after(root, before, after, &mut random);
        count += usize::from(!lost.is_empty());
        all.extend(lost);
    }
    (count, all)
}

#[test]
fn nothing_that_was_confirmed_is_lost_in_a_power_cut() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap().join("disk");
    std::fs::create_dir(&root).unwrap();
    let calls = calls(&root);
    let kept = calls.iter().filter(|call| matches!(call, Call::Confirmed(..))).count();
    assert_eq!(kept as u64, 3 * ROUNDS);

    let (count, lost) = cuts(&root, &calls);
    assert_eq!(count, 0, "of {CUTS} power cuts; {:?}", &lost[..lost.len().min(5)]);

    // The model notices each kind of sync that is left out.
    let is_directory = |path: &Path| path.is_dir();
    let is_of_store = |path: &Path| path.starts_with(root.join("store"));
    for (without_directories, of_store) in [(true, true), (true, false), (false, true), (false, false)] {
        let is_left_out = |call: &Call| match call {
            Call::Sync(path) => is_directory(path) == without_directories && is_of_store(path) == of_store,
            _ => false,
        };
        let rest: Vec<_> = calls.iter().filter(|call| !is_left_out(call)).cloned().collect();
        let left_out = calls.len() - rest.len();
        let (count, _) = cuts(&root, &rest);
        println!("{left_out} of {} calls left out: something is lost in {count} of {CUTS} power cuts", calls.len());
        assert!(left_out > 0 && count > 0, "directories {without_directories}, of the store {of_store}");
    }
}
