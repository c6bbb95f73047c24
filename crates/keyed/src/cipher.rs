//! AES with keys of three sizes, for a few blocks at a time.

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};

/// A key's schedule.
pub(crate) enum Cipher {
    Aes128(Aes128Enc),
    Aes192(Aes192Enc),
    Aes256(Aes256Enc),
}

/// What needs several blocks, of which each depends on the one before.
pub(crate) trait Work {
    /// `encrypt` takes and returns a block as a number, its first byte highest.
    fn run(&mut self, encrypt: impl Fn(u128) -> u128);
}

impl Cipher {
    /// The key must have 16, 24 or 32 bytes.
    #[inline(never)]
    pub(crate) fn of(key: &[u8]) -> Self {
        let cipher = match key.len() {
            16 => Aes128Enc::new_from_slice(key).map(Self::Aes128),
            24 => Aes192Enc::new_from_slice(key).map(Self::Aes192),
            _ => Aes256Enc::new_from_slice(key).map(Self::Aes256),
        };
        cipher.expect("a key has 16, 24 or 32 bytes")
    }

    #[inline(never)]
    pub(crate) fn run(&self, work: &mut impl Work) {
        let whole = WithCipher(work);
        match self {
            Self::Aes128(aes) => aes.encrypt_with_backend(whole),
            Self::Aes192(aes) => aes.encrypt_with_backend(whole),
            Self::Aes256(aes) => aes.encrypt_with_backend(whole),
        }
    }
}

/// All of the work at once: the processor keeps the key's schedule in registers from block to block.
struct WithCipher<'a, W>(&'a mut W);

impl<W> BlockSizeUser for WithCipher<'_, W> {
    type BlockSize = U16;
}

impl<W: Work> BlockCipherEncClosure for WithCipher<'_, W> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.0.run(|block| {
            let mut block = block.to_be_bytes().into();
            backend.encrypt_block_inplace(&mut block);
            u128::from_be_bytes(block.into())
        });
    }
}
