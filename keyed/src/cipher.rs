//! AES with keys of three sizes, for a few blocks at a time.

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use std::mem::MaybeUninit;
use std::ptr;

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
    #[inline(never)]
    pub(crate) fn run(&self, work: &mut impl Work) {
        let whole = Whole(work);
        match self {
            Self::Aes128(aes) => aes.encrypt_with_backend(whole),
            Self::Aes192(aes) => aes.encrypt_with_backend(whole),
            Self::Aes256(aes) => aes.encrypt_with_backend(whole),
        }
        match aes::hardware_accelerated() {
            true => clear_registers(),
            false => clear_the_stack::<512>(),
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

/// Clears so many words of the stack, which the functions that were called before have used.
#[inline(never)]
pub(crate) fn clear_the_stack<const WORDS: usize>() {
    let mut words = MaybeUninit::<[u64; WORDS]>::uninit();
    let first: *mut u64 = words.as_mut_ptr().cast();
    for place in 0..WORDS {
        // SAFETY: all of them are within the array. The compiler must not leave a volatile write out.
        unsafe { ptr::write_volatile(first.add(place), 0) };
    }
    clear_registers();
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::ff1::Ff1;

    /// What is in the vector registers now.
    #[inline(always)]
    fn registers() -> [u128; 16] {
        let mut registers = [0; 16];
        // SAFETY: there is room for 16 registers of 16 bytes.
        unsafe {
            std::arch::asm!(
                "movdqu [{0}], xmm0", "movdqu [{0} + 16], xmm1", "movdqu [{0} + 32], xmm2", "movdqu [{0} + 48], xmm3",
                "movdqu [{0} + 64], xmm4", "movdqu [{0} + 80], xmm5", "movdqu [{0} + 96], xmm6",
                "movdqu [{0} + 112], xmm7", "movdqu [{0} + 128], xmm8", "movdqu [{0} + 144], xmm9",
                "movdqu [{0} + 160], xmm10", "movdqu [{0} + 176], xmm11", "movdqu [{0} + 192], xmm12",
                "movdqu [{0} + 208], xmm13", "movdqu [{0} + 224], xmm14", "movdqu [{0} + 240], xmm15",
                in(reg) registers.as_mut_ptr(),
                options(nostack, preserves_flags),
            );
        }
        registers.map(u128::swap_bytes)
    }

    /// The key of FIPS 197, appendix A.1, and what its schedule makes of it.
    #[test]
    fn no_register_has_a_part_of_the_key_afterwards() {
        const SCHEDULE: [u128; 11] = [
            0x2b7e1516_28aed2a6_abf71588_09cf4f3c,
            0xa0fafe17_88542cb1_23a33939_2a6c7605,
            0xf2c295f2_7a96b943_5935807a_7359f67f,
            0x3d80477d_4716fe3e_1e237e44_6d7a883b,
            0xef44a541_a8525b7f_b671253b_db0bad00,
            0xd4d1c6f8_7c839d87_caf2b8bc_11f915bc,
            0x6d88a37a_110b3efd_dbf98641_ca0093fd,
            0x4e54f70e_5f5fc9f3_84a64fb2_4ea6dc4f,
            0xead27321_b58dbad2_312bf560_7f8d292f,
            0xac7766f3_19fadc21_28d12941_575c006e,
            0xd014f9a8_c9ee2589_e13f0cc8_b6630ca6,
        ];
        let ff1 = Ff1::new(Cipher::of(&SCHEDULE[0].to_be_bytes()), 10, 10, b"");
        ff1.hide(42);
        let after_hiding = registers();
        ff1.reveal([12345, 67890]);
        let after_revealing = registers();
        for register in after_hiding.into_iter().chain(after_revealing) {
            assert!(!SCHEDULE.contains(&register), "{register:032x}");
        }
    }
}
