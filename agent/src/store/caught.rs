//! Calls a store, and survives it: the only place where a panic of a client is caught, and where a store that fails
//! is left alone for a while.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::Instant;

use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Taken};

use super::address::Address;
use super::contract::{Room, Show, Store, Tags};
use super::durability::Durability;
use super::sent::{self, Failures};

/// A store whose clients may panic on what a server sends.
pub(super) struct Caught<S: ?Sized> {
    address: Address,
    open: Open<S>,
    store: Box<S>,
    failures: Failures,
}

type Open<S> = Box<dyn Fn() -> Box<S> + Send>;

impl<S: ?Sized> Caught<S> {
    /// The store that `open` opens. It is opened again after a panic, because nobody knows what state it is in.
    pub(super) fn new(address: Address, open: impl Fn() -> Box<S> + Send + 'static) -> Self {
        Self { address, store: open(), open: Box::new(open), failures: Failures::default() }
    }

    fn call<T>(&mut self, work: impl FnOnce(&mut S) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.call_and_judge(work, |_| None)
    }

    /// `failed` finds an error in an answer.
    fn call_and_judge<T>(
        &mut self,
        work: impl FnOnce(&mut S) -> Result<T, StoreError>,
        failed: impl FnOnce(&T) -> Option<&StoreError>,
    ) -> Result<T, StoreError> {
        sleep(self.failures.pause(Instant::now(), self.address.timeout)?);
        let before = sent::total();
        let store = &mut *self.store;
        let result = catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<String>().map(String::as_str);
            let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
            let error = self.address.damaged(format_args!("its client could not read an answer: {why}"));
            self.store = (self.open)();
            Err(error)
        });
        let error = result.as_ref().map_or_else(Some, failed);
        self.failures.note(Instant::now(), sent::total() - before, error);
        result
    }
}

impl<S: Store + ?Sized> Store for Caught<S> {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.call(|store| store.read(key))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        // After a panic, nobody knows how far the write came.
        let (mut has_begun, mut has_ended) = (false, false);
        let work = |store: &mut S| {
            has_begun = true;
            let put = store.put(key, expected, bytes);
            has_ended = true;
            put
        };
        let put = self.call_and_judge(work, |put| match put {
            Put::Unknown(error) => Some(error),
            Put::Written(_) | Put::Conflict => None,
        });
        match put {
            Err(error) if has_begun && !has_ended => Ok(Put::Unknown(error)),
            other => other,
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        self.call(|store| store.list(prefix, show))
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        self.call(|store| store.clock())
    }

    fn room(&mut self) -> Result<Option<Room>, StoreError> {
        self.call(|store| store.room())
    }

    fn durability(&self) -> &Durability {
        self.store.durability()
    }
}

impl<S: Tags + ?Sized> Tags for Caught<S> {
    fn take(&mut self, tag: &str, count: Option<u64>, seen: u64) -> Result<Taken, StoreError> {
        self.call(|store| store.take(tag, count, seen))
    }

    fn create_tag(&mut self, tag: &str, step: u64) -> Result<(), StoreError> {
        self.call(|store| store.create_tag(tag, step))
    }

    fn how_to_create(&self, tag: &str, step: u64) -> String {
        self.store.how_to_create(tag, step)
    }

    fn durability(&self) -> &Durability {
        self.store.durability()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Panics at every call but the first of each opening.
    struct Panics(Durability, bool);

    impl Store for Panics {
        fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
            assert!(!std::mem::replace(&mut self.1, true), "{key} {}", "x".repeat(100));
            Ok(None)
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            panic!("in the middle")
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            Ok(())
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            Ok(None)
        }

        fn durability(&self) -> &Durability {
            &self.0
        }
    }

    #[test]
    fn a_panic_is_an_error_and_the_store_is_opened_again() {
        let mut store = Caught::new(Address::new("here".to_owned()), || Box::new(Panics(Durability::Durable, false)));
        assert_eq!(store.read("a"), Ok(None));
        let error = store.read("b").unwrap_err();
        assert!(error.to_string().contains("could not read an answer: b xxx"), "{error}");
        assert_eq!(store.read("c"), Ok(None), "it is a new one");
        let put = store.put("d", &Expected::Absent, b"").unwrap();
        assert!(matches!(&put, Put::Unknown(error) if error.to_string().contains("in the middle")), "{put:?}");
    }

    /// Fails after so many requests.
    struct Fails(u64, Arc<AtomicU32>);

    impl Store for Fails {
        fn read(&mut self, _: &str) -> Result<Option<Record>, StoreError> {
            (0..self.0).for_each(|_| sent::add());
            self.1.fetch_add(1, Ordering::Relaxed);
            Err(StoreError::TimedOut { store: "here".to_owned(), ms: 1 })
        }

        fn put(&mut self, _: &str, _: &Expected, _: &[u8]) -> Result<Put, StoreError> {
            unreachable!("it is only read")
        }

        fn list(&mut self, _: &str, _: Show) -> Result<(), StoreError> {
            unreachable!("it is only read")
        }

        fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
            unreachable!("it is only read")
        }

        fn durability(&self) -> &Durability {
            &Durability::Durable
        }
    }

    #[test]
    fn a_store_that_fails_is_not_asked_again_at_once_if_that_sends_too_much() {
        // What this thread has sent to others does not count.
        (0..1000).for_each(|_| sent::add());
        for (sends, wanted) in [(1, 3), (20, 1)] {
            let asked = Arc::new(AtomicU32::new(0));
            let (reads, mut address) = (asked.clone(), Address::new("here".to_owned()));
            address.timeout = Duration::ZERO;
            let mut store = Caught::new(address, move || Box::new(Fails(sends, reads.clone())));
            (0..3).for_each(|_| assert!(store.read("a").is_err()));
            assert_eq!(asked.load(Ordering::Relaxed), wanted, "{sends} requests a call");
        }
    }
}
