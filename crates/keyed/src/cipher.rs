//! AES with keys of three sizes, for a few blocks at a time.

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use std::hint::black_box;

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

    /// Nothing of the key is left in registers or on the stack. They would be part of a core dump.
    #[inline]
    pub(crate) fn run(&self, work: &mut impl Work) {
        self.run_and_leave_traces(work);
        match (aes::hardware_accelerated(), self) {
            // Some compilers and levels put what does not fit into the registers on the stack.
            (true, Self::Aes128(_)) => clear_the_stack::<64>(),
            (true, _) => clear_the_stack::<128>(),
            (false, _) => clear_the_stack::<512>(),
        }
    }

    /// Never inlined, so that the traces are below the caller's frame.
    #[inline(never)]
    fn run_and_leave_traces(&self, work: &mut impl Work) {
        let whole = Whole(work);
        match self {
            Self::Aes128(aes) => aes.encrypt_with_backend(whole),
            Self::Aes192(aes) => aes.encrypt_with_backend(whole),
            Self::Aes256(aes) => aes.encrypt_with_backend(whole),
        }
    }
}

/// All of the work at once: the processor keeps the key's schedule in registers from block to block.
struct Whole<'a, W>(&'a mut W);

impl<W> BlockSizeUser for Whole<'_, W> {
    type BlockSize = U16;
}

impl<W: Work> BlockCipherEncClosure for Whole<'_, W> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.0.run(|block| {
            let mut block = block.to_be_bytes().into();
            backend.encrypt_block_inplace(&mut block);
            u128::from_be_bytes(block.into())
        });
    }
}

/// Clears the registers in which the processor's instructions have the key's schedule.
#[inline(always)]
fn clear_registers() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it changes the named registers only, which every x86-64 has.
    unsafe {
        std::arch::asm!(
            "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
            "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
            "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
            "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: it changes the named registers only, which every processor with AES instructions has. Of the others, a
    // function restores the half that it must before it returns.
    unsafe {
        std::arch::asm!(
            "movi v0.2d, #0", "movi v1.2d, #0", "movi v2.2d, #0", "movi v3.2d, #0",
            "movi v4.2d, #0", "movi v5.2d, #0", "movi v6.2d, #0", "movi v7.2d, #0",
            "movi v16.2d, #0", "movi v17.2d, #0", "movi v18.2d, #0", "movi v19.2d, #0",
            "movi v20.2d, #0", "movi v21.2d, #0", "movi v22.2d, #0", "movi v23.2d, #0",
            "movi v24.2d, #0", "movi v25.2d, #0", "movi v26.2d, #0", "movi v27.2d, #0",
            "movi v28.2d, #0", "movi v29.2d, #0", "movi v30.2d, #0", "movi v31.2d, #0",
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _,
            out("v23") _, out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _, out("v29") _,
            out("v30") _, out("v31") _,
            options(nomem, nostack),
        );
    }
}

/// Clears that many words of the stack, which the functions that were called before have used.
#[inline(never)]
pub(crate) fn clear_the_stack<const WORDS: usize>() {
    // The compiler must not leave out what nobody reads.
    black_box(&mut [0_u64; WORDS]);
    clear_registers();
}
