//! Words of loom, which tries every order in which threads can access them.

use crate::shared::word::Word;
use loom::model::Builder;
use loom::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

pub type LoomWord = AtomicU64;

/// One model at a time: loom maps stacks so often that models in several threads wait for each other in the kernel, and
/// take twice as long.
pub fn explore(model: Builder, run: impl Fn() + Send + Sync + 'static) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    model.check(run);
}

impl Word for LoomWord {
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn put(&self, old: u64, new: u64) -> Result<(), u64> {
        // Loom never makes a weak swap fail spuriously, so a strong one tests the same.
        self.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).map(drop)
    }

    fn get_acquire(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    fn set_release(&self, new: u64) {
        self.store(new, Ordering::Release);
    }

    fn raise(&self, bits: u64) -> u64 {
        self.fetch_or(bits, Ordering::AcqRel)
    }

    fn replace(&self, old: u64, new: u64) -> bool {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
