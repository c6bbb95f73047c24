//! Certificates for stores reached over TLS: one provider (ring), and the same three files for all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use txid_agent_machines::store::StoreError;

use super::address::Address;

/// Why there is no connection to a server that wants more than a proof that this client knows the password.
pub(super) const IN_CLEAR: &str = "it asks for the whole password, which only goes over TLS: add ?tls=1 to the URL, or ?ca=FILE if \
                                   the system does not trust who signed its certificate";

/// The files. They are read for each connection, so that certificates can be renewed.
#[derive(Clone)]
pub(super) struct Tls {
    /// PEM: the authorities that may sign for the server.
    pub ca: PathBuf,
    /// PEM: this host's certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Checks that the files can be read. Without `ca`, the system's authorities are trusted.
    pub(super) fn new(
        address: &Address,
        ca: Option<PathBuf>,
        identity: Option<(PathBuf, PathBuf)>,
    ) -> Result<Self, StoreError> {
        let ca = ca.or_else(|| openssl_probe::probe().cert_file).ok_or_else(|| {
            address.misconfigured("this system has no list of certificates that it trusts: give ca=FILE")
        })?;
        let tls = Self { ca, identity };
        tls.config(address)?;
        // Clients without a setting for the provider use the process's.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(tls)
    }

    /// The configuration for a client that uses rustls itself.
    pub(super) fn config(&self, address: &Address) -> Result<ClientConfig, StoreError> {
        let bad = |name: &str, file: &Path, why: String| {
            address.misconfigured(format_args!("{name}={}: {why}", file.display()))
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(&self.ca).map_err(|why| bad("ca", &self.ca, why))?);
        if roots.is_empty() {
            return Err(bad("ca", &self.ca, "it contains no certificate".to_owned()));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| address.misconfigured(error))?
            .with_root_certificates(roots);
        match &self.identity {
            None => Ok(builder.with_no_client_auth()),
            Some((cert, key)) => {
                let chain = certificates(cert).map_err(|why| bad("cert", cert, why))?;
                let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| bad("key", key, error.to_string()))?;
                builder.with_client_auth_cert(chain, secret).map_err(|error| bad("cert", cert, error.to_string()))
            }
        }
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_file_iter(file).and_then(Iterator::collect).map_err(|error| error.to_string())
}
