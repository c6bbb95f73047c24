//! Notifies systemd about a service with `Type=notify`.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

pub struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
}

impl Notify {
    pub fn from_environment() -> Self {
        let socket = env::var("NOTIFY_SOCKET").ok().and_then(|name| {
            let address = match name.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name),
                None => SocketAddr::from_pathname(name),
            };
            Some((UnixDatagram::unbound().ok()?, address.ok()?))
        });
        Self { socket }
    }

    pub fn ready(&self) {
        self.send("READY=1");
    }

    pub fn stopping(&self) {
        self.send("STOPPING=1");
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
