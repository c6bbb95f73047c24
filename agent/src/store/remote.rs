//! Runs the two clients that need an asynchronous runtime: one thread, which also answers the server's keep-alives
//! between two calls.

use std::error::Error;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use txid_agent_machines::store::StoreError;

use super::address::Address;

pub(super) struct Remote {
    runtime: Runtime,
    timeout: Duration,
}

impl Remote {
    pub(super) fn new(address: &Address) -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("txid-store")
            .thread_stack_size(512 << 10)
            .enable_all()
            .build()
            .map_err(|error| address.unreachable(format_args!("cannot start a thread for it: {error}")))?;
        Ok(Self { runtime, timeout: address.timeout })
    }

    /// Waits for an answer, at most as long as the store's time-out.
    pub(super) fn run<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async { tokio::time::timeout(self.timeout, answer).await.ok() })
    }
}

/// An error with all its causes.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}
