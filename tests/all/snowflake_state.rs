//! The guarantees of a state's file: all processes share one word, and a wrong file is refused and left unchanged.

use std::fs;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use test_helpers::{Directory, word};
use txid::snowflake::{Generator, Layout, Order, State, StateError};
use txid::{FileError, PageError};

const NODE: u64 = 17;

fn open(path: &Path) -> Result<State, StateError> {
    State::open(path, &Layout::SNOWFLAKE, NODE)
}

fn generator(path: &Path) -> Generator {
    Generator::new(open(path).unwrap())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_state_goes_on_where_it_was() {
    let directory = Directory::new("goes-on");
    let now_ms = 1_700_000_000_000;
    let first = generator(&directory.file()).generate_at(now_ms).unwrap();
    let second = generator(&directory.file()).generate_at(now_ms).unwrap();
    assert_eq!(second, first + 1);
    assert!(generator(&directory.file()).generate_at(now_ms - 10_001).is_err());
    assert_eq!(generator(&directory.file()).generate_at(now_ms - 10_000), Ok(second + 1));
}

/// A file outlives the version that made it.
#[test]
fn everything_is_where_other_versions_look_for_it() {
    let directory = Directory::new("places");
    let ms = 1_700_000_000_000_u64;
    generator(&directory.file()).generate_at(ms as i64).unwrap();
    let page = fs::read(directory.file()).unwrap();
    assert_eq!(page[..16], *b"txidsnow\x01\0\0\0\0\0\0\0");
    assert_eq!(page[16..24], [41, 10, 12, 0, 0, 0, 0, 0]);
    let epoch_ms = 1_288_834_974_657;
    assert_eq!([24, 32, 40].map(|at| word(&page, at)), [1, epoch_ms, NODE]);
    let fnv_1a = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    assert_eq!(word(&page, 120), page[..120].iter().fold(0xcbf2_9ce4_8422_2325, fnv_1a));
    // The first free position, and a byte that makes the exclusive or of all eight 0xa5.
    let position = (ms - epoch_ms) << 12 | 1;
    let check = position.to_ne_bytes().iter().fold(0xa5, |check, byte| check ^ byte);
    assert_eq!(word(&page, 128), u64::from(check) << 56 | position);
    assert!(page[48..120].iter().chain(&page[136..]).all(|&byte| byte == 0));
}

#[test]
fn a_state_that_is_opened_twice_is_shared() {
    let directory = Directory::new("shared");
    let (one, two) = (generator(&directory.file()), generator(&directory.file()));
    let ids: Vec<_> = (0..1000).flat_map(|_| [one.generate().unwrap(), two.generate().unwrap()]).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
}

#[test]
fn it_makes_what_is_missing_with_the_right_modes() {
    let directory = Directory::new("makes");
    let path = directory.0.join("a/b/orders");
    generator(&path).generate().unwrap();
    assert_eq!(mode(&directory.0.join("a")), 0o750);
    assert_eq!(mode(&directory.0.join("a/b")), 0o750);
    assert_eq!(mode(&path), 0o640);
    assert_eq!(mode(&directory.0), 0o700, "what was there keeps its mode");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn every_damaged_byte_is_refused_and_left_as_it_is() {
    let directory = Directory::new("damaged");
    let path = directory.file();
    generator(&path).generate().unwrap();
    let whole = fs::read(&path).unwrap();
    // A whole file that is written over and over waits for the disk.
    let file = fs::File::options().write(true).open(&path).unwrap();
    for place in 0..whole.len() {
        for damage in [0x01, 0xff] {
            let mut damaged = whole.clone();
            damaged[place] ^= damage;
            file.write_all_at(&damaged[place..=place], place as u64).unwrap();
            let error = open(&path).unwrap_err();
            assert!(matches!(error, StateError::Page(PageError::Damaged { .. })), "byte {place}: {error}");
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
        file.write_all_at(&whole[place..=place], place as u64).unwrap();
    }
    let mut lost = whole.clone();
    lost[128..136].fill(0);
    for damaged in [lost, vec![0; whole.len()], vec![0xff; whole.len()]] {
        fs::write(&path, &damaged).unwrap();
        assert!(matches!(open(&path), Err(StateError::Page(PageError::Damaged { .. }))));
    }
    fs::write(&path, &whole).unwrap();
    generator(&path).generate().unwrap();
}

#[test]
fn a_file_of_another_size_is_refused_and_left_as_it_is() {
    let directory = Directory::new("size");
    let path = directory.file();
    generator(&path);
    let whole = fs::read(&path).unwrap();
    for bytes in [&[][..], b"orders", &whole[..4095], &[&whole[..], b"."].concat()] {
        fs::write(&path, bytes).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, StateError::Page(PageError::Size { .. })), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_file_of_a_later_version_is_refused() {
    let directory = Directory::new("version");
    let path = directory.file();
    generator(&path);
    let mut later = fs::read(&path).unwrap();
    later[8..12].copy_from_slice(&2_u32.to_ne_bytes());
    let checksum = later[..120]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    later[120..128].copy_from_slice(&checksum.to_ne_bytes());
    fs::write(&path, &later).unwrap();
    let error = open(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is a state of version 2, but this library supports 1", path.display()));
}

#[test]
fn a_file_of_another_layout_or_node_is_refused_and_left_as_it_is() {
    let directory = Directory::new("other");
    let path = directory.file();
    generator(&path).generate().unwrap();
    let whole = fs::read(&path).unwrap();
    let error = State::open(&path, &Layout::SNOWFLAKE, 18).unwrap_err();
    assert_eq!(error.to_string(), format!("{} belongs to node 17, not to node 18", path.display()));
    let shifted = Layout::SNOWFLAKE.with_epoch_ms(0).unwrap();
    for other in [Layout::SONYFLAKE, Layout::UID, shifted] {
        let error = State::open(&path, &other, NODE).unwrap_err();
        assert!(matches!(error, StateError::OtherLayout { .. }), "{error}");
        assert!(error.to_string().ends_with(&format!("not to {other}")), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), whole);
    State::open(&path, &Layout::LEAF, NODE).expect("its ids have the same bits");
}

#[test]
fn symbolic_links_are_refused_wherever_they_are() {
    let directory = Directory::new("links");
    let real = directory.0.join("real");
    fs::create_dir_all(real.join("below")).unwrap();
    let refused = |path: PathBuf, link: &Path| match open(&path) {
        Err(StateError::Page(PageError::File(FileError::SymbolicLink(found)))) => assert_eq!(found, link),
        other => panic!("{}: {other:?}", path.display()),
    };

    generator(&real.join("orders"));
    let link = directory.0.join("link");
    symlink(real.join("orders"), &link).unwrap();
    refused(link.clone(), &link);

    let dangling = directory.0.join("dangling");
    symlink(directory.0.join("nowhere"), &dangling).unwrap();
    refused(dangling.clone(), &dangling);
    assert!(!directory.0.join("nowhere").exists());

    let linked = directory.0.join("linked");
    symlink(&real, &linked).unwrap();
    refused(linked.join("orders"), &linked);
    refused(linked.join("below/orders"), &linked);
    assert!(!real.join("below/orders").exists());
}

#[test]
fn a_file_that_was_replaced_while_in_use_is_refused() {
    let directory = Directory::new("replaced");
    let first = generator(&directory.file());
    fs::rename(directory.file(), directory.0.join("aside")).unwrap();
    assert!(matches!(open(&directory.file()), Err(StateError::Page(PageError::Replaced(_)))));
    first.generate().unwrap();
    fs::rename(directory.0.join("aside"), directory.file()).unwrap();
    generator(&directory.file()).generate().unwrap();
}

#[test]
fn what_is_not_a_file_is_refused_at_once() {
    let directory = Directory::new("no-file");
    let path = directory.file();
    let refused = |path: &Path| {
        let error = open(path).unwrap_err();
        assert!(matches!(error, StateError::Page(PageError::File(FileError::NotAFile(_)))), "{error}");
    };

    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    refused(&path);
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    fs::remove_file(&path).unwrap();

    let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    refused(&path);
    drop(socket);
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    refused(&path);
    refused(Path::new("/dev/null"));

    for nameless in ["/", "", "..", "/tmp/.."] {
        let error = open(Path::new(nameless)).unwrap_err();
        assert_eq!(error.to_string(), format!("'{nameless}' does not end in a file's name"));
    }
    let error = open(&directory.0.join("orders/../orders/")).unwrap_err();
    assert!(matches!(error, StateError::Page(PageError::File(FileError::NotAFile(_)))), "{error}");
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.0.join("f")).unwrap();
    let error = open(&directory.0.join("f/orders")).unwrap_err();
    assert!(error.to_string().starts_with("cannot open directory "), "{error}");
}

#[test]
fn a_node_outside_the_layout_is_refused_before_anything_is_made() {
    let directory = Directory::new("node");
    let error = State::open(&directory.file(), &Layout::SNOWFLAKE, 1024).unwrap_err();
    assert_eq!(error.to_string(), "node 1024 is not in the layout's range, 0 to 1023");
    assert!(!directory.file().exists());
    assert!(State::in_memory(&Layout::SNOWFLAKE, 1024).is_err());
}

#[test]
fn files_of_a_killed_process_do_no_harm() {
    let directory = Directory::new("left-behind");
    // As if several processes with the same number had been killed: in a container, the first process is often number 1.
    let temporary = |attempt| directory.0.join(format!(".txid.{}-{attempt}", std::process::id()));
    for attempt in 0..1200 {
        fs::write(temporary(attempt), "half").unwrap();
    }
    generator(&directory.file()).generate().unwrap();
    for attempt in [0, 1199] {
        assert_eq!(fs::read(temporary(attempt)).unwrap(), b"half");
    }
    assert!(!temporary(1200).exists());
}

#[test]
fn a_name_may_be_as_long_as_the_file_system_allows() {
    let directory = Directory::new("long-name");
    for len in 240..=255 {
        let path = directory.0.join("x".repeat(len));
        generator(&path).generate().unwrap();
        generator(&path).generate().unwrap();
    }
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 16, "nothing else is left");
    let error = open(&directory.0.join("x".repeat(256))).unwrap_err();
    assert!(error.to_string().contains("File name too long"), "{error}");
}

/// Programs print an error together with its sources, as anyhow does. No text must appear twice.
#[test]
fn no_error_repeats_its_source() {
    let directory = Directory::new("sources");
    fs::create_dir(directory.file()).unwrap();
    for path in [directory.0.join("x".repeat(256)), directory.file(), PathBuf::from("/proc/self/none"), PathBuf::new()]
    {
        let error = open(&path).unwrap_err();
        let mut sources = std::iter::successors(std::error::Error::source(&error), |error| error.source());
        assert!(sources.all(|source| !error.to_string().contains(&source.to_string())), "{error:?}");
    }
}

#[test]
fn the_file_has_disk_space_before_it_is_mapped() {
    let directory = Directory::new("blocks");
    generator(&directory.file());
    let metadata = fs::metadata(directory.file()).unwrap();
    assert_eq!(metadata.len(), 4096);
    assert_ne!(metadata.blocks(), 0);
}

#[test]
fn threads_that_take_turns_do_not_count_a_step_of_the_clock() {
    let wide = Layout::new([41, 0, 22], 1, 1_700_000_000_000, Order::NodeThenSequence).unwrap();
    let orders = Generator::new(State::in_memory(&wide, 0).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!((0..50_000).all(|_| orders.generate().is_ok())));
        }
    });
    assert_eq!(orders.stats().clock_steps, 0);
}

#[test]
fn nothing_is_borrowed_before_anything_is_issued() {
    let in_2100 = Layout::SNOWFLAKE.with_epoch_ms(4_102_444_800_000).unwrap();
    let generator = Generator::new(State::in_memory(&in_2100, 3).unwrap());
    assert!(generator.generate().is_err());
    let stats = generator.stats();
    assert_eq!((stats.borrowed_ms, stats.refused, stats.issued), (0, 1, 0));
}

#[test]
fn what_is_borrowed_is_counted_from_the_clock() {
    let generator = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 4).unwrap());
    let before_ms = txid::system_ms();
    generator.generate_at(before_ms + 60_000).unwrap();
    let borrowed_ms = generator.stats().borrowed_ms as i64;
    let least_ms = 60_000 - (txid::system_ms() - before_ms);
    assert!((least_ms..=60_000).contains(&borrowed_ms), "{borrowed_ms}");
}

#[test]
fn a_state_that_is_shared_keeps_the_layout_it_was_opened_with() {
    let directory = Directory::new("layouts");
    let path = directory.0.join("orders");
    for layout in [Layout::SNOWFLAKE, Layout::LEAF] {
        assert_eq!(*State::open(&path, &layout, 5).unwrap().layout(), layout);
        assert_eq!(*State::in_memory(&layout, 5).unwrap().layout(), layout);
    }
}

#[test]
fn a_state_knows_its_node() {
    let directory = Directory::new("node");
    let state = State::open(&directory.file(), &Layout::SNOWFLAKE, 17).unwrap();
    assert_eq!((state.node(), state.lease()), (Some(17), None));
    assert_eq!(State::in_memory(&Layout::SNOWFLAKE, 18).unwrap().node(), Some(18));
}

#[test]
fn each_step_back_of_the_clock_is_counted_once() {
    let generator = Generator::new(State::in_memory(&Layout::SNOWFLAKE, 21).unwrap());
    let steps = [5, 5, 3, 3, 9, 8].map(|ms| {
        generator.generate_at(1_700_000_000_000 + ms).unwrap();
        generator.stats().clock_steps
    });
    assert_eq!(steps, [0, 0, 1, 1, 1, 2]);
}

/// The reading that it was given may be older than what another process has just used.
#[test]
fn a_generator_looks_at_the_clock_before_it_refuses() {
    let directory = Directory::new("snowflake-late-reading");
    let generator = generator(&directory.file());
    let now_ms = txid::system_ms();
    generator.generate_at(now_ms).unwrap();
    assert!(generator.generate_at(now_ms - 3_600_000).is_err());
    assert!(generator.generate_by(now_ms - 3_600_000).is_ok());
}
