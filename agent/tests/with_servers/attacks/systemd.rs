//! Units of a real systemd, which boots in a container with this host's files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{AGENT, by};

/// Runs as a unit beside those that it tests. Its output is in a file.
const CHECK: &str = r#"#!/bin/bash
set -u
exec >/root/said 2>&1
trap 'systemctl poweroff 2>/dev/null' EXIT
of() { systemctl show "$1" --value --property="$2"; }
until_is() { for _ in $(seq 600); do [ "$(eval "$1")" = "$2" ] && return; sleep 0.1; done; echo "$1 is not $2"; journalctl -n 50; exit; }
alive() { pgrep -u daemon -f "$1" | wc -l; }

echo "== a child, as another user, with a control group of its own"
systemctl start app
echo "type $(of app Type), $(systemctl is-active app)"
until_is 'pgrep -u daemon -cx sleep' 2
echo "$(of app StatusText)" | sed 's/node [0-9]*/node N/; s/after.*/after/'
group=$(sed -n 's/^0:://p' "/proc/$(pgrep -u daemon -x sleep | head -n 1)/cgroup")
echo "group $group" | sed 's/txid-[0-9-]*/txid-N/'

echo "== agent and guard are stopped: the watchdog ends the child"
main=$(of app MainPID)
kill -STOP "$main" $(pgrep -x txid-guard)
until_is 'of app NRestarts' 1
until_is 'pgrep -u daemon -cx sleep' 2
until_is 'journalctl -u app | grep -c "Watchdog timeout"' 1
[ -d "/proc/$main" ] && echo "it is still there"

echo "== one without a child is reloaded: it reads its file again"
systemctl start plain
systemctl reload plain
until_is 'journalctl -u plain | grep -c "goes by the file as it is now"' 1
echo "restarts: $(of plain NRestarts)"

echo "== the end"
systemctl stop app plain
echo "app $(of app Result), plain $(of plain Result), $(pgrep -u daemon -c .) processes"
/usr/bin/txid-agent nodes --store file:///leases app | grep -c released
"#;

const SAYS: &str = "\
== a child, as another user, with a control group of its own
type notify, active
app: took node N, generation 1, after
group /system.slice/app.service/txid-N
== agent and guard are stopped: the watchdog ends the child
== one without a child is reloaded: it reads its file again
restarts: 0
== the end
app success, plain success, 0 processes
1
";

/// A root that is this host's, with changes that are gone with it.
struct Root(PathBuf);

impl Root {
    fn new(directory: &Path) -> Result<Self, Output> {
        let path = |name: &str| directory.join(name);
        for name in ["changes", "merged"] {
            fs::create_dir(path(name)).unwrap();
        }
        // An overlay needs another file system than this one for what changes.
        mount(&["-t", "tmpfs", "tmpfs"], &path("changes"))?;
        let root = Self(directory.to_owned());
        fs::create_dir(path("changes/upper")).unwrap();
        fs::create_dir(path("changes/work")).unwrap();
        let options = format!("lowerdir=/,upperdir={0}/upper,workdir={0}/work", path("changes").display());
        mount(&["-t", "overlay", "overlay", "-o", &options], &path("merged"))?;
        Ok(root)
    }

    fn write(&self, path: &str, mode: u32, text: &str) {
        let path = self.0.join("merged").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for name in ["merged", "changes"] {
            _ = Command::new("umount").arg("--lazy").arg(self.0.join(name)).output();
        }
    }
}

fn mount(what: &[&str], at: &Path) -> Result<(), Output> {
    let output = Command::new("mount").args(what).arg(at).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(output) }
}

fn of_the_tree(path: &str) -> String {
    fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The unit of the examples with these values in place of its own.
fn app() -> String {
    let example = of_the_tree("examples/agent/app.service");
    let mut unit = String::new();
    for line in example.lines() {
        unit += &match line.split_once('=') {
            Some(("ExecStart", _)) => {
                "ExecStart=/usr/bin/txid-agent run --store file:///leases --node app=snowflake --dir /run/app --assume-unused-store \
                                       --env N={app} -- sh -c 'setsid sleep 1000 & exec sleep 1000'"
                    .to_owned()
            }
            Some(("WatchdogSec", _)) => "WatchdogSec=3".to_owned(),
            Some(("RestartSec", _)) => "RestartSec=0".to_owned(),
            Some(("User", _)) => "User=daemon\nReadWritePaths=/leases".to_owned(),
            _ => line.to_owned(),
        };
        unit.push('\n');
    }
    unit
}

#[test]
fn units_of_systemd() {
    let directory = tempfile::tempdir().unwrap();
    let root = match Root::new(directory.path()) {
        Ok(root) => root,
        Err(output) => return crate::skipped(String::from_utf8_lossy(&output.stderr)),
    };
    fs::copy(AGENT, root.0.join("merged/usr/bin/txid-agent")).unwrap();
    root.write("leases/.keep", 0o644, "");
    fs::remove_file(root.0.join("merged/leases/.keep")).unwrap();
    fs::set_permissions(root.0.join("merged/leases"), PermissionsExt::from_mode(0o777)).unwrap();
    root.write("root/check", 0o755, CHECK);
    root.write("etc/systemd/system/app.service", 0o644, &app());
    let plain = of_the_tree("packaging/agent/txid-agent.service").replace("User=txid", "User=bin");
    let plain = plain.replace("Group=txid", "Group=bin").replace("RestartSec=5", "RestartSec=0");
    let plain = plain.replace("--config", "--assume-unused-store --config");
    root.write("etc/txid/agent.toml", 0o644, "store = 'file:///var/lib/txid/leases'\nnodes.plain = 'snowflake'\n");
    root.write("etc/systemd/system/plain.service", 0o644, &plain);
    let check = "[Service]\nType=oneshot\nExecStart=/root/check\n";
    root.write("etc/systemd/system/check.service", 0o644, check);
    let mut boot = by("systemd-nspawn");
    boot.args(["--quiet", "--register=no", "--keep-unit", "--private-network", "--boot", "-D"])
        .arg(root.0.join("merged"));
    let output = boot.args(["--", "--unit=check.service"]).stdin(Stdio::null()).output();
    let Ok(output) = output else { return crate::skipped("there is no systemd-nspawn") };
    let said = fs::read_to_string(root.0.join("merged/root/said"));
    let console = [output.stdout, output.stderr].concat();
    let Ok(said) = said else { return crate::skipped(String::from_utf8_lossy(&console)) };
    assert_eq!(said, SAYS);
}
