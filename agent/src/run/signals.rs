//! Turns signals into events of the main thread.

use super::event::Event;
use anyhow::Context;
use libc::SIGXFSZ;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::{mem, ptr, thread};

/// Whether a file that is too long ends the child, as it does unless this was ignored when the agent was started.
static ENDS_CHILD: AtomicBool = AtomicBool::new(false);

/// Undoes what was blocked when the agent was started, and that the ends of children were ignored: no signal would end
/// it, and the end of its child would not be seen. A log that may not grow any further ends nobody. What is watched for waits
/// until somebody does: process 1 of a container would not get it otherwise. To be called before there are threads.
pub fn take_over() {
    ENDS_CHILD.store(!is_ignored(SIGXFSZ), Ordering::Relaxed);
    // SAFETY: there is no handler that could be in use.
    unsafe { libc::signal(SIGXFSZ, libc::SIG_IGN) };
    block_only(&[libc::SIGTTOU, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD, SIGTSTP]);
    // SAFETY: there is no handler that could be in use.
    unsafe { libc::signal(SIGCHLD, libc::SIG_DFL) };
}

/// Signals are watched for. A line of the log would stop an agent in the background of a terminal with `stty tostop`.
pub fn let_come() {
    block_only(&[libc::SIGTTOU]);
}

/// The signals that the child is to have again as they were.
pub fn to_restore() -> Option<i32> {
    ENDS_CHILD.load(Ordering::Relaxed).then_some(SIGXFSZ)
}

/// Undoes that a signal is ignored. To be called before there are threads.
pub fn restore(signal: i32) {
    // SAFETY: there is no handler that could be in use.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Blocks these signals, and no others, in this thread and those that it starts.
pub fn block_only(signals: &[i32]) {
    // SAFETY: a set of signals may be zeros, and is emptied before it is used.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&mut set);
        for &signal in signals {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, ptr::null_mut());
    }
}

/// Whether the agent was started with this signal ignored, as SIGHUP with `nohup`; the child then ignores it, too.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: an action may be zeros, and this only reads the one that there is.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Watches for the signals that end an agent; if it has a child, also for those that are passed on to it, and for its
/// end; if that has a guard, for a stop by the terminal.
pub fn watch(events: Sender<Event>, has_child: bool, has_guard: bool) -> anyhow::Result<()> {
    let mut wanted = vec![SIGTERM, SIGINT, SIGQUIT, SIGHUP];
    if has_child {
        wanted.extend([SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD]);
    }
    if has_guard {
        wanted.push(SIGTSTP);
    }
    wanted.retain(|&signal| ![SIGHUP, SIGTSTP].contains(&signal) || !is_ignored(signal));
    let mut signals = Signals::new(wanted).context("cannot watch for signals")?;
    thread::Builder::new().name("txid-signals".into()).stack_size(64 << 10).spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    let_come();
    Ok(())
}
