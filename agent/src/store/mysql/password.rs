//! How a user shows that it knows its password.

use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY as SHA1, SHA256, digest};

/// The proof of the method `mysql_native_password`.
pub(super) fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    proof(&SHA1, password, |twice| [scramble, twice].concat())
}

/// The proof of the method `caching_sha2_password`.
pub(super) fn caching_sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    proof(&SHA256, password, |twice| [twice, scramble].concat())
}

/// `mask` makes a mask from the password that was hashed twice. A user without a password proves nothing.
fn proof(algorithm: &'static Algorithm, password: &[u8], mask: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = digest(algorithm, password);
    let mask = digest(algorithm, &mask(digest(algorithm, once.as_ref()).as_ref()));
    once.as_ref().iter().zip(mask.as_ref()).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: &[u8] = b"the-password";
    const SCRAMBLE: &[u8] = b"abcdefghijklmnopqrst";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Computed with Python's hashlib.
    #[test]
    fn known_proofs() {
        assert_eq!(hex(&native(PASSWORD, SCRAMBLE)), "1ae0119bb9ab1302e9e0de8c170a84de527598c9");
        let proof = "81aaf110c14467cec37c187ee25fc5386d89bc3b21bed3a88b158ee600846eaf";
        assert_eq!(hex(&caching_sha2(PASSWORD, SCRAMBLE)), proof);
        assert_eq!(native(b"", SCRAMBLE), b"");
        assert_eq!(caching_sha2(b"", SCRAMBLE), b"");
    }
}
