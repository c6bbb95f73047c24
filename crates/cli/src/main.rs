//! The `txid` command.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Rust opens /dev/null in place of a closed standard output before `main`, and what is written to it is lost. So this
/// looks before that.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the loader calls the functions of this section with the C library ready. This one makes a system call.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: it only asks.
        let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0;
        OUTPUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
    look
};

fn main() -> ExitCode {
    txid_cli::run(OUTPUT_WAS_CLOSED.load(Ordering::Relaxed))
}
