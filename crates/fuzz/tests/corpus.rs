//! Every target over its corpus, and over everything that is one change away from it: truncated anywhere, one byte
//! changed, removed or inserted, or the beginning of one input with the end of another.

use std::fs;
use std::path::Path;
use txid::formats::{self, Numbers};
use txid_fuzz::{TARGETS, Target};

/// Replacement bytes: the ends of alphabets and their neighbours, separators, digits, bits.
const BYTES: &[u8] = b"\0\x01\t\n 09:/-.,=gGvVwfFzZ_@+\x1b\x1f\x7f\x80\x8b\xc3\xff";

/// So many bytes are changed of a longer input.
const CHANGED: usize = 200;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<_> = fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

fn one_change_away(input: &[u8], other: &[u8], target: Target) {
    for place in 0..=input.len().min(CHANGED) {
        let (head, tail) = input.split_at(place);
        target(head);
        target(&[head, other.get(place..).unwrap_or_default()].concat());
        for byte in BYTES {
            target(&[head, &[*byte], tail].concat());
            if let Some((first, rest)) = tail.split_first() {
                target(&[head, &[*byte], rest].concat());
                target(&[head, &[first ^ byte], rest].concat());
            }
        }
        if let Some((_, rest)) = tail.split_first() {
            target(&[head, rest].concat());
        }
    }
}

#[test]
fn every_target_answers_rightly() {
    // In parallel, with its name in a failure.
    std::thread::scope(|scope| {
        for (name, target) in TARGETS {
            std::thread::Builder::new()
                .name(name.to_string())
                .spawn_scoped(scope, || {
                    let corpus = corpus(name);
                    assert!(!corpus.is_empty());
                    let others = corpus.iter().cycle().skip(1);
                    for (input, other) in corpus.iter().zip(others) {
                        target(input);
                        one_change_away(input, other, *target);
                    }
                })
                .unwrap();
        }
    });
}

#[test]
fn the_corpus_of_inspect_has_every_format() {
    let texts = corpus("inspect");
    for format in formats::ALL.iter().filter(|format| format.is_read()) {
        let is_of_format = |text: &Vec<u8>| {
            let found = formats::recognize(text, &Numbers::UNKNOWN, txid::system_ms()).unwrap_or_default();
            found.iter().any(|(found, _)| found.format() == *format)
        };
        assert!(texts.iter().any(is_of_format), "crates/fuzz/corpus/inspect/ has no {format:?}");
    }
}

#[test]
fn every_corpus_has_a_target() {
    for directory in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).unwrap() {
        let name = directory.unwrap().file_name().into_string().unwrap();
        assert!(txid_fuzz::target(&name).is_some(), "{name}");
    }
}
