//! How a user shows that it knows its password.

use ring::digest::{self, Algorithm, Digest, SHA1_FOR_LEGACY_USE_ONLY as SHA1, SHA256};

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Digest {
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish()
}

/// The proof of the method `mysql_native_password`.
pub(super) fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = hash(&SHA1, &[password]);
    let twice = hash(&SHA1, &[once.as_ref()]);
    proof(password, once, hash(&SHA1, &[scramble, twice.as_ref()]))
}

/// The proof of the method `caching_sha2_password`.
pub(super) fn caching_sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = hash(&SHA256, &[password]);
    let twice = hash(&SHA256, &[once.as_ref()]);
    proof(password, once, hash(&SHA256, &[twice.as_ref(), scramble]))
}

/// A user without a password proves nothing.
fn proof(password: &[u8], hashed: Digest, mask: Digest) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    hashed.as_ref().iter().zip(mask.as_ref()).map(|(byte, mask)| byte ^ mask).collect()
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
