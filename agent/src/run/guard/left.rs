//! A child that was left when its agent and its guard were killed at once.
//!
//! The kernel kills it, unless it has changed its user, as `gosu` and `setpriv` do. So its process is noted in a file for
//! each of its nodes before it makes an id, and the next agent ends it. Only the agent's user may write these files.

use super::processes::{self, Process};
use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, getpid, pidfd_open, pidfd_send_signal};
use std::fs::{self, File};
use std::io;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The length of a note: one that takes the place of another needs no room on the disk.
const LENGTH: usize = 128;
/// How long the end of a process may take.
const TO_END: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// Opens a file for a note, or makes it. One that somebody else may write is refused: the agent ends what a note names.
pub fn open(path: &Path) -> anyhow::Result<File> {
    let shown = || path.display().to_string();
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).with_context(shown)?;
    let stat = fstat(&file).with_context(shown)?;
    let others = Mode::from_raw_mode(stat.st_mode) & (Mode::WGRP | Mode::WOTH);
    if stat.st_uid != geteuid().as_raw() || !others.is_empty() {
        bail!("{}: another user may write it; remove it", path.display());
    }
    Ok(file.into())
}

/// Notes this process in these files, and closes them. Its guard has started it.
pub fn note(files: &[RawFd], guard: Pid) -> io::Result<()> {
    let text = Note { boot: boot()?, child: Process::now(getpid())?, guard: Process::now(guard)? }.to_text();
    files.iter().try_for_each(|&file| {
        // SAFETY: this process has inherited it for this, and nothing else here knows it.
        let file = unsafe { File::from_raw_fd(file) };
        file.write_all_at(text.as_bytes(), 0)
    })
}

/// Ends the child that is noted in this file, with all that it has started, if its guard does not. Returns its process.
pub fn end(file: &File) -> anyhow::Result<Option<Pid>> {
    let mut text = [0; LENGTH];
    let Some(note) = file.read_exact_at(&mut text, 0).ok().and_then(|()| Note::parse(std::str::from_utf8(&text).ok()?))
    else {
        return Ok(None);
    };
    if note.boot != boot()? || note.guard.is_there() || !note.child.is_there() {
        return Ok(None);
    }
    let pid = note.child.pid;
    let open = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(None),
        open => open.with_context(|| still_runs(pid))?,
    };
    // Its number may have been given to another one since.
    if !note.child.is_there() {
        return Ok(None);
    }
    let all = kill(open, pid).with_context(|| still_runs(pid))?;
    // Those that are not gone yet may have the lock.
    for open in &all {
        if poll(&mut [PollFd::new(open, PollFlags::IN)], Some(&TO_END)) != Ok(1) {
            bail!("{}: it does not end", still_runs(pid));
        }
    }
    Ok(Some(pid))
}

/// Kills the child, and then all that it has started. While it is stopped, it starts nothing.
fn kill(child: OwnedFd, pid: Pid) -> rustix::io::Result<Vec<OwnedFd>> {
    pidfd_send_signal(&child, Signal::STOP)?;
    let started = processes::descendants(pid).into_iter();
    let started: Vec<OwnedFd> = started.filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect();
    let all: Vec<OwnedFd> = [child].into_iter().chain(started).collect();
    all.iter().try_for_each(|open| match pidfd_send_signal(open, Signal::KILL) {
        Err(Errno::SRCH) => Ok(()),
        sent => sent,
    })?;
    Ok(all)
}

fn still_runs(pid: Pid) -> String {
    format!("process {pid}, which an earlier txid-agent has started, still runs; end it")
}

/// The same number and time may be of another process in another boot.
fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

struct Note {
    boot: String,
    child: Process,
    guard: Process,
}

impl Note {
    fn to_text(&self) -> String {
        let Self { boot, child, guard } = self;
        let words = format!("{boot} {} {} {} {}", child.pid, child.start, guard.pid, guard.start);
        format!("{words:<width$}\n", width = LENGTH - 1)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let boot = words.next()?.to_owned();
        let mut process =
            || Some(Process { pid: Pid::from_raw(words.next()?.parse().ok()?)?, start: words.next()?.parse().ok()? });
        Some(Self { boot, child: process()?, guard: process()? })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::process::{Child, Command};

    /// Starts a process whose guard is gone, and what notes it.
    fn left() -> (Child, Note) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let guard = Process { pid: getpid(), start: 0 };
        let noted = Process::now(Pid::from_child(&child)).unwrap();
        (child, Note { boot: boot().unwrap(), child: noted, guard })
    }

    /// The same, with the text of a file that notes it.
    pub fn left_as_text() -> (Child, String) {
        let (child, note) = left();
        (child, note.to_text())
    }

    /// Notes a process, and says whether it is ended.
    fn ends(change: impl FnOnce(&mut Note)) -> bool {
        let (mut child, mut note) = left();
        let pid = Pid::from_child(&child);
        change(&mut note);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(note.to_text().as_bytes()).unwrap();
        assert_eq!(file.metadata().unwrap().len(), LENGTH as u64);
        let ended = end(&file).unwrap();
        let is_there = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(ended, (!is_there).then_some(pid));
        !is_there
    }

    #[test]
    fn only_the_process_that_was_noted_is_ended() {
        assert!(ends(|_| {}));
        assert!(!ends(|note| note.child.start -= 1), "another process has its number");
        assert!(!ends(|note| note.boot = "another".to_owned()));
        assert!(!ends(|note| note.guard = Process::now(getpid()).unwrap()), "its guard ends it");
        assert!(!ends(|note| note.child.pid = Pid::from_raw(i32::MAX).unwrap()));
    }

    #[test]
    fn who_reads_that_it_still_runs_knows_which_process_to_end() {
        let why = still_runs(Pid::from_raw(1234).unwrap());
        assert!(why.contains("process 1234, ") && why.ends_with("end it"), "{why}");
    }

    #[test]
    fn a_boot_has_the_kernels_uuid() {
        assert_eq!(boot().unwrap().split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    }

    #[test]
    fn a_note_that_others_may_write_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("note");
        let why = || open(&path).unwrap_err().to_string();
        open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(why().ends_with("note: another user may write it; remove it"), "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if geteuid().is_root() {
            chown(&path, Some(1), None).unwrap();
            assert!(why().ends_with("note: another user may write it; remove it"));
        }
        fs::remove_file(&path).unwrap();
        symlink("/dev/null", &path).unwrap();
        assert!(open(&path).is_err());
    }

    #[test]
    fn a_file_without_a_note_is_none() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(end(&file).unwrap(), None);
        file.write_all(&[b'x'; 2 * LENGTH]).unwrap();
        assert_eq!(end(&file).unwrap(), None);
    }
}
