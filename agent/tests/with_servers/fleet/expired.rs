//! A certificate of a store that expires while an agent is connected.

use std::process::Command;
use std::time::{Duration, SystemTime};

use rcgen::ExtendedKeyUsagePurpose::ServerAuth;

use super::TWO_NODES;
use super::host::Host;
use crate::proxy::Mode;
use crate::servers::{self, Server, until};
use crate::stores::certificates;

/// The connection goes on. The next one is refused, which the log says, and the lease goes on once there is a new certificate.
#[test]
fn a_lease_outlives_the_certificate_of_its_connection() {
    let directory = tempfile::tempdir().unwrap();
    let ca = certificates::write(directory.path());
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let plain = servers::free_port().to_string();
    let start = |valid: Duration| -> (SystemTime, Server, Host) {
        let ends = SystemTime::now() + valid;
        certificates::leaf(directory.path(), "short", &ca, ServerAuth, ends);
        let server = servers::redis(&[
            "--tls-port",
            &format!("PORT --port {plain} --tls-auth-clients no"),
            &format!("--tls-ca-cert-file {}", file("ca.pem")),
            &format!("--tls-cert-file {} --tls-key-file {}", file("short.pem"), file("short.key")),
        ]);
        let url = |port| format!("rediss://127.0.0.1:{port}?timeout=60s&ca={}", file("ca.pem"));
        let mut host = Host::new("first", server.port, url, TWO_NODES);
        host.start_agent(&["--assume-unused-store", "--lease-time", "6s"]);
        (ends, server, host)
    };
    // A busy machine may take longer than a certificate is valid.
    let (ends, _server, host) = [5, 60, 600]
        .into_iter()
        .find_map(|seconds| {
            let (ends, server, host) = start(Duration::from_secs(seconds));
            until("it neither connects nor says why", || host.is_live() || host.log().contains("certificate expired"));
            host.is_live().then_some((ends, server, host))
        })
        .expect("no certificate lasts until there is a lease");
    until("the certificate does not expire", || SystemTime::now() > ends + Duration::from_secs(1));
    let renewals = host.view().renewals;
    until("it is not renewed", || host.view().renewals > renewals + 1);
    assert!(!host.log().contains("certificate"), "{}", host.log());

    host.proxy.set(Mode::Refuse);
    host.says("cannot reach");
    host.proxy.set(Mode::Pass);
    host.says("certificate expired");
    let set = ["tls-cert-file", &file("server.pem"), "tls-key-file", &file("server.key")];
    servers::run(Command::new("redis-cli").args(["-p", &plain, "CONFIG", "SET"]).args(set));
    host.says("the store answers again");
    until("it does not go on", || host.is_live());
    assert_eq!(host.log().matches("took node").count(), 1, "{}", host.log());
}
