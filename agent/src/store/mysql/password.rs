//! How a user shows that it knows its password.

use der::asn1::{AnyRef, BitStringRef, UintRef};
use der::{Decode, Reader, SliceReader};
use num_bigint::BigUint;
use ring::digest::{self, Algorithm, Digest, SHA1_FOR_LEGACY_USE_ONLY as SHA1, SHA256};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

/// The size of a key in bytes. With a longer one, a server could keep this client busy.
const KEY_SIZES: std::ops::RangeInclusive<usize> = 128..=1024;

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Digest {
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish()
}

fn xor<'a>(bytes: &mut [u8], mask: impl IntoIterator<Item = &'a u8>) {
    for (byte, mask) in bytes.iter_mut().zip(mask) {
        *byte ^= mask;
    }
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
    let mut proof = hashed.as_ref().to_vec();
    xor(&mut proof, mask.as_ref());
    proof
}

/// Encrypts the password with a server's key, a text in PEM. None if the key is none, or too small for the password.
pub(super) fn encrypted(password: &[u8], scramble: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let key = Key::read(key)?;
    let mut password = [password, &[0]].concat();
    xor(&mut password, scramble.iter().cycle());
    let mut seed = [0; 20];
    getrandom::fill(&mut seed).ok()?;
    key.encrypt(&pad(&password, seed, key.size)?)
}

struct Key {
    modulus: BigUint,
    exponent: BigUint,
    size: usize,
}

impl Key {
    fn read(pem: &[u8]) -> Option<Self> {
        let info = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
        let key = sequence(&info, |info| {
            // The algorithm.
            AnyRef::decode(info)?;
            BitStringRef::decode(info)
        })?;
        let (modulus, exponent) = sequence(key.as_bytes()?, |key| Ok((UintRef::decode(key)?, UintRef::decode(key)?)))?;
        let size = modulus.as_bytes().len();
        let is_usable = KEY_SIZES.contains(&size) && exponent.as_bytes().len() <= 8;
        is_usable.then(|| Self {
            modulus: BigUint::from_bytes_be(modulus.as_bytes()),
            exponent: BigUint::from_bytes_be(exponent.as_bytes()),
            size,
        })
    }

    fn encrypt(&self, padded: &[u8]) -> Option<Vec<u8>> {
        let bytes = BigUint::from_bytes_be(padded).modpow(&self.exponent, &self.modulus).to_bytes_be();
        let zeros = self.size.checked_sub(bytes.len())?;
        Some([vec![0; zeros], bytes].concat())
    }
}

fn sequence<'a, T>(
    der: &'a [u8],
    read: impl FnOnce(&mut der::NestedReader<'_, SliceReader<'a>>) -> der::Result<T>,
) -> Option<T> {
    SliceReader::new(der).ok()?.sequence(read).ok()
}

/// OAEP of RFC 8017 with SHA-1, which MySQL wants.
fn pad(message: &[u8], mut seed: [u8; 20], size: usize) -> Option<Vec<u8>> {
    let zeros = size.checked_sub(message.len() + 2 * seed.len() + 2)?;
    let mut block = [hash(&SHA1, &[]).as_ref(), &vec![0; zeros], &[1], message].concat();
    xor(&mut block, &mask(&seed, size));
    xor(&mut seed, &mask(&block, 20));
    Some([&[0], &seed[..], &block].concat())
}

/// MGF1 of RFC 8017, and a little more than `length` bytes of it.
fn mask(seed: &[u8], length: usize) -> Vec<u8> {
    let parts = 0..length.div_ceil(20) as u32;
    parts.flat_map(|part| hash(&SHA1, &[seed, &part.to_be_bytes()]).as_ref().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PASSWORD: &[u8] = b"the-password";
    const SCRAMBLE: &[u8] = b"abcdefghijklmnopqrst";

    /// `openssl genrsa 1024 | openssl rsa -pubout`
    const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCg78qUlVu3A9PVpmvDAhI3u15p
dXg39rND0PA4/Bg84nW/49dZ8uWnlfpKFmijlszHpz0o7fmyH5tbi1+puZgHillS
Up78O3Z5P/fpDcrQyAUzaAJt9BuvZKLEJc79HoBRi4KX957+gDpRrn7riqvtwtab
BIVMdyW7UOK9Y/bPHQIDAQAB
-----END PUBLIC KEY-----
";

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

    /// Computed in Python; `openssl pkeyutl -decrypt -pkeyopt rsa_padding_mode:oaep` gives the message back.
    #[test]
    fn a_known_encryption() {
        let mut message = [PASSWORD, &[0]].concat();
        xor(&mut message, SCRAMBLE);
        let seed = std::array::from_fn(|at| at as u8);
        let bytes = Key::read(KEY.as_bytes()).unwrap().encrypt(&pad(&message, seed, 128).unwrap()).unwrap();
        let known = "9e1f773a7a8afb390d1cec1659a7c7e7d0e951014c97355f6c8346201fee79b80ce2b3605cd0bc617266ebaf0a5f89d7\
                     ef1cdebad86d41681e266a5458aa26439c7059886d091a6fa209435143446cf3ffb5115c830afaafe6f636d31c25dec7\
                     21af19aa1cfa96d4e4e73ccad008d0b839c5b2ec04804916c02557ea6c5d5280";
        assert_eq!(hex(&bytes), known);
    }

    #[test]
    fn each_encryption_is_another() {
        let bytes = || encrypted(PASSWORD, SCRAMBLE, KEY.as_bytes()).unwrap();
        assert_ne!(bytes(), bytes());
        assert_eq!(bytes().len(), 128);
        // 128 bytes less two hashes and two bytes hold 85 bytes and the zero at their end.
        assert!(encrypted(&[b'x'; 85], SCRAMBLE, KEY.as_bytes()).is_some());
        assert_eq!(encrypted(&[b'x'; 86], SCRAMBLE, KEY.as_bytes()), None);
    }

    fn pem(modulus: &[u8], exponent: &[u8]) -> String {
        let der = |tag: u8, content: &[u8]| {
            let length = content.len() as u16;
            let head = match length {
                0..128 => vec![tag, length as u8],
                128..256 => vec![tag, 0x81, length as u8],
                _ => [&[tag, 0x82], &length.to_be_bytes()[..]].concat(),
            };
            [&head, content].concat()
        };
        let key = der(0x30, &[der(2, modulus), der(2, exponent)].concat());
        let info = der(0x30, &[der(0x30, &[5, 0]), der(3, &[&[0], &key[..]].concat())].concat());
        let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, info);
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }

    #[test]
    fn a_key_of_another_size_is_none() {
        let encrypt = |modulus: &[u8], exponent: &[u8]| encrypted(b"", b"", pem(modulus, exponent).as_bytes());
        assert!(encrypt(&[0x7f; 128], &[3]).is_some());
        assert!(encrypt(&[0x7f; 1024], &[0x7f; 8]).is_some());
        for (modulus, exponent) in [
            (&[0x7f; 127][..], &[3][..]),
            (&[0x7f; 1025], &[3]),
            (&[0x7f; 128], &[0x7f; 9]),
            (&[0], &[3]),
            (&[0; 200], &[3]),
        ] {
            assert_eq!(encrypt(modulus, exponent), None, "{modulus:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_key_or_none(
            bytes: Vec<u8>,
            modulus: Vec<u8>,
            exponent: Vec<u8>,
            at in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            let _ = encrypted(PASSWORD, SCRAMBLE, &bytes);
            let _ = encrypted(PASSWORD, SCRAMBLE, pem(&modulus, &exponent).as_bytes());
            let mut key = KEY.as_bytes().to_vec();
            let at = at.index(key.len());
            key[at] = byte;
            let _ = encrypted(PASSWORD, SCRAMBLE, &key);
            let _ = encrypted(PASSWORD, SCRAMBLE, &key[..at]);
        }
    }
}
