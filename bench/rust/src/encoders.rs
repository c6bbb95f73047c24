//! Compares each encoder of the library with data-encoding, or with the standard library if data-encoding has none.

use crate::cpu_time;
use crate::table::cell;
use data_encoding::{BASE32_DNSSEC, BASE64_NOPAD, HEXLOWER};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use txid::trace::{SkyWalking, TraceId};
use txid::{Txid, UniqueId, UniqueIdProcess};

const ROUNDS: usize = 41;
const CALLS: usize = 20_000;

/// How many inputs take turns, so that no branch always goes the same way.
const INPUTS: usize = 256;

/// A task, our code for it, and the code that could replace it, with its name in the table.
struct Row {
    what: &'static str,
    other: &'static str,
    contenders: [Box<dyn Fn(usize)>; 2],
}

fn row(
    what: &'static str,
    other: &'static str,
    ours: impl Fn(usize) + 'static,
    theirs: impl Fn(usize) + 'static,
) -> Row {
    Row { what, other, contenders: [Box::new(ours), Box::new(theirs)] }
}

fn inputs<T>(make: impl Fn() -> T) -> Vec<T> {
    (0..INPUTS).map(|_| make()).collect()
}

fn rows() -> Vec<Row> {
    let (ids, texts) = (inputs(|| Txid::wrapping_at(7)), inputs(|| Txid::wrapping_at(7).to_text()));
    let bytes: Vec<[u8; 12]> = ids.iter().map(|&id| id.into()).collect();
    let traces = inputs(|| TraceId(uuid::Uuid::new_v4().as_u128()));
    let (unique, skywalking) = (inputs(UniqueId::long), inputs(SkyWalking::new));
    let (their_texts, their_traces, their_unique, their_skywalking) =
        (texts.clone(), traces.clone(), unique.clone(), skywalking.clone());
    vec![
        row(
            "an id in base32hex",
            "data-encoding",
            move |i| _ = black_box(ids[i].to_text()),
            move |i| {
                let mut text = [0; Txid::LEN];
                BASE32_DNSSEC.encode_mut(&bytes[i], &mut text);
                black_box(text);
            },
        ),
        row(
            "reading an id",
            "data-encoding",
            move |i| _ = black_box(Txid::from_text(black_box(&texts[i]))),
            move |i| {
                let mut id = [0; 12];
                let read = BASE32_DNSSEC.decode_mut(black_box(&their_texts[i]), &mut id);
                _ = black_box((read, id));
            },
        ),
        row(
            "a trace id in hexadecimal",
            "data-encoding",
            move |i| _ = black_box(traces[i].to_text()),
            move |i| {
                let mut text = [0; TraceId::LEN];
                HEXLOWER.encode_mut(&their_traces[i].0.to_be_bytes(), &mut text);
                black_box(text);
            },
        ),
        row(
            "a `UNIQUE_ID` in base64",
            "data-encoding",
            move |i| {
                let mut text = [0; UniqueId::LONG_LEN];
                black_box(unique[i].write(&mut text));
                black_box(text);
            },
            move |i| {
                let id = &their_unique[i];
                let mut bytes = [0; 20];
                bytes[..4].copy_from_slice(&id.seconds.to_be_bytes());
                if let UniqueIdProcess::Long { random } = id.process {
                    bytes[4..14].copy_from_slice(&random);
                }
                bytes[14..16].copy_from_slice(&id.counter.to_be_bytes());
                bytes[16..].copy_from_slice(&id.thread.to_be_bytes());
                let mut text = [0; UniqueId::LONG_LEN];
                BASE64_NOPAD.encode_mut(&bytes, &mut text);
                black_box(text);
            },
        ),
        row(
            "a SkyWalking id, hexadecimal and decimal",
            "`write!`",
            move |i| {
                let mut text = [0; SkyWalking::MAX_LEN];
                black_box(skywalking[i].write(&mut text));
                black_box(text);
            },
            move |i| {
                let id = &their_skywalking[i];
                let mut text = [0; SkyWalking::MAX_LEN];
                let time = id.ms * 10_000 + i64::from(id.sequence);
                _ = write!(&mut text[..], "{:032x}.{}.{time}", id.instance, id.thread);
                black_box(text);
            },
        ),
    ]
}

fn ns(make: &dyn Fn(usize)) -> f64 {
    let start = cpu_time::now();
    (0..CALLS).for_each(|call| make(call % INPUTS));
    (cpu_time::now() - start).as_nanos() as f64 / CALLS as f64
}

pub fn table() -> String {
    let rows = rows();
    let mut measured = vec![[Vec::new(), Vec::new()]; rows.len()];
    for _ in 0..ROUNDS {
        for (row, columns) in rows.iter().zip(&mut measured) {
            for (contender, column) in row.contenders.iter().zip(columns) {
                column.push(ns(contender));
            }
        }
    }
    let mut table = format!(
        "{ROUNDS} rounds of {CALLS} calls.\n\n| writing | by hand, ns | instead, ns | by |\n|---|--:|--:|---|\n"
    );
    for (Row { what, other, .. }, [ours, theirs]) in rows.iter().zip(measured) {
        _ = writeln!(table, "| {what} | {} | {} | {other} |", cell(ours, 1), cell(theirs, 1));
    }
    table
}
