//! Calls a store, and survives it: the only place where a panic of a client is caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

use txid_agent_machines::store::{Expected, Numbered, Put, Record, StoreError, StoreTime, Taken};

use super::address::Address;
use super::contract::{Numbers, Room, Show, Store, Tags};
use super::durability::Durability;

/// A store whose clients may panic on what a server sends.
pub(super) struct Caught<S: ?Sized> {
    address: Address,
    open: Open<S>,
    store: Box<S>,
}

type Open<S> = Box<dyn Fn() -> Box<S> + Send>;

impl<S: ?Sized> Caught<S> {
    /// The store that `open` opens. It is opened again after a panic, because nobody knows what state it is in.
    pub(super) fn new(address: Address, open: impl Fn() -> Box<S> + Send + 'static) -> Self {
        Self { address, store: open(), open: Box::new(open) }
    }

    fn call<T>(&mut self, work: impl FnOnce(&mut S) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let store = &mut *self.store;
        catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<String>().map(String::as_str);
            let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
            let error = self.address.damaged(format_args!("its client could not read an answer: {why}"));
            self.store = (self.open)();
            Err(error)
        })
    }
}

impl<S: Store + ?Sized> Store for Caught<S> {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        self.call(|store| store.read(key))
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        // After a panic, nobody knows how far the write came.
        let mut has_ended = false;
        let put = self.call(|store| {
            let put = store.put(key, expected, bytes);
            has_ended = true;
            put
        });
        match put {
            Err(error) if !has_ended => Ok(Put::Unknown(error)),
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

impl<S: Numbers + ?Sized> Numbers for Caught<S> {
    fn number(&mut self, group: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        self.call(|store| store.number(group, owner, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
