//! No id allocates, except a thread's first.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;
use txid::trace::{self, Sofa, Traceparent};
use txid::{Flake, Maker, Txid, UniqueId, uuid};

struct Counting;

thread_local!(static ALLOCATED_BYTES: Cell<usize> = const { Cell::new(0) });

// SAFETY: everything is left to the system's allocator; the thread's own counter is plain data.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Every way to make an id, except the formats of a [`Maker`].
const PATHS: [(&str, fn()); 11] = [
    ("Txid::at", || _ = black_box(Txid::at(7).to_text())),
    ("Txid::now", || _ = black_box(Txid::now().to_text())),
    ("Txid::strong_at", || _ = black_box(Txid::strong_at(7))),
    ("uuid::v7_at", || _ = black_box(uuid::v7_at(7))),
    ("trace::span_id", || _ = black_box(trace::span_id().to_text())),
    ("Sofa", || _ = black_box(Sofa::new([10, 0, 0, 7].into()).write(&mut [0; Sofa::MAX_LEN]))),
    ("Traceparent", || _ = black_box(Traceparent::new(true).child().to_text())),
    ("Flake::at", || _ = black_box(Flake::at(7, None).to_text())),
    ("UniqueId::long_at", || _ = black_box(UniqueId::long_at(7).write(&mut [0; UniqueId::LONG_LEN]))),
    ("UniqueId::short_at", || {
        _ = black_box(UniqueId::short_at(7, [10, 0, 0, 7].into()).write(&mut [0; UniqueId::LONG_LEN]));
    }),
    // The host's address is looked up once.
    ("host_ipv4", || _ = black_box(txid::host_ipv4())),
];

/// A function that makes ids of this format; None if it needs options, or an address that this host does not have.
fn maker(name: &'static str) -> Option<impl Fn() + Send> {
    let maker = Maker::parse(name, []).ok()?;
    Some(move || _ = black_box(maker.write_by(7, &mut [0; Maker::MAX_LEN])))
}

#[test]
fn ids_are_made_without_an_allocation() {
    let paths = PATHS.map(|(name, make)| (name, Box::new(make) as Box<dyn Fn() + Send>));
    let formats = Maker::names().filter_map(|name| Some((name, Box::new(maker(name)?) as Box<dyn Fn() + Send>)));
    let threads: Vec<_> = paths
        .into_iter()
        .chain(formats)
        .map(|(name, make)| {
            let bytes = std::thread::spawn(move || {
                make();
                let before = ALLOCATED_BYTES.get();
                (0..10_000).for_each(|_| make());
                // Long enough for fresh randomness to be due.
                std::thread::sleep(Duration::from_millis(1100));
                (0..10_000).for_each(|_| make());
                ALLOCATED_BYTES.get() - before
            });
            (name, bytes)
        })
        .collect();
    assert!(threads.len() >= PATHS.len() + 10, "formats that need nothing are made by name");
    for (name, bytes) in threads {
        assert_eq!(bytes.join().unwrap(), 0, "bytes allocated by {name}");
    }
}

#[test]
fn an_allocation_is_counted() {
    let before = ALLOCATED_BYTES.get();
    black_box(Box::new(7_u64));
    assert_eq!(ALLOCATED_BYTES.get() - before, 8);
}
