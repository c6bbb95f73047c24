//! A control group for the child. The kernel kills all processes in it at once, whatever they fork, and whoever runs them.

use rustix::process::Pid;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A group below the one of the agent. It is removed when this is dropped, unless a process is in it.
pub struct Group(PathBuf);

impl Group {
    /// None where this user may not make one, or where the kernel kills no groups: before Linux 5.14, and in version 1.
    /// If there is one of this name, its agent is gone, and all that it has left is ended.
    pub fn new(name: &str) -> Option<Self> {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::below(&own(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))?, name)
    }

    fn below(own: &Path, name: &str) -> Option<Self> {
        let group = Self(own.join(name));
        if group.0.exists() {
            group.kill();
            // It can be removed when all have ended.
            for _ in 0..MOST_LOOKS {
                if fs::remove_dir(&group.0).is_ok() {
                    break;
                }
                thread::sleep(PAUSE);
            }
        }
        fs::create_dir(&group.0).ok()?;
        Some(group).filter(|group| group.0.join(KILL).exists())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether a process is in it, and so ends when it is killed.
    pub fn holds(&self, process: Pid) -> bool {
        let process = process.to_string();
        fs::read_to_string(self.0.join(PROCESSES)).is_ok_and(|all| all.lines().any(|line| line == process))
    }

    pub fn kill(&self) {
        // A process that is not in it gets a signal.
        let _ = fs::write(self.0.join(KILL), "1");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Moves this process into a group.
pub fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join(PROCESSES), "0")
}

const PROCESSES: &str = "cgroup.procs";
const KILL: &str = "cgroup.kill";
/// How long processes that were killed may take to end.
const PAUSE: Duration = Duration::from_millis(10);
const MOST_LOOKS: u32 = 500;

/// The directory of the group of this process.
fn own(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    mounts.lines().find_map(|line| {
        let (place, _) = line.split_once(" - cgroup2 ")?;
        let mut words = place.split(' ').skip(3);
        let (root, mounted_at) = (words.next()?, words.next()?);
        Some(Path::new(mounted_at).join(group.strip_prefix(root).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_where_it_is_mounted() {
        let mount = |root: &str| {
            format!(
                "24 31 0:22 / /proc rw,nosuid - proc proc rw\n\
                 35 34 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 36 34 0:31 {root} /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
            )
        };
        let of = |group: &str, root: &str| own(&format!("4:memory:/other\n0::{group}\n"), &mount(root));
        let below = |path: &str| Some(Path::new("/sys/fs/cgroup/unified").join(path));
        assert_eq!(of("/", "/"), below(""));
        assert_eq!(of("/system.slice/app.service", "/"), below("system.slice/app.service"));
        // A container may have only its own part of the tree.
        assert_eq!(of("/docker/1234/app", "/docker/1234"), below("app"));
        assert_eq!(of("/another", "/docker/1234"), None);
        assert_eq!(own("4:memory:/other\n", &mount("/")), None, "version 1 alone");
        assert_eq!(own("0::/\n", ""), None, "it is not mounted");
    }

    #[test]
    fn a_group_of_the_same_name_is_an_earlier_agents() {
        let own = tempfile::tempdir().unwrap();
        let made = |name: &str| Group::below(own.path(), name);
        // Nothing is left of a directory that is no control group.
        assert!(made("txid-1-2").is_none() && own.path().read_dir().unwrap().next().is_none());
        fs::create_dir(own.path().join("txid-1-2")).unwrap();
        fs::create_dir(own.path().join("txid-1-3")).unwrap();
        assert!(made("txid-1-2").is_none());
        assert!(own.path().join("txid-1-3").exists(), "it is another one's");
    }

    #[test]
    fn a_group_has_its_processes_and_is_killed_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("txid-1");
        fs::create_dir(&path).unwrap();
        let group = Group(path.clone());
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let holds = |pid| group.holds(Pid::from_raw(pid).unwrap());
        assert!(!holds(34), "its list cannot be read");
        fs::write(path.join(PROCESSES), "12\n34\n").unwrap();
        assert_eq!([12, 34, 3, 1234].map(holds), [true, true, false, false]);
        group.kill();
        assert_eq!(read(KILL), "1");
        enter(&path).unwrap();
        assert_eq!(read(PROCESSES), "0");
    }
}
