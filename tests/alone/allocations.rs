//! No id allocates, except a thread's first.

use crate::clock;
use crate::made::{makers, makers_that_stamp};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use test_helpers::one_by_one::{self, Test};
use txid::trace::Traceparent;
use txid::{Maker, Txid};

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

/// Makers of no format.
const OTHERS: [(&str, fn()); 3] = [
    ("Txid::now", || _ = black_box(Txid::now().to_text())),
    ("a child of a traceparent", || _ = black_box(Traceparent::new(true).child().to_text())),
    // The host's address is looked up once.
    ("host_ipv4", || _ = black_box(txid::system::host_ipv4())),
];

type Make = Box<dyn Fn() + Send>;

fn by(maker: Maker) -> Make {
    Box::new(move || _ = black_box(maker.write_by(7, &mut [0; Maker::MAX_LEN])))
}

fn at(maker: Maker) -> Make {
    Box::new(move || _ = black_box(maker.write_wrapping_at(7, &mut [0; Maker::MAX_LEN])))
}

fn ids_are_made_without_an_allocation() {
    let others = OTHERS.map(|(name, make)| (name, Box::new(make) as Make));
    let formats = makers().map(|(format, maker)| (format.name, by(maker)));
    let stamped = makers_that_stamp().map(|(format, maker)| (format.name, at(maker)));
    let threads: Vec<_> = others
        .into_iter()
        .chain(formats)
        .chain(stamped)
        .map(|(name, make)| {
            let bytes = std::thread::spawn(move || {
                make();
                let before = ALLOCATED_BYTES.get();
                (0..10_000).for_each(|_| make());
                // Long enough for fresh randomness to be due.
                clock::pass(2);
                (0..10_000).for_each(|_| make());
                ALLOCATED_BYTES.get() - before
            });
            (name, bytes)
        })
        .collect();
    assert!(threads.len() > 20);
    for (name, bytes) in threads {
        assert_eq!(bytes.join().unwrap(), 0, "bytes allocated by {name}");
    }
}

fn an_allocation_is_counted() {
    let before = ALLOCATED_BYTES.get();
    black_box(Box::new(7_u64));
    assert_eq!(ALLOCATED_BYTES.get() - before, 8);
}

pub const TESTS: &[Test] = one_by_one::tests![ids_are_made_without_an_allocation, an_allocation_is_counted];
