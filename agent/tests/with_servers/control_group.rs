//! Control groups that tests make.

use std::fs;
use std::path::{Path, PathBuf};

use crate::unique;

/// A group below the one of this test, of either version.
pub struct ControlGroup(pub PathBuf);

impl ControlGroup {
    /// None where this user may make none that has this file.
    pub fn with(file: &str) -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let name = unique(&format!("test-{file}"));
        for (kind, path) in own {
            for root in [Path::new("/sys/fs/cgroup").join(kind), "/sys/fs/cgroup/unified".into()] {
                let group = root.join(path.trim_start_matches('/')).join(&name);
                if fs::create_dir(&group).is_ok() {
                    let group = Self(group);
                    if group.0.join(file).exists() {
                        return Some(group);
                    }
                }
            }
        }
        crate::skipped(format_args!("no control group with {file} can be made here"));
        None
    }

    /// Lines of a shell that run its arguments in the group.
    pub fn join(&self) -> String {
        format!("echo $$ >{}/cgroup.procs; exec \"$@\"", self.0.display())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        _ = fs::remove_dir(&self.0);
    }
}
