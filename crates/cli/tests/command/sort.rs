//! `txid sort`.

use crate::{NOON, directory, gzip, id, printed, refusal, txid};

#[test]
fn lines_of_several_files_come_in_the_order_of_their_ids() {
    let lines: Vec<_> = (0..9).map(|ms| format!("GET /{ms} {}\n", id(ms << 30))).collect();
    let a = [&*lines[4], &*lines[0], &*lines[8]].concat();
    let b = [&*lines[3], &*lines[1]].concat().to_uppercase();
    let c = [&*lines[7], &*lines[2]].concat();
    let rest = [&*lines[6], &*lines[5]].concat();
    let directory = directory(&[("a", a.as_bytes()), ("b", b.as_bytes()), ("c.gz", &gzip(c.as_bytes()))]);
    let sorted = printed(txid(&["sort", "a", "b", "-", "c.gz"]).current_dir(&directory).write_stdin(rest));
    assert_eq!(sorted.to_lowercase(), lines.concat().to_lowercase());
    let of_a = [&*lines[0], &*lines[4], &*lines[8]].concat();
    let assert = txid(&["sort", "missing", "-"]).current_dir(&directory).write_stdin(a).assert().code(2).stdout(of_a);
    assert.stderr("txid: missing: No such file or directory (os error 2)\n");
}

#[test]
fn lines_without_an_id_stay_behind_the_line_before_and_equal_ones_in_order() {
    let (one, two) = (id(1), id(2));
    let a = format!("top\n{two} a\n\tat f\n\tat g\n{one} a\n\n{one} b\n");
    let b = format!("top of b\n{two} b\n{one} c");
    let directory = directory(&[("a", a.as_bytes()), ("b", b.as_bytes())]);
    assert_eq!(
        printed(txid(&["sort", "a", "b"]).current_dir(&directory)),
        format!("top\ntop of b\n{one} a\n\n{one} b\n{one} c\n{two} a\n\tat f\n\tat g\n{two} b\n")
    );
}

#[test]
fn the_first_id_of_a_line_counts() {
    let lines = format!("{} x {}\n{} y {}\n", id(2), id(1), id(1), id(9));
    let sorted = printed(txid(&["sort"]).write_stdin(lines));
    assert!(sorted.find(" y ").unwrap() < sorted.find(" x ").unwrap());
    assert_eq!(printed(txid(&["sort"]).write_stdin("")), "");
    // Also where it is joined to a word, and where it is of another format.
    let (of, uuid) =
        (|second: i64| id(NOON + second * 1000), |second: i64| txid::uuid::wrapping_v7_at(NOON + second * 1000));
    let lines = [
        format!("req-{} {}\n", of(1), of(9)),
        format!("{} {}\n", uuid(2), uuid(0)),
        format!("{} {}\n", uuid(9), of(3)),
    ];
    let reversed = [&*lines[2], &lines[1], &lines[0]].concat();
    assert_eq!(printed(txid(&["sort"]).write_stdin(reversed)), lines.concat());
    // Others are said only if there is none of the format.
    let (uuid, flake) = ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n", printed(&mut txid(&["new", "--format", "flake"])));
    let said = "txid: lines without a flake have other ids, passed over: 1 uuid_v7; txid sort --format any\n";
    txid(&["sort", "--format", "flake"]).write_stdin(uuid).assert().success().stdout(uuid).stderr(said);
    let both = uuid.to_string() + &flake;
    assert_eq!(printed(txid(&["sort", "--format", "flake"]).write_stdin(&*both)), both);
    // Ids of one millisecond are sorted by the rest; but not if that is no order of time.
    let uuid = |n: u32| format!("c232ab00-9414-11ec-b3c8-{:012x}\n", n.wrapping_mul(0x9e37_79b1));
    let uuids: String = (0..40).map(uuid).collect();
    let ids: Vec<_> = (0..40).map(|_| id(7) + "\n").collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(printed(txid(&["sort"]).write_stdin(ids.concat())), sorted.concat());
    assert_eq!(printed(txid(&["sort", "--format", "txid"]).write_stdin(ids.concat())), sorted.concat());
    assert_eq!(printed(txid(&["sort", "--format", "txid,ulid"]).write_stdin(ids.concat())), ids.concat());
    assert_eq!(printed(txid(&["sort", "--format", "uuid_v1"]).write_stdin(&*uuids)), uuids);
}

/// The last word of this UNIQUE_ID of 2018-04-12T20:19:36Z has the characters of a txid.
#[test]
fn a_part_of_another_id_is_no_txid() {
    let of = |second: i64| format!("{} x\n", id(1_523_564_376_000 + second * 1000));
    let lines = [of(-1), "Ws@-WAoAAAcAAAAqAAEAAAAg y\n".to_string(), of(1), format!("req-{}", of(2))];
    let mixed = [&lines[2], &lines[1], &lines[3], &lines[0]].map(|line| &**line).concat();
    assert_eq!(printed(txid(&["sort"]).write_stdin(mixed)), lines.concat());
    // The first word of one of 2026.
    let lines = [of(0), "aeqqqqqqqqqqqqqqqqqg@AAAAAE y\n".to_string()];
    assert_eq!(printed(txid(&["sort"]).write_stdin(lines[1].clone() + &lines[0])), lines.concat());
}

#[test]
fn lines_that_are_too_long_are_reported_and_the_others_are_sorted() {
    let long = format!("{} {}\n", id(0), "x".repeat(8 << 20));
    let longest = format!("{} {}\n", id(3), "x".repeat((8 << 20) - 22));
    let (one, two) = (id(1), id(2));
    let input = format!("{two} a\n{long}{longest}{long}\tat f\n{one} b\n{long}");
    let long_lines = input.match_indices(&long).map(|(offset, _)| offset);
    let messages: String = long_lines
        .map(|offset| format!("txid: a: the line at offset {offset} is longer than 8 MiB; skipped\n"))
        .collect();
    let directory = directory(&[("a", input.as_bytes())]);
    let assert = txid(&["sort", "a"]).current_dir(&directory).assert().code(2).stderr(messages);
    let expected = format!("{one} b\n{two} a\n{longest}\tat f\n");
    assert!(assert.get_output().stdout == expected.as_bytes());
}

#[test]
fn lines_are_reversed_made_unique_and_written_to_one_of_the_files() {
    let lines: Vec<_> = (1..5).map(|ms| format!("{} x\n\tat {ms}\n", id(ms))).collect();
    let y = lines[2].replace("x\n\tat 3", "y");
    let twice = [&lines[2], &lines[0], &lines[2], &lines[3], &lines[1], &y].map(|it| &**it).concat();
    let directory = directory(&[("a", twice.as_bytes())]);
    let reversed = printed(txid(&["sort", "-r", "a"]).current_dir(&directory));
    let expected = [&lines[3], &lines[2], &lines[2], &y, &lines[1], &lines[0]].map(|it| &**it).concat();
    assert_eq!(reversed, expected);
    assert_eq!(printed(txid(&["sort", "-u", "-o", "a", "a"]).current_dir(&directory)), "");
    let expected = [&lines[0], &lines[1], &lines[2], &y, &lines[3]].map(|it| &**it).concat();
    assert_eq!(std::fs::read_to_string(directory.path().join("a")).unwrap(), expected);
    let said = refusal(txid(&["sort", "-o", "none/b", "a"]).current_dir(&directory));
    assert_eq!(said, "txid: none/b: No such file or directory (os error 2)\n");
    let said = refusal(txid(&["sort", "-o", "/dev/full", "a"]).current_dir(&directory));
    assert_eq!(said, "txid: /dev/full: No space left on device (os error 28)\n");
}

/// More than is sorted in memory at once, with lines of the same id on both sides of the boundary.
#[test]
fn what_does_not_fit_into_memory_is_sorted_alike() {
    let shared: Vec<_> = (0..100).map(id).collect();
    let padding = "x".repeat(4000);
    let lines: Vec<_> =
        (0..28_000_usize).map(|n| format!("{} {n:05} {padding}\n at {n:05}\n", shared[n * 37 % 100])).collect();
    let directory = directory(&[]);
    let sorted = printed(txid(&["sort"]).write_stdin(lines.concat()).env("TMPDIR", directory.path()));
    let mut expected = lines;
    expected.sort_by(|a, b| a[..20].cmp(&b[..20]));
    assert!(sorted == expected.concat());
    let unique =
        printed(txid(&["sort", "-u"]).write_stdin(expected.concat().repeat(2)).env("TMPDIR", directory.path()));
    assert!(unique == expected.concat());
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);

    let input = sorted;
    let said = refusal(txid(&["sort"]).write_stdin(input).env("TMPDIR", directory.path().join("missing")));
    assert!(said.starts_with("txid: temporary file: "), "{said}");
}

/// The memory stated in the help, plus what the binary itself maps: a line of 300 MB does not increase it.
#[test]
fn memory_is_bounded() {
    let directory = directory(&[]);
    let long = std::fs::File::create(directory.path().join("long")).unwrap();
    long.set_len(300 << 20).unwrap();
    for (command, mib) in [("sort", 160), ("grep -s --from=0", 64)] {
        let command = format!("ulimit -v {} && exec \"$0\" {command} long", mib << 10);
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-c", &command, crate::program()]).current_dir(&directory);
        shell.assert().code(2).stdout("").stderr("txid: long: the line at offset 0 is longer than 8 MiB; skipped\n");
    }
}
