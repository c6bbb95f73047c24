//! MD5 and SHA-1, for UUIDs of names. Written for size: the crates for them are ten times as large, a fortieth of the library.

/// Calls `each` with the blocks of the message and its padding, which ends with the message's length.
fn blocks(parts: [&[u8]; 2], length_of: fn(u64) -> [u8; 8], each: &mut dyn FnMut(&[u8; 64])) {
    let (mut block, mut filled) = ([0; 64], 0);
    let mut push = |byte: u8| {
        block[filled] = byte;
        filled += 1;
        if filled == block.len() {
            each(&block);
            filled = 0;
        }
        filled
    };
    for byte in parts.into_iter().flatten() {
        push(*byte);
    }
    let mut filled = push(0x80);
    while filled != 56 {
        filled = push(0);
    }
    let bytes: usize = parts.map(<[u8]>::len).iter().sum();
    for byte in length_of(bytes as u64 * 8) {
        push(byte);
    }
}

/// A word of a block.
fn word(block: &[u8; 64], at: usize) -> [u8; 4] {
    std::array::from_fn(|byte| block[4 * at + byte])
}

/// The first 128 bits of SHA-1 of the parts.
pub(crate) fn sha1(parts: [&[u8]; 2]) -> [u8; 16] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0_u32];
    blocks(parts, u64::to_be_bytes, &mut |block| {
        let mut words: [u32; 80] =
            std::array::from_fn(|at| if at < 16 { u32::from_be_bytes(word(block, at)) } else { 0 });
        for at in 16..80 {
            words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.into_iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        for (sum, added) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(added);
        }
    });
    std::array::from_fn(|byte| state[byte / 4].to_be_bytes()[byte % 4])
}

/// The bits that each step of MD5 rotates by.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The first 32 bits of the fraction of |sin(step)|.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// MD5 of the parts.
pub(crate) fn md5(parts: [&[u8]; 2]) -> [u8; 16] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476_u32];
    blocks(parts, u64::to_le_bytes, &mut |block| {
        let [mut a, mut b, mut c, mut d] = state;
        for (step, sine) in SINES.into_iter().enumerate() {
            let (mixed, at) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let word = u32::from_le_bytes(word(block, at % 16));
            let turned = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(word);
            let turned = turned.rotate_left(ROTATIONS[step / 16][step % 4]);
            (a, b, c, d) = (d, b.wrapping_add(turned), b, c);
        }
        for (sum, added) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(added);
        }
    });
    std::array::from_fn(|byte| state[byte / 4].to_le_bytes()[byte % 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: [u8; 16]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// With lengths around those where the padding needs a block of its own. As md5sum and sha1sum say.
    #[test]
    fn known_answers() {
        for (count, of_md5, of_sha1) in [
            (0, "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890"),
            (3, "47bce5c74f589f4867dbd57e9ca9f808", "7e240de74fb1ed08fa08d38063f6a6a9"),
            (55, "ef1772b6dff9a122358552954ad0df65", "c1c8bbdc22796e28c0e15163d20899b6"),
            (56, "3b0c8ac703f828b04c6c197006d17218", "c2db330f6083854c99d4b5bfb6e8f29f"),
            (63, "b06521f39153d618550606be297466d5", "03f09f5b158a7a8cdad920bddc29b81c"),
            (64, "014842d480b571495a4a0363793f7367", "0098ba824b5c16427bd7a1122a5a442a"),
            (65, "c743a45e0d2e6a95cb859adae0248435", "11655326c708d70319be2610e8a57d9a"),
            (119, "8a7bd0732ed6a28ce75f6dabc90e1613", "ee971065aaa017e0632a8ca6c77bb3bf"),
            (120, "5f61c0ccad4cac44c75ff505e1f1e537", "f34c1488385346a55709ba056ddd0828"),
            (1000, "cabe45dcc9ae5b66ba86600cca6b8ba8", "291e9a6c66994949b57ba5e650361e98"),
        ] {
            let text = "a".repeat(count);
            for split in [0, count / 3, count] {
                let (first, second) = text.as_bytes().split_at(split);
                assert_eq!(hex(md5([first, second])), of_md5, "{count}");
                assert_eq!(hex(sha1([first, second])), of_sha1, "{count}");
            }
        }
    }
}
