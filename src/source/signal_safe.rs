//! State that a thread keeps between ids, safe from signals.
//!
//! A handler that makes ids while the thread makes one counts as another thread: it starts from the first state, which is
//! dropped at its end.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering, compiler_fence};

pub(crate) struct SignalSafe<T> {
    is_in_use: Cell<bool>,
    /// Only touched by the step that marked it as in use.
    state: UnsafeCell<T>,
}

impl<T: Copy> SignalSafe<T> {
    pub(crate) const fn new(first: T) -> Self {
        Self { is_in_use: Cell::new(false), state: UnsafeCell::new(first) }
    }

    /// Takes one `step` from the thread's state, or from `first` if a signal has interrupted another step.
    pub(crate) fn step<R>(&self, first: T, step: impl FnOnce(&mut T) -> R) -> R {
        let is_interrupted = self.is_in_use.replace(true);
        compiler_fence(Ordering::SeqCst);
        let mut of_its_own;
        let state = if is_interrupted {
            of_its_own = first;
            &mut of_its_own
        } else {
            // SAFETY: the mark was not set, so this step alone uses the state.
            unsafe { &mut *self.state.get() }
        };
        let result = step(state);
        if !is_interrupted {
            compiler_fence(Ordering::SeqCst);
            self.is_in_use.set(false);
        }
        result
    }
}

/// Takes one step from the state that each thread keeps here, which begins as the first one.
macro_rules! step_of_a_thread {
    ($state:ty, $first:expr, $step:expr) => {{
        thread_local! {
            static KEPT: SignalSafe<$state> = const { SignalSafe::new($first) };
        }
        KEPT.with(|kept| kept.step($first, $step))
    }};
}
pub(crate) use step_of_a_thread;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_interrupts_a_step_begins_anew_and_leaves_nothing() {
        let state = SignalSafe::new(10);
        let next = |number: &mut u32| {
            *number += 1;
            *number
        };
        assert_eq!((state.step(0, next), state.step(0, next)), (11, 12));
        let nested = state.step(0, |number| (next(number), state.step(0, next), state.step(0, next)));
        assert_eq!(nested, (13, 1, 1));
        assert_eq!(state.step(0, next), 14);
    }
}
