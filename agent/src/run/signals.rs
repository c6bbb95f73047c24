//! Turns signals into events of the main thread.

use super::event::Event;
use anyhow::Context;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;
use std::sync::mpsc::Sender;
use std::thread;

/// Watches for the signals that end an agent; if it has a child, also for those that are passed on to it, and for its
/// end.
pub fn watch(events: Sender<Event>, has_child: bool) -> anyhow::Result<()> {
    let mut wanted = vec![SIGTERM, SIGINT, SIGQUIT, SIGHUP];
    if has_child {
        wanted.extend([SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD]);
    }
    let mut signals = Signals::new(wanted).context("cannot watch for signals")?;
    thread::Builder::new().name("txid-signals".into()).stack_size(64 << 10).spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}
