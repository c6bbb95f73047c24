//! Certificates for a test: an authority, a server's, a client's, and an authority that signed none of these.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

/// Writes `ca.pem`, `other-ca.pem`, and a certificate and a key for `server`, `expired` (a server's) and `client`. Returns
/// the authority.
pub fn write(directory: &Path) -> Issuer<'static, KeyPair> {
    let ca = authority(directory, "ca");
    authority(directory, "other-ca");
    let year = |year| rcgen::date_time_ymd(year, 1, 1).into();
    leaf(directory, "server", &ca, ExtendedKeyUsagePurpose::ServerAuth, year(4096));
    leaf(directory, "expired", &ca, ExtendedKeyUsagePurpose::ServerAuth, year(2021));
    leaf(directory, "client", &ca, ExtendedKeyUsagePurpose::ClientAuth, year(4096));
    ca
}

fn authority(directory: &Path, name: &str) -> Issuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    fs::write(directory.join(format!("{name}.pem")), params.self_signed(&key).unwrap().pem()).unwrap();
    Issuer::new(params, key)
}

pub fn leaf(
    directory: &Path,
    name: &str,
    ca: &Issuer<'_, KeyPair>,
    purpose: ExtendedKeyUsagePurpose,
    until: SystemTime,
) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, "txid");
    params.extended_key_usages.push(purpose);
    // etcd's gateway is a client of its own server.
    params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
    params.not_after = until.into();
    let key = KeyPair::generate().unwrap();
    fs::write(directory.join(format!("{name}.pem")), params.signed_by(&key, ca).unwrap().pem()).unwrap();
    let file = directory.join(format!("{name}.key"));
    fs::write(&file, key.serialize_pem()).unwrap();
    // A server may run as another user.
    if name == "client" {
        fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    }
}
