//! How a hidden number is written, and its check digit.

use crate::text::decimal::PAIRS;

/// The alphabet of a hidden number. Its text is public, so tables may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    Digits,
    /// Crockford's: digits and letters but `i l o u`.
    Letters,
}

const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The value of each byte in Crockford's alphabet, with what looks alike; 32 for all others.
const VALUES: [u8; 256] = {
    let mut values = [32; 256];
    let mut value = 0;
    while value < 32 {
        values[LETTERS[value] as usize] = value as u8;
        values[LETTERS[value].to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    values[b'o' as usize] = 0;
    values[b'O' as usize] = 0;
    values[b'i' as usize] = 1;
    values[b'I' as usize] = 1;
    values[b'l' as usize] = 1;
    values[b'L' as usize] = 1;
    values
};

/// Damm's quasigroup: two different digits give different results in either order, and each digit with itself gives 0.
const DAMM: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

impl Alphabet {
    pub(super) fn radix(self) -> u32 {
        match self {
            Self::Digits => 10,
            Self::Letters => 32,
        }
    }

    pub(super) fn character(self, value: u8) -> u8 {
        match self {
            Self::Digits => b'0' + value,
            Self::Letters => LETTERS[usize::from(value)],
        }
    }

    /// The value of a character; None if it is not of this alphabet.
    #[inline(always)]
    pub(super) fn value(self, character: u8) -> Option<u8> {
        let value = match self {
            Self::Digits => character.wrapping_sub(b'0'),
            Self::Letters => VALUES[usize::from(character)],
        };
        (u32::from(value) < self.radix()).then_some(value)
    }

    /// Fills `text` with the number at this fraction, in 2^64ths, of all numbers of its length.
    #[inline(always)]
    pub(super) fn write(self, text: &mut [u8], mut fraction: u64) {
        // By how many characters the rest of it counts.
        let mut whole = |times: u64| {
            let product = u128::from(fraction) * u128::from(times);
            fraction = product as u64;
            (product >> 64) as usize
        };
        match self {
            Self::Digits => {
                let (first, pairs) = text.split_at_mut(text.len() % 2);
                first.iter_mut().for_each(|digit| *digit = b'0' + whole(10) as u8);
                pairs.chunks_exact_mut(2).for_each(|pair| pair.copy_from_slice(&PAIRS[whole(100)]));
            }
            Self::Letters => text.iter_mut().for_each(|letter| *letter = LETTERS[whole(32) % 32]),
        }
    }

    /// The check digit of these values. With it appended, the result is 0.
    ///
    /// For letters, it is Damm's method in the field of 32 elements, as polynomials over x^5 + x^2 + 1: twice the sum of
    /// the value so far and the next one.
    pub(super) fn check(self, values: impl Iterator<Item = u8>) -> u8 {
        values.fold(0, |so_far, value| match self {
            Self::Digits => DAMM[usize::from(so_far)][usize::from(value)],
            Self::Letters => {
                let sum = so_far ^ value;
                (sum << 1) ^ ((sum >> 4) * 0b10_0101)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Alphabet; 2] = [Alphabet::Digits, Alphabet::Letters];

    #[test]
    fn the_sample_of_damms_thesis_has_its_check_digit() {
        assert_eq!(Alphabet::Digits.check([5, 7, 2].into_iter()), 4);
        assert_eq!(Alphabet::Digits.check([5, 7, 2, 4].into_iter()), 0);
    }

    /// These two properties find every wrong character and every pair of swapped neighbours in any text, because each later
    /// character permutes the value so far.
    #[test]
    fn two_values_differ_and_do_not_commute_after_anything() {
        for alphabet in BOTH {
            let all = 0..alphabet.radix() as u8;
            let after = |so_far: u8, values: &[u8]| {
                // Each row has each value once, so one first value leads to `so_far`.
                let before = all.clone().find(|value| alphabet.check([*value].into_iter()) == so_far).unwrap();
                alphabet.check(std::iter::once(before).chain(values.iter().copied()))
            };
            for so_far in all.clone() {
                for one in all.clone() {
                    for other in all.clone().filter(|other| *other != one) {
                        assert_ne!(after(so_far, &[one]), after(so_far, &[other]));
                        assert_ne!(after(so_far, &[one, other]), after(so_far, &[other, one]));
                    }
                    // Two values before give one result each.
                    for other in all.clone().filter(|other| *other != so_far) {
                        assert_ne!(after(so_far, &[one]), after(other, &[one]));
                    }
                }
            }
        }
    }

    #[test]
    fn what_looks_alike_is_read() {
        for (value, letter) in LETTERS.iter().enumerate() {
            for letter in [*letter, letter.to_ascii_uppercase()] {
                assert_eq!(Alphabet::Letters.value(letter), Some(value as u8));
            }
        }
        let alike = b"oOiIlL".map(|letter| Alphabet::Letters.value(letter));
        assert_eq!(alike, [Some(0), Some(0), Some(1), Some(1), Some(1), Some(1)]);
        let read = |alphabet: Alphabet| (0..=255).filter(|byte| alphabet.value(*byte).is_some()).count();
        assert_eq!(BOTH.map(read), [10, 10 + 2 * 22 + 6]);
        assert_eq!([b'u', b'U', b'-', b' ', 0xff].map(|byte| Alphabet::Letters.value(byte)), [None; 5]);
    }
}
