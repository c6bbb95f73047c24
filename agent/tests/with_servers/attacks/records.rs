//! Records and files that are damaged, or of another version: each subcommand says so in a line, and changes nothing.

use std::fs;
use std::path::Path;
use std::process::Output;

use txid::segment::SegmentPage;
use txid::snowflake::{Layout, LeasePage};

use crate::fleet::directory::Directory;
use crate::fleet::host::{agent, kill};

/// A store with the records of one agent, which has ended, and its files.
fn left_by_an_agent() -> Directory {
    let directory = Directory::new();
    kill(&mut directory.start(&["--segment", "invoices", "--create"]));
    directory
}

/// What a record may be instead of itself.
fn damaged(record: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new(), b"hello".to_vec(), vec![0xff; 40], vec![0; 40], vec![b'x'; 100_000]];
    all.extend([1, 7, record.len() / 2].map(|length| record[..length].to_vec()));
    let text = std::str::from_utf8(record).unwrap();
    if text.starts_with("txid-") {
        // Of another version, or written by an editor.
        all.extend([text.replacen(" 1 ", " 2 ", 1), format!("{text}\n")].map(String::into_bytes));
    }
    all
}

/// Checks that a command fails with one line that contains `wanted`.
fn fails(what: &str, output: &Output, wanted: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{what}: {said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(wanted) && !said.contains("a bug in") && said.len() < 1200, "{wanted:?} is not in: {said}");
}

#[test]
fn no_subcommand_takes_a_damaged_record_for_one() {
    let site = left_by_an_agent();
    let node = fs::read_dir(site.path("leases/orders/node")).unwrap().next().unwrap().unwrap().file_name();
    let node = node.to_str().unwrap();
    let key = format!("orders/node/{node}");
    let mut checked = 0;
    let mut check = |record: &Path, commands: &[&[&str]], wanted: &str| {
        let path = site.path("leases").join(record);
        let before = fs::read(&path).unwrap();
        for bytes in damaged(&before) {
            fs::write(&path, &bytes).unwrap();
            for command in commands {
                let output = site.of_store(command);
                let what = format!("{command:?} of '{}'", bytes[..bytes.len().min(150)].escape_ascii());
                fails(&what, &output, wanted);
                assert_eq!(fs::read(&path).unwrap(), bytes, "{command:?}");
                checked += 1;
            }
        }
        fs::write(&path, before).unwrap();
    };
    let node_commands: &[&[&str]] = &[&["nodes", "orders"], &["release", "orders", node]];
    check(Path::new(&key), node_commands, "");
    let run = site.path("other").display().to_string();
    let group_commands: &[&[&str]] = &[
        &["nodes", "orders"],
        &["release", "orders", node],
        &["set-floor", "orders"],
        &["run", "--node", "orders=snowflake", "--dir", &run],
        &["run", "--node", "orders=snowflake", "--env", "N={orders}", "--dir", &run, "--", "true"],
    ];
    check(Path::new("orders/meta"), group_commands, "");
    check(Path::new("invoices/segment"), &[&["raise-number", "invoices", "9000000"]], "");
    assert_eq!(checked, 2 * 10 + 5 * 10 + 8);
    // An agent waits until somebody has mended it.
    let path = site.path("leases/invoices/segment");
    let before = fs::read(&path).unwrap();
    for bytes in damaged(&before) {
        fs::write(&path, &bytes).unwrap();
        let mut command = agent();
        command.args(["run", "--store", &site.store(), "--segment", "invoices", "--dir", &run]);
        let mut agent = command.stderr(fs::File::create(site.path("log")).unwrap()).spawn().unwrap();
        site.says("gave an invalid answer: invoices/segment is ");
        assert_eq!(fs::read(&path).unwrap(), bytes);
        fs::write(&path, &before).unwrap();
        site.says("numbers from ");
        kill(&mut agent);
        fs::remove_dir_all(&run).unwrap();
    }
}

/// The files that processes map: of any length, and with any byte changed.
#[test]
fn status_takes_no_damaged_file_for_one() {
    let directory = tempfile::tempdir().unwrap();
    let now_ms = txid::system_ms();
    let lease = |path: &Path| {
        let page = LeasePage::open_or_make(path, &Layout::SNOWFLAKE).unwrap();
        page.open(7, now_ms - 1_000);
        page.set_limit(7, now_ms + 600_000);
    };
    let segment = |path: &Path| SegmentPage::open_or_make(path).unwrap().publish(1..5);
    let mut all = Vec::new();
    let mut damage = |ending: &str, make: &dyn Fn(&Path)| {
        for at in 0..134 {
            let path = directory.path().join(format!("{at}.{ending}"));
            make(&path);
            let mut bytes = fs::read(&path).unwrap();
            match at {
                0..128 => bytes[at] ^= 0x20,
                128 => bytes.fill(0),
                129 => bytes.fill(0xff),
                _ => bytes.truncate([0, 1, 64, 127][at - 130]),
            }
            // The same file: a copy is refused for that.
            fs::write(&path, &bytes).unwrap();
            all.push((path, bytes));
        }
    };
    damage("lease", &lease);
    damage("segment", &segment);
    for form in [&[][..], &["--json"], &["--prometheus"]] {
        let output = agent().arg("status").arg("--dir").arg(directory.path()).args(form).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && !said.contains("panicked"), "{said}");
    }
    all.iter().for_each(|(path, bytes)| assert_eq!(&fs::read(path).unwrap(), bytes, "{}", path.display()));
}
