//! Holds up the cancellation of a thread. A thread that another one cancels (`pthread_cancel`) ends in the next function
//! of the C library that may wait, such as a read of a file, and never gives back what Rust code had open there.

#[cfg(target_os = "linux")]
mod state {
    use std::ffi::c_int;

    const DISABLED: c_int = 1;

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }

    pub(super) struct State(c_int);

    impl State {
        pub(super) fn disable() -> Self {
            let mut before = 0;
            // SAFETY: `before` is our own.
            unsafe { pthread_setcancelstate(DISABLED, &raw mut before) };
            Self(before)
        }
    }

    impl Drop for State {
        fn drop(&mut self) {
            let mut disabled = 0;
            // SAFETY: the state is the thread's earlier one.
            unsafe { pthread_setcancelstate(self.0, &raw mut disabled) };
        }
    }
}

/// The result of `work`, which is not cancelled. A cancellation that arrives meanwhile has its effect later.
pub(crate) fn held_up<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    let _state = state::State::disable();
    work()
}
