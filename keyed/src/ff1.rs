//! FF1 of NIST SP 800-38G: a permutation of all texts of one length over an alphabet, here for numbers.
//!
//! A text is cut into two halves, and in each of ten rounds one of them is moved by a number that AES makes of the other.
//! All blocks of a round but the last are the same for each text, so they are computed once.
//!
//! Nothing branches, looks up a table or divides by what depends on the key or on a number.

use crate::cipher::{Cipher, Work};

const ROUNDS: u64 = 10;

/// A permutation of the numbers below `radix` to the power of a length, by a key and a tweak.
pub struct Ff1 {
    cipher: Cipher,
    steps: Steps,
}

impl Ff1 {
    /// For texts of `length` characters. The larger half must have at most 53 bits, and the smaller at least two values.
    #[inline(never)]
    pub(crate) fn new(cipher: Cipher, radix: u32, length: u32, tweak: &[u8]) -> Self {
        let (left, right) = (length / 2, length - length / 2);
        let moduli = [left, right].map(|digits| Modulus::new(u64::from(radix).pow(digits)));
        // How many bytes a half takes in a block.
        let bytes = (u64::BITS - (moduli[1].modulus - 1).leading_zeros()).div_ceil(8);
        let steps = Steps { moduli, before_last: 0, round_at: 8 * bytes, is_wide: bytes > 4 };
        let mut permutation = Self { cipher, steps };

        let mut first = [0; 16];
        first[..3].copy_from_slice(&[1, 2, 1]);
        first[3..6].copy_from_slice(&radix.to_be_bytes()[1..]);
        first[6..8].copy_from_slice(&[ROUNDS as u8, left as u8]);
        first[8..12].copy_from_slice(&length.to_be_bytes());
        first[12..].copy_from_slice(&(tweak.len() as u32).to_be_bytes());
        let mut before_last = encrypt(&permutation.cipher, u128::from_be_bytes(first));

        // The tweak is followed by zeros, so that the round's number and half end a block.
        let end = 1 + bytes as usize;
        let mut blocks = tweak.chunks(16).peekable();
        while let Some(block) = blocks.next() {
            let mut padded = [0; 16];
            padded[..block.len()].copy_from_slice(block);
            before_last ^= u128::from_be_bytes(padded);
            if blocks.peek().is_some() || block.len() + end > 16 {
                before_last = encrypt(&permutation.cipher, before_last);
            }
        }
        permutation.steps.before_last = before_last;
        permutation
    }

    /// How many values the right half has: a number is its left half times this, plus its right half.
    pub fn right(&self) -> &Modulus {
        &self.steps.moduli[1]
    }

    /// The halves of the image of a number with these halves.
    #[inline]
    pub fn hide(&self, [left, right]: [u64; 2]) -> [u64; 2] {
        let [left, right] = self.rounds(left, right, false);
        [left, right]
    }

    /// The inverse of [`Ff1::hide`].
    #[inline]
    pub fn reveal(&self, [left, right]: [u64; 2]) -> [u64; 2] {
        let [right, left] = self.rounds(right, left, true);
        [left, right]
    }

    fn rounds(&self, moved: u64, other: u64, reveals: bool) -> [u64; 2] {
        let mut rounds = Rounds { steps: &self.steps, moved, other, reveals };
        self.cipher.run(&mut Task::Rounds(&mut rounds));
        [rounds.moved, rounds.other]
    }

    /// The first bits of AES of a block of zeros, by which banks compare keys without telling them.
    pub fn check_value(&self) -> u32 {
        (encrypt(&self.cipher, 0) >> (128 - 24)) as u32
    }
}

/// What is the same in each round but the cipher.
struct Steps {
    /// How many values the left and the right half have.
    moduli: [Modulus; 2],
    /// The last block of a round before the round's number and half are added.
    before_last: u128,
    /// How many bits the half takes at the end of that block.
    round_at: u32,
    /// Whether a round takes 12 bytes of the cipher's output, or 8.
    is_wide: bool,
}

/// Ten rounds, from the first to the last or back.
struct Rounds<'a> {
    steps: &'a Steps,
    moved: u64,
    other: u64,
    reveals: bool,
}

impl Rounds<'_> {
    #[inline(always)]
    fn run(&mut self, encrypt: impl Fn(u128) -> u128) {
        let steps = self.steps;
        let before_last = steps.before_last;
        let sign = if self.reveals { u64::MAX } else { 0 };
        for step in 0..ROUNDS {
            let round = if self.reveals { ROUNDS - 1 - step } else { step };
            let modulus = &steps.moduli[(round % 2) as usize];
            let with_round = before_last ^ u128::from(round << steps.round_at);
            let by = encrypt(with_round ^ u128::from(self.other));
            let sum = match steps.is_wide {
                true => modulus.add_96_bits(self.moved, (by >> 96) as u32, (by >> 32) as u64, sign),
                false => modulus.add_64_bits(self.moved, (by >> 64) as u64, sign),
            };
            (self.moved, self.other) = (self.other, sum);
        }
    }
}

/// All that a cipher does, so that its code is there once for each size of key.
enum Task<'a, 'steps> {
    Rounds(&'a mut Rounds<'steps>),
    Block(&'a mut u128),
}

impl Work for Task<'_, '_> {
    #[inline(always)]
    fn run(&mut self, encrypt: impl Fn(u128) -> u128) {
        match self {
            Self::Rounds(rounds) => rounds.run(encrypt),
            Self::Block(block) => **block = encrypt(**block),
        }
    }
}

fn encrypt(cipher: &Cipher, mut block: u128) -> u128 {
    cipher.run(&mut Task::Block(&mut block));
    block
}

/// A divisor below 2^53. Dividing multiplies by its inverse: some processors take longer to divide some numbers.
#[derive(Clone, Copy)]
pub struct Modulus {
    modulus: u64,
    /// (2^128 - 1) / modulus, in two words. No quotient by it is more than one too low.
    inverse: [u64; 2],
}

impl Modulus {
    fn new(modulus: u64) -> Self {
        let inverse = u128::MAX / u128::from(modulus);
        Self { modulus, inverse: [(inverse >> 64) as u64, inverse as u64] }
    }

    /// The number to divide by.
    #[inline]
    pub fn get(&self) -> u64 {
        self.modulus
    }

    /// The quotient and the remainder.
    #[inline(always)]
    pub fn divide(&self, number: u64) -> (u64, u64) {
        let quotient = high(number, self.inverse[0]);
        let remainder = number - quotient * self.modulus;
        (quotient + u64::from(remainder >= self.modulus), below(self.modulus, remainder))
    }

    /// The remainder of `to + by`, or of `to - by` with all bits of `sign` set; `to` is less than the modulus.
    #[inline(always)]
    fn add_64_bits(&self, to: u64, by: u64, sign: u64) -> u64 {
        self.add_all_but(to, by, high(by, self.inverse[0]), sign)
    }

    /// The same for `over * 2^64 + by`.
    #[inline(always)]
    fn add_96_bits(&self, to: u64, over: u32, by: u64, sign: u64) -> u64 {
        let [inverse_high, inverse_low] = self.inverse;
        let over = u64::from(over);
        let middle = u128::from(high(by, inverse_low))
            + u128::from(over) * u128::from(inverse_low)
            + u128::from(by) * u128::from(inverse_high);
        let quotient = ((middle >> 64) as u64).wrapping_add(over.wrapping_mul(inverse_high));
        self.add_all_but(to, by, quotient, sign)
    }

    /// Adds what is left of `by` after so many times the modulus, which is less than twice the modulus.
    #[inline(always)]
    fn add_all_but(&self, to: u64, by: u64, quotient: u64, sign: u64) -> u64 {
        let signed = |value: u64| (value ^ sign).wrapping_sub(sign);
        // Below three times the modulus.
        let from = to + ((2 * self.modulus) & sign);
        let sum = from.wrapping_add(signed(by)).wrapping_sub(quotient.wrapping_mul(signed(self.modulus)));
        below(self.modulus, below(2 * self.modulus, sum))
    }
}

/// `number` less `modulus`, unless that is negative: a conditional move, which takes one time for both.
#[inline(always)]
fn below(modulus: u64, number: u64) -> u64 {
    let (less, is_negative) = number.overflowing_sub(modulus);
    if is_negative { number } else { less }
}

/// The upper word of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONGEST_KEY: u128 = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C;
    const REST_OF_IT: u128 = 0xEF43_59D8_D580_AA4F_7F03_6D6F_04FC_6A94;

    fn halves(text: &str, radix: u32) -> [u64; 2] {
        let (left, right) = text.split_at(text.len() / 2);
        [left, right].map(|half| u64::from_str_radix(half, radix).unwrap())
    }

    #[test]
    fn the_samples_of_the_standard_come_out() {
        let tweaks: [&[u8]; 3] = [b"", b"9876543210", b"7777pqrs777"];
        let samples = [
            ["2433477484", "6124200773", "a9tv40mll9kdu509eum"],
            ["2830668132", "2496655549", "xbj3kv35jrawxv32ysr"],
            ["6657667009", "1001623463", "xs8a0azh2avyalyzuwd"],
        ];
        let longest = [LONGEST_KEY.to_be_bytes(), REST_OF_IT.to_be_bytes()].concat();
        for (bytes, samples) in [16, 24, 32].into_iter().zip(samples) {
            for (tweak, image) in tweaks.into_iter().zip(samples) {
                let (radix, number) = if image.len() == 10 { (10, "0123456789") } else { (36, "0123456789abcdefghi") };
                let ff1 = Ff1::new(Cipher::of(&longest[..bytes]), radix, image.len() as u32, tweak);
                let (number, image) = (halves(number, radix), halves(image, radix));
                assert_eq!(ff1.hide(number), image);
                assert_eq!(ff1.reveal(image), number);
            }
        }
    }

    #[test]
    fn the_check_value_is_that_of_banks() {
        let check_value = |key: &[u8]| Ff1::new(Cipher::of(key), 10, 6, b"").check_value();
        assert_eq!(check_value(&[0; 16]), 0x66_e94b);
        assert_eq!(check_value(&[0; 24]), 0xaa_e069);
        assert_eq!(check_value(&[0; 32]), 0xdc_95c0);
    }

    /// All that are used, and the largest that are allowed.
    fn divisors() -> impl Strategy<Value = u64> {
        prop_oneof![
            (3..=10_u32).prop_map(|digits| 10_u64.pow(digits)),
            (2..=7_u32).prop_map(|letters| 32_u64.pow(letters)),
            2_u64..1 << 53,
            Just((1 << 53) - 1),
        ]
    }

    proptest! {
        #[test]
        fn dividing_by_the_inverse_is_exact(divisor in divisors(), number: u64, over: u32, multiple: u64) {
            let modulus = Modulus::new(divisor);
            let edge = multiple / divisor * divisor;
            for number in [number, u64::MAX, edge, edge.wrapping_sub(1), number % divisor] {
                prop_assert_eq!(modulus.divide(number), (number / divisor, number % divisor));
                let wide = u128::from(over) << 64 | u128::from(number);
                for wide in [wide, wide / u128::from(divisor) * u128::from(divisor), (1 << 96) - 1] {
                    let by = (wide % u128::from(divisor)) as u64;
                    let narrow = wide as u64 % divisor;
                    for to in [0, 1, multiple % divisor, divisor - 1] {
                        let (over, low) = ((wide >> 64) as u32, wide as u64);
                        prop_assert_eq!(modulus.add_96_bits(to, over, low, 0), (to + by) % divisor);
                        prop_assert_eq!(modulus.add_96_bits(to, over, low, u64::MAX), (to + divisor - by) % divisor);
                        prop_assert_eq!(modulus.add_64_bits(to, low, 0), (to + narrow) % divisor);
                        prop_assert_eq!(modulus.add_64_bits(to, low, u64::MAX), (to + divisor - narrow) % divisor);
                    }
                }
            }
        }
    }
}
