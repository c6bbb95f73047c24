//! No id allocates, except a thread's first.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;
use txid::trace::{self, SkyWalking, Sofa, Traceparent};
use txid::{Flake, Txid, UniqueId, uuid};

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

/// Every way to make an id.
const PATHS: [(&str, fn()); 20] = [
    ("Txid::at", || _ = black_box(Txid::at(7).to_text())),
    ("Txid::now", || _ = black_box(Txid::now().to_text())),
    ("Txid::now_by", || _ = black_box(Txid::now_by(7).to_text())),
    ("Txid::strong_at", || _ = black_box(Txid::strong_at(7))),
    ("uuid::v4", || _ = black_box(uuid::v4().hyphenated().encode_lower(&mut [0; 36]))),
    ("uuid::v7", || _ = black_box(uuid::v7())),
    ("uuid::v7_at", || _ = black_box(uuid::v7_at(7))),
    ("uuid::v1", || _ = black_box(uuid::v1(None))),
    ("trace::id", || _ = black_box(trace::id().to_text())),
    ("trace::host_id", || _ = black_box(trace::host_id(7).to_text())),
    ("trace::otel_trace_id", || _ = black_box(trace::otel_trace_id().to_text())),
    ("trace::span_id", || _ = black_box(trace::span_id().to_text())),
    ("Sofa", || _ = black_box(Sofa::new([10, 0, 0, 7].into()).write(&mut [0; Sofa::MAX_LEN]))),
    ("SkyWalking", || _ = black_box(SkyWalking::new().write(&mut [0; SkyWalking::MAX_LEN]))),
    ("Traceparent", || _ = black_box(Traceparent::new(true).child().to_text())),
    ("Flake::now", || _ = black_box(Flake::now(None).to_text())),
    ("Flake::at", || _ = black_box(Flake::at(7, None).to_text())),
    ("UniqueId::long", || _ = black_box(UniqueId::long().write(&mut [0; UniqueId::LONG_LEN]))),
    ("UniqueId::short", || {
        _ = black_box(UniqueId::short([10, 0, 0, 7].into()).write(&mut [0; UniqueId::LONG_LEN]));
    }),
    // The host's address is looked up once.
    ("host_ipv4", || _ = black_box(txid::host_ipv4())),
];

#[test]
fn ids_are_made_without_an_allocation() {
    let threads = PATHS.map(|(name, make)| {
        let bytes = std::thread::spawn(move || {
            make();
            let before = ALLOCATED_BYTES.get();
            (0..10_000).for_each(|_| make());
            // Also with a stream that is due for fresh randomness.
            std::thread::sleep(Duration::from_millis(1100));
            (0..10_000).for_each(|_| make());
            ALLOCATED_BYTES.get() - before
        });
        (name, bytes)
    });
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
