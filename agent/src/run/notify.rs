//! Notifies systemd about a service with `Type=notify`, and tells it that the agent works if it has a `WatchdogSec`.

use super::event::Event;
use crate::config::Config;
use anyhow::{Context, ensure};
use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

pub struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// How long systemd waits for a word of the agent before it kills it.
    watchdog: Option<Duration>,
}

impl Notify {
    pub fn from_environment() -> Self {
        let socket = env::var("NOTIFY_SOCKET").ok().and_then(|name| socket(&name));
        let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        Self { socket, watchdog: watchdog(number("WATCHDOG_USEC"), number("WATCHDOG_PID")) }
    }

    /// If the agent and its guard are stopped, systemd is to end the child before a lease ends.
    pub fn check(&self, config: &Config) -> anyhow::Result<()> {
        let most = config.lease_time.saturating_sub(2 * config.margin + config.child_runs_ahead);
        if let Some(watchdog) = self.watchdog.filter(|_| !config.env.is_empty()) {
            ensure!(
                watchdog < most,
                "WatchdogSec={} is too long: it must be less than {most:?}, --lease-time less two of --margin and --child-runs-ahead",
                watchdog.as_secs_f64()
            );
        }
        Ok(())
    }

    /// Sends an event whenever it is time for [`Notify::alive`].
    pub fn beat(&self, events: Sender<Event>) -> anyhow::Result<()> {
        if let Some(watchdog) = self.watchdog {
            let beat = move || {
                while events.send(Event::Beat).is_ok() {
                    thread::sleep(pause(watchdog));
                }
            };
            let thread = thread::Builder::new().name("txid-watchdog".into()).stack_size(64 << 10);
            thread.spawn(beat).context("cannot start a thread")?;
        }
        Ok(())
    }

    pub fn ready(&self) {
        self.send("READY=1");
    }

    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// The agent works. If this is not said in time, systemd kills it.
    pub fn alive(&self) {
        self.send("WATCHDOG=1");
    }

    /// One line, shown by `systemctl status`.
    pub fn status(&self, text: &str) {
        self.send(&format!("STATUS={text}"));
    }

    fn send(&self, text: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }
}

/// A socket that sends to this address.
fn socket(name: &str) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    // A message that nobody reads is dropped: the thread that sends it also sees that the child ends in time.
    socket.set_nonblocking(true).ok()?;
    Some((socket, address.ok()?))
}

/// systemd advises half of the time, and one word may be late.
fn pause(watchdog: Duration) -> Duration {
    watchdog / 3
}

fn watchdog(us: Option<u64>, pid: Option<u64>) -> Option<Duration> {
    // Inherited variables may be for another process.
    let is_ours = pid.is_none_or(|pid| pid == u64::from(std::process::id()));
    us.filter(|&us| us > 0 && is_ours).map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::config;
    use std::path::Path;
    use std::sync::mpsc::channel;

    #[test]
    fn the_agent_says_that_it_works_three_times_as_often_as_it_must() {
        assert_eq!(pause(Duration::from_secs(30)), Duration::from_secs(10));
        let (sender, events) = channel();
        Notify { socket: None, watchdog: Some(Duration::from_millis(3)) }.beat(sender).unwrap();
        for _ in 0..10 {
            assert!(matches!(events.recv(), Ok(Event::Beat)));
        }
    }

    /// As a supervisor that hangs. Otherwise, no signal would be seen, and no child would be ended.
    #[test]
    fn nobody_waits_for_a_listener_that_does_not_listen() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let listener = UnixDatagram::bind(&path).unwrap();
        let notify = Notify { socket: socket(path.to_str().unwrap()), watchdog: None };
        let (sender, sent) = channel();
        thread::spawn(move || {
            (0..10_000).for_each(|number| notify.status(&number.to_string()));
            sender.send(())
        });
        sent.recv_timeout(Duration::from_secs(60)).expect("it waits for a reader");
        let mut first = [0; 64];
        let read = listener.recv(&mut first).unwrap();
        assert_eq!(&first[..read], b"STATUS=0", "what has room arrives");
    }

    #[test]
    fn systemd_is_told_in_its_words() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let name = format!("txid-test-{}", std::process::id());
        let with_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        for (listener, at) in
            [(UnixDatagram::bind(&path).unwrap(), path.to_str().unwrap().to_owned()), (with_name, format!("@{name}"))]
        {
            // What was sent is there at once.
            listener.set_nonblocking(true).unwrap();
            let notify = Notify { socket: socket(&at), watchdog: None };
            let told = |tell: &dyn Fn()| {
                tell();
                let mut word = [0; 64];
                let read = listener.recv(&mut word).unwrap();
                String::from_utf8_lossy(&word[..read]).into_owned()
            };
            assert_eq!(told(&|| notify.ready()), "READY=1");
            assert_eq!(told(&|| notify.stopping()), "STOPPING=1");
            assert_eq!(told(&|| notify.alive()), "WATCHDOG=1");
            assert_eq!(told(&|| notify.status("orders: held")), "STATUS=orders: held");
        }
        Notify { socket: None, watchdog: None }.ready();
    }

    #[test]
    fn a_watchdog_is_for_the_process_that_it_names() {
        let (own, second) = (u64::from(std::process::id()), Some(Duration::from_secs(1)));
        for (us, pid, wanted) in [
            (Some(1_000_000), Some(own), second),
            (Some(1_000_000), None, second),
            (Some(1_000_000), Some(own + 1), None),
            (Some(0), Some(own), None),
            (None, Some(own), None),
        ] {
            assert_eq!(watchdog(us, pid), wanted, "WATCHDOG_USEC={us:?} WATCHDOG_PID={pid:?}");
        }
    }

    #[test]
    fn a_watchdog_ends_the_child_before_its_lease_does() {
        let child = ["--child-runs-ahead", "2s", "--env", "W={orders}", "--", "true"];
        let check = |seconds, options: &[&str]| {
            let watchdog = Some(Duration::from_secs(seconds));
            Notify { socket: None, watchdog }.check(&config(options).unwrap())
        };
        // A minute, less twice five seconds and two.
        assert!(check(47, &child).is_ok());
        let why = check(48, &child).unwrap_err().to_string();
        let most = "it must be less than 48s, --lease-time less two of --margin and --child-runs-ahead";
        assert_eq!(why, format!("WatchdogSec=48 is too long: {most}"));
        assert!(check(1000, &[]).is_ok(), "there is no such child");
    }

    /// Where the agent and its guard are stopped, nothing else ends the child.
    #[test]
    fn the_units_have_a_watchdog_that_is_shorter_than_a_lease() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for unit in ["packaging/agent/txid-agent.service", "examples/agent/app.service"] {
            let text = std::fs::read_to_string(root.join(unit)).unwrap();
            let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            assert_eq!(value("Type"), Some("notify"), "{unit}");
            let watchdog_s: u64 = value("WatchdogSec").unwrap_or_else(|| panic!("{unit} has none")).parse().unwrap();
            // The default of --lease-time is a minute, and that of --margin five seconds.
            assert!((15..50).contains(&watchdog_s), "{unit}");
        }
    }
}
