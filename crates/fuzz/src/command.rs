//! What the command reads: gzip, lines, texts that may be ids, times.

use crate::bytes::{take, text};
use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};
use std::io::{self, BufReader, Cursor, Read, Write};
use std::ops::ControlFlow;
use std::sync::LazyLock;
use txid::Txid;
use txid::formats::find::Finder;
use txid::formats::{self, Numbers, Readings};
use txid::snowflake::Layout;
use txid_cli::blocks::{Blocks, Piece};
use txid_cli::gzip::Members;
use txid_cli::{picture, terminal, time};

const MOST: u64 = 1 << 20;

fn read_all(input: impl Read) -> (Vec<u8>, io::Result<usize>) {
    let mut read = Vec::new();
    let end = input.take(MOST).read_to_end(&mut read);
    (read, end)
}

/// We read everything that flate2 reads, and everything before the point where it gives up.
pub fn gzip(bytes: &[u8]) {
    let (ours, end) = read_all(Members::new(bytes));
    let (theirs, their_end) = read_all(MultiGzDecoder::new(bytes));
    assert!(ours.starts_with(&theirs));
    if their_end.is_ok() {
        assert!(end.is_ok() && ours == theirs);
    }
}

/// Bytes that are packed here, in members with padding in between, are read back unchanged.
pub fn padded_gzip(mut bytes: &[u8]) {
    let (mut packed, mut plain) = (Vec::new(), Vec::new());
    while !bytes.is_empty() {
        let [length, padding] = take(&mut bytes);
        let (part, rest) = bytes.split_at(usize::from(length).min(bytes.len()));
        bytes = rest;
        let mut member = GzEncoder::new(&mut packed, Compression::fast());
        member.write_all(part).expect("memory takes all");
        member.finish().expect("memory takes all");
        packed.resize(packed.len() + usize::from(padding), 0);
        plain.extend_from_slice(part);
    }
    let (read, end) = read_all(Members::new(BufReader::with_capacity(7, &*packed)));
    assert!(read == plain && (end.is_ok() || packed.is_empty()));
}

/// The lines of a log, in the smallest possible blocks, are those of the whole, and so are the ids in them.
pub fn log(mut bytes: &[u8]) {
    let [block, longest] = take(&mut bytes).map(|byte: u8| usize::from(byte) + 1);
    let longest = longest.max(block);
    let mut blocks = Blocks::with_sizes(Box::new(Cursor::new(bytes.to_vec())), block, longest);
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    while let Some(piece) = blocks.next_piece().expect("memory can be read") {
        match piece {
            Piece::Lines(some) => lines.extend_from_slice(some),
            Piece::TooLong(line) => left_out.push(line),
        }
    }
    let is_too_long = |line: &[u8]| line.len() > longest || line.len() == longest && line.last() != Some(&b'\n');
    let (mut expected, mut too_long) = (Vec::new(), Vec::new());
    let mut offset = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match is_too_long(line) {
            true => too_long.push(offset),
            false => expected.extend_from_slice(line),
        }
        offset += line.len() as u64;
    }
    assert_eq!((lines, left_out), (expected, too_long));

    // Whether something is a word must not depend on its position.
    static FINDER: LazyLock<Finder> = LazyLock::new(|| {
        let txid = formats::named("txid").expect("it is there");
        Finder::of(&[txid], Numbers::UNKNOWN).expect("it has a time")
    });
    let words = || bytes.split(|byte| !byte.is_ascii_alphanumeric()).filter_map(|word| Txid::from_text(word).ok());
    let ms_of = |id: Txid| id.timestamp_ms();
    let (range, first) = (1 << 41..=i64::MAX, words().next().map(ms_of));
    let within = words().filter(|id| range.contains(&ms_of(*id))).count();
    // The letters and digits of an escape are no part of a word, which is tested beside the finder.
    let has_escapes = bytes.iter().any(|byte| b"\\%\x1b".contains(byte));
    for before in 0..if has_escapes {
        0
    } else if first.is_some() {
        128
    } else {
        1
    } {
        let text = [&b"-".repeat(before), bytes].concat();
        assert_eq!(FINDER.first(&text).and_then(|it| it.ms), first);
        let mut found = 0;
        FINDER.within(&text, &FINDER.window(range.clone()), |_| found += 1);
        assert_eq!(found, within);
    }
    // Every other format, and all of them: what is found can be read, and is in the window of all times.
    static FINDERS: LazyLock<Vec<Finder>> = LazyLock::new(|| {
        let of_one = |format: &&'static formats::Format| Finder::of(&[*format], Numbers::UNKNOWN);
        let several = [Finder::of_likely(Numbers::UNKNOWN), Finder::of_all(Numbers::UNKNOWN)];
        formats::ALL.iter().filter_map(of_one).chain(several).collect()
    });
    for finder in &*FINDERS {
        let (mut within, mut found) = (Vec::new(), Vec::new());
        finder.within(bytes, &finder.window(i64::MIN..=i64::MAX), |place| within.push(place));
        finder.each(bytes, |it| {
            assert!(
                formats::read(it.format.name, &bytes[it.range.clone()], &Numbers::UNKNOWN)
                    .is_some_and(|read| read.is_ok())
            );
            found.extend(it.ms.map(|_| it.range));
            ControlFlow::Continue(())
        });
        assert_eq!(within, found, "{finder:?}");
    }
}

/// What `txid inspect` shows of a word.
pub fn inspect(bytes: &[u8]) {
    for numbers in [Numbers::UNKNOWN, Numbers { layout: Layout::SONYFLAKE, is_chosen: true }] {
        let readings = Readings::of(bytes, &numbers, txid::system_ms());
        // A text that fits can be shown, in any layout that is tried.
        for format in formats::ALL.iter().copied().filter(|format| format.name != "snowflake" || numbers.is_chosen) {
            let is_read = formats::read(format.name, bytes, &numbers).is_some_and(|read| read.is_ok());
            // A UUID of any version is read as one.
            let is_it = |name: &str| name == format.name || format.name == "uuid" && name.starts_with("uuid_");
            assert_eq!(readings.iter().any(|it| is_it(it.name())), is_read, "{format:?}");
        }
        match formats::recognize(bytes, &numbers, txid::system_ms()) {
            Ok(found) => {
                assert!(!found.is_empty());
                for (reading, id) in found {
                    let again = formats::recognize(id.text.as_bytes(), &numbers, txid::system_ms()).unwrap();
                    assert!(again.iter().any(|(it, same)| it.name() == reading.name() && same.text == id.text));
                    let bits: usize = id.fields.iter().map(|(_, bits)| bits).sum();
                    assert!(id.bytes.is_empty() || 8 * id.bytes.len() == bits);
                    assert_eq!(picture::of(&id.bytes, &id.fields).is_empty(), id.bytes.is_empty());
                    assert_eq!(reading.format().ms(bytes, &reading.numbers), reading.ms);
                    reading.ms.and_then(time::timestamp).map(time::rfc3339_of);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// A time that a user writes is one that an id can hold, and is read back as it is shown.
pub fn time(bytes: &[u8]) {
    let text = &*text(bytes);
    if let Ok(ms) = time::parse("--at", text) {
        assert!((0..=time::LAST_MS).contains(&ms));
        assert_eq!(time::parse("--at", &time::rfc3339(ms)).ok(), Some(ms));
    }
}

/// Nothing printed on a terminal can control it.
pub fn terminal(bytes: &[u8]) {
    let shown = terminal::harmless(bytes);
    let controls = shown.replace("\r\n", "\n").contains(|char: char| char.is_control() && !"\t\n".contains(char));
    assert!(!controls && shown.matches('\n').count() == bytes.iter().filter(|&&byte| byte == b'\n').count());
}
