//! Requests to a server that speaks JSON over HTTP: etcd's gateway and Consul.

use std::time::{Duration, Instant};

use serde::Deserialize;
use txid_agent_machines::store::StoreError;
use ureq::http::{Request, Response};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, Timeout};

use super::address::Address;
use super::clock::StoreClock;
use super::failure::Failure;
use super::limits::{LARGEST_ANSWER, too_large};
use super::remote::Errors;
use super::tls::Tls;
use super::url::{Host, StoreUrl};

/// The hosts of one store, and the connection to one of them.
pub(super) struct Http {
    address: Address,
    hosts: Vec<Host>,
    /// The host that answered last.
    current: usize,
    tls: Option<Tls>,
    agent: Option<Agent>,
    pub(super) clock: StoreClock,
    /// When the call must have ended.
    deadline: Instant,
}

/// How long a request may take.
#[derive(Clone, Copy)]
struct Patience {
    /// Until there is a connection.
    connect: Duration,
    /// In all.
    total: Duration,
}

/// An answer, whatever its status.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
}

impl Answer {
    /// The body; None if it is not JSON of this kind. Fields that nobody asks for take no memory.
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

/// Whether a request can be sent again without harm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

impl Http {
    pub(super) fn new(url: &StoreUrl) -> Self {
        Self {
            address: url.address.clone(),
            hosts: url.hosts.clone(),
            current: 0,
            tls: url.tls.clone(),
            agent: None,
            clock: StoreClock::default(),
            deadline: Instant::now(),
        }
    }

    /// Begins a call: from now on, all requests together may take the store's time-out.
    pub(super) fn begin(&mut self) {
        self.deadline = Instant::now() + self.address.timeout;
    }

    /// Sends one request to the first host that answers.
    ///
    /// As with other stores, a host may use half of the time that is left, the last one all of it. A write that may
    /// have arrived is not sent again.
    pub(super) fn send(
        &mut self,
        kind: Kind,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, Failure> {
        let mut errors = Errors::default();
        for others in (0..self.hosts.len()).rev() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let half = if others == 0 { left } else { left / 2 };
            let patience = Patience { connect: half, total: if kind == Kind::Read { half } else { left } };
            let result = self.send_to_current(patience, method, path, headers, body);
            // A server that has lost contact with the others answers with a status of 500 or more.
            if !matches!(&result, Ok(answer) if answer.status < 500) {
                self.turn_to_next();
            }
            match result {
                Err(Failure::NotDone(error)) => errors.add(error),
                Err(Failure::Unknown(error)) if kind == Kind::Read => errors.add(error),
                result => return result,
            }
        }
        Err(Failure::NotDone(errors.worst(&self.address)))
    }

    fn turn_to_next(&mut self) {
        self.agent = None;
        self.current = (self.current + 1) % self.hosts.len();
    }

    fn send_to_current(
        &mut self,
        patience: Patience,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, Failure> {
        let host = self.hosts[self.current].clone();
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut request = Request::builder().method(method).uri(format!("{scheme}://{host}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request =
            request.body(body.to_owned()).map_err(|error| Failure::NotDone(self.address.misconfigured(error)))?;
        let agent = self.agent().map_err(Failure::NotDone)?.clone();
        let request = agent
            .configure_request(request)
            .timeout_global(Some(patience.total))
            // Shorter than the total time-out, so that it is certain that nothing was sent.
            .timeout_resolve(Some(patience.connect / 3))
            .timeout_connect(Some(patience.connect * 2 / 3))
            .build();
        self.address.sent.add();
        let mut response = agent.run(request).map_err(|error| self.say(&host, &error))?;
        self.look_at_clock(&response);
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER as u64).read_to_string();
        let text = body.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => Failure::Unknown(self.address.damaged(too_large())),
            other => Failure::Unknown(self.say(&host, &other).into_error()),
        })?;
        Ok(Answer { status: response.status().as_u16(), text })
    }

    /// Reads the certificates anew for each agent, and so after each failure.
    fn agent(&mut self) -> Result<&Agent, StoreError> {
        if self.agent.is_none() {
            let mut config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_idle_age(Duration::from_secs(120))
                .max_idle_connections(1)
                .proxy(None::<Proxy>)
                .user_agent("txid-agent");
            if let Some(tls) = &self.tls {
                config = config.tls_config(self.tls_config(tls)?);
            }
            self.agent = Some(config.build().new_agent());
        }
        self.agent.as_ref().ok_or_else(|| self.address.unreachable("no agent"))
    }

    fn tls_config(&self, tls: &Tls) -> Result<TlsConfig, StoreError> {
        let bad = |error: ureq::Error| self.address.misconfigured(error);
        let chain = |pem: &[u8]| {
            ureq::tls::parse_pem(pem)
                .filter_map(|item| match item {
                    Ok(ureq::tls::PemItem::Certificate(cert)) => Some(Ok(cert)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect::<Result<Vec<Certificate<'static>>, _>>()
                .map_err(bad)
        };
        let roots = chain(&Tls::pem(&self.address, &tls.ca)?)?;
        let mut config = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots));
        if let Some((cert, key)) = &tls.identity {
            let key = PrivateKey::from_pem(&Tls::pem(&self.address, key)?).map_err(bad)?;
            let cert = chain(&Tls::pem(&self.address, cert)?)?;
            config = config.client_cert(Some(ClientCert::new_with_certs(&cert, key)));
        }
        Ok(config.build())
    }

    /// The header has whole seconds, rounded down: half a second later is right on average.
    fn look_at_clock(&mut self, response: &Response<Body>) {
        let date = response.headers().get("date").and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        if let Some(since) = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok()) {
            self.clock.saw(since.as_millis() as i64 + 500);
        }
    }

    /// What an error means, and whether the request was sent.
    fn say(&self, host: &Host, error: &ureq::Error) -> Failure {
        let address = &self.address;
        let at = |why: &dyn std::fmt::Display| address.unreachable(format_args!("{host}: {why}"));
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Failure::NotDone(address.timed_out()),
            ureq::Error::Timeout(_) => Failure::Unknown(address.timed_out()),
            ureq::Error::HostNotFound => Failure::NotDone(at(&"this name has no address")),
            ureq::Error::ConnectionFailed => Failure::NotDone(at(&"connection refused")),
            ureq::Error::Tls(why) => Failure::NotDone(address.misconfigured(why)),
            ureq::Error::Rustls(why) => Failure::NotDone(address.misconfigured(why)),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Failure::NotDone(address.misconfigured(error)),
            ureq::Error::Protocol(_) => Failure::Unknown(address.misconfigured(format_args!(
                "the server does not speak HTTP{}: {error}",
                if self.tls.is_some() { "S" } else { ", or it requires TLS" }
            ))),
            ureq::Error::Io(why) => match why.kind() {
                std::io::ErrorKind::ConnectionRefused
                | std::io::ErrorKind::HostUnreachable
                | std::io::ErrorKind::NetworkUnreachable
                | std::io::ErrorKind::AddrNotAvailable => Failure::NotDone(at(why)),
                // How rustls reports that it does not accept the other side.
                std::io::ErrorKind::InvalidData => Failure::NotDone(address.misconfigured(why)),
                _ => Failure::Unknown(at(why)),
            },
            other => Failure::Unknown(at(other)),
        }
    }
}
