//! FF1 of NIST SP 800-38G: a permutation of all texts of one length over an alphabet, here for numbers and for bits. In
//! each of ten rounds, one half of a text is moved by a number that AES makes of the other half. Nothing branches, looks up
//! a table or divides by what depends on the key or on a number.

use crate::cipher::{Cipher, Work};

const ROUNDS: u64 = 10;

/// A permutation of the numbers below `radix` to the power of a length, by a key and a tweak.
pub struct Ff1 {
    cipher: Cipher,
    steps: Steps,
    /// The check values of texts without and with a check digit.
    check_values: [u32; 2],
}

impl Ff1 {
    /// For texts of `length` characters. The larger half must have at most 53 bits, or 61 bits of radix 2, and the smaller
    /// at least two values.
    #[inline(never)]
    pub(crate) fn new(cipher: Cipher, radix: u32, length: u32, tweak: &[u8]) -> Self {
        let (left, right) = (length / 2, length - length / 2);
        let larger = u64::from(radix).pow(right);
        // How many bytes a half takes in a block.
        let bytes = (u64::BITS - (larger - 1).leading_zeros()).div_ceil(8);
        let is_wide = bytes > 4;
        let halves = [Modulus::new(u64::from(radix).pow(left), is_wide), Modulus::new(larger, is_wide)];

        let mut first = [0; 16];
        first[..3].copy_from_slice(&[1, 2, 1]);
        first[3..6].copy_from_slice(&radix.to_be_bytes()[1..]);
        first[6..8].copy_from_slice(&[ROUNDS as u8, left as u8]);
        first[8..12].copy_from_slice(&length.to_be_bytes());
        first[12..].copy_from_slice(&(tweak.len() as u32).to_be_bytes());

        // The tweak is followed by zeros, so that the round's number and half end a block.
        let end = 1 + bytes as usize;
        let mut before_last = encrypt(&cipher, u128::from_be_bytes(first));
        for block in tweak.chunks(16) {
            before_last ^= padded(block);
            if block.len() + end > 16 {
                before_last = encrypt(&cipher, before_last);
            }
        }
        // FF1 has no block that begins so.
        let check_values = [2, 3].map(|kind| {
            first[0] = kind;
            let chain = |so_far, block: &[u8]| encrypt(&cipher, so_far ^ padded(block));
            (tweak.chunks(16).fold(encrypt(&cipher, u128::from_be_bytes(first)), chain) >> (128 - 32)) as u32
        });
        // Bits have no place for it in a word, and add it by themselves.
        let round = 1_u64.checked_shl(8 * bytes).unwrap_or_default();
        Self { cipher, steps: Steps { halves, before_last, round, is_wide }, check_values }
    }

    /// The halves of the image of a number, as fractions of how many values they have: the whole part of a fraction times
    /// the radix is the half's first character, and what is left the fraction of the others.
    #[inline]
    pub fn hide(&self, number: u64) -> [u64; 2] {
        let [left, right] = &self.steps.halves;
        let of_right = right.fraction(number);
        let other = right.value(of_right);
        let moved = right.quotient(number, other);
        self.rounds([left.fraction(moved), of_right], other, false)
    }

    /// The number with the image that has these halves.
    #[inline]
    pub fn reveal(&self, image: [u64; 2]) -> u128 {
        let [left, right] = &self.steps.halves;
        let fractions = [right.fraction(image[1]), left.fraction(image[0])];
        let [of_right, of_left] = self.rounds(fractions, image[0], true);
        u128::from(left.value(of_left)) * u128::from(right.modulus) + u128::from(right.value(of_right))
    }

    /// The image of a text of 122 bits, in halves of 61, by a permutation of radix 2.
    #[inline]
    pub fn hide_bits(&self, halves: [u64; 2]) -> [u64; 2] {
        self.bit_rounds(halves, false)
    }

    /// The text of 122 bits that has this image.
    #[inline]
    pub fn reveal_bits(&self, [left, right]: [u64; 2]) -> [u64; 2] {
        let [right, left] = self.bit_rounds([right, left], true);
        [left, right]
    }

    fn bit_rounds(&self, halves: [u64; 2], reveals: bool) -> [u64; 2] {
        let mut rounds = BitRounds { before_last: self.steps.before_last, halves, reveals };
        self.cipher.run(&mut Task::BitRounds(&mut rounds));
        rounds.halves
    }

    fn rounds(&self, fractions: [u64; 2], other: u64, reveals: bool) -> [u64; 2] {
        let mut rounds = Rounds { steps: &self.steps, fractions, other, reveals };
        self.cipher.run(&mut Task::Rounds(&mut rounds));
        rounds.fractions
    }

    /// AES of a block of zeros. Equal keys have equal ones.
    pub(crate) fn of_zeros(&self) -> u128 {
        encrypt(&self.cipher, 0)
    }

    /// A MAC of what makes the permutation: the alphabet, the length and the tweak, and of whether texts have a check
    /// digit.
    pub fn check_value(&self, has_check_digit: bool) -> u32 {
        self.check_values[usize::from(has_check_digit)]
    }
}

/// A block of the tweak; the last one is filled up with zeros.
fn padded(block: &[u8]) -> u128 {
    let mut padded = [0; 16];
    padded[..block.len()].copy_from_slice(block);
    u128::from_be_bytes(padded)
}

/// What is the same in each round but the cipher.
struct Steps {
    /// How many values the left and the right half have.
    halves: [Modulus; 2],
    /// The last block of a round before the round's number and half are added.
    before_last: u128,
    /// A one where the round's number is in that block.
    round: u64,
    /// Whether a round takes 12 bytes of the cipher's output, or 8.
    is_wide: bool,
}

/// Ten rounds, from the first to the last or back.
struct Rounds<'a> {
    steps: &'a Steps,
    /// The half that the next round moves, and the other one.
    fractions: [u64; 2],
    /// The value of the other one.
    other: u64,
    reveals: bool,
}

impl Rounds<'_> {
    #[inline(always)]
    fn run(&mut self, encrypt: impl Fn(u128) -> u128) {
        let Steps { halves: [left, right], before_last, round, is_wide } = self.steps;
        let (mut half, mut next) = if self.reveals { (right, left) } else { (left, right) };
        let (mut at, step) = if self.reveals { ((ROUNDS - 1) * round, round.wrapping_neg()) } else { (0, *round) };
        let direction = usize::from(self.reveals);
        for _ in 0..ROUNDS {
            let by = encrypt(before_last ^ u128::from(at ^ self.other));
            let low = is_wide.then_some((by >> 32) as u32);
            let [moved, other] = self.fractions;
            self.fractions = [other, half.add(moved, (by >> 64) as u64, low, direction)];
            self.other = half.value(self.fractions[1]);
            (half, next) = (next, half);
            at = at.wrapping_add(step);
        }
    }
}

/// The rounds for bits, where a remainder is a mask.
struct BitRounds {
    before_last: u128,
    /// The half that the next round moves, and the other one.
    halves: [u64; 2],
    reveals: bool,
}

impl BitRounds {
    #[inline(always)]
    fn run(&mut self, encrypt: impl Fn(u128) -> u128) {
        for round in 0..ROUNDS {
            let at = if self.reveals { ROUNDS - 1 - round } else { round };
            let [half, other] = self.halves;
            // FF1 takes 96 bits, and a half has these.
            let by = (encrypt(self.before_last ^ u128::from(at) << u64::BITS ^ u128::from(other)) >> 32) as u64;
            let moved = if self.reveals { half.wrapping_sub(by) } else { half.wrapping_add(by) };
            self.halves = [other, moved & HALF_OF_BITS];
        }
    }
}

const HALF_OF_BITS: u64 = (1 << 61) - 1;

/// All that a cipher does, so that its code is there once for each size of key.
enum Task<'a, 'steps> {
    Rounds(&'a mut Rounds<'steps>),
    BitRounds(&'a mut BitRounds),
    Block(&'a mut u128),
}

impl Work for Task<'_, '_> {
    #[inline(always)]
    fn run(&mut self, encrypt: impl Fn(u128) -> u128) {
        match self {
            Self::Rounds(rounds) => rounds.run(encrypt),
            Self::BitRounds(rounds) => rounds.run(encrypt),
            Self::Block(block) => **block = encrypt(**block),
        }
    }
}

fn encrypt(cipher: &Cipher, mut block: u128) -> u128 {
    cipher.run(&mut Task::Block(&mut block));
    block
}

/// How many values a half has, below 2^53. Nothing is divided by it: some processors take longer to divide some numbers.
struct Modulus {
    modulus: u64,
    one: Fraction,
    /// What the first 64 bits of the cipher's output count for, and the 32 bits that follow; then the same negative.
    by: [[Fraction; 2]; 2],
}

impl Modulus {
    fn new(modulus: u64, is_wide: bool) -> Self {
        let one = Fraction::of(modulus, 0);
        let by = [Fraction::of(modulus, if is_wide { 32 } else { 0 }), one];
        Self { modulus, one, by: [by, by.map(Fraction::negative)] }
    }

    /// `number / modulus` without the whole part, and a little more.
    #[inline(always)]
    fn fraction(&self, number: u64) -> u64 {
        self.one.times(number).wrapping_add(LOST)
    }

    /// The fraction of a number that is higher by `high`, or by `high * 2^32 + low`; or lower, in the other direction.
    #[inline(always)]
    fn add(&self, fraction: u64, high: u64, low: Option<u32>, direction: usize) -> u64 {
        let [first, second] = &self.by[direction];
        let lower = low.map_or(0, |low| second.times(u64::from(low)));
        fraction.wrapping_add(lower).wrapping_add(first.times(high))
    }

    /// The remainder of the number with this fraction.
    #[inline(always)]
    fn value(&self, fraction: u64) -> u64 {
        high(fraction, self.modulus)
    }

    /// How often the modulus is in a number with this remainder.
    #[inline(always)]
    fn quotient(&self, number: u64, remainder: u64) -> u64 {
        // Exact, or too low by one.
        let quotient = high(number, self.one.0[0]);
        quotient + u64::from(number - quotient * self.modulus != remainder)
    }
}

/// A number from 0 to 1 without 1, in 128 bits.
#[derive(Clone, Copy)]
struct Fraction([u64; 2]);

/// What all products of a number's fraction may have lost together: that of the number itself less than 2, and two in each
/// of the five rounds that move it less than 2 each. They may have won less than 1 each. So a fraction is never
/// too low, and too high by less than 2^-58: with less than 2^53 values, that does not matter.
const LOST: u64 = 22;

impl Fraction {
    /// `2^shift / divisor` without its whole part.
    fn of(divisor: u64, shift: u32) -> Self {
        let divisor = u128::from(divisor);
        // 2^128 is one more than what a u128 holds.
        let (quotient, remainder) = (u128::MAX / divisor, u128::MAX % divisor + 1);
        Self::new((quotient << shift).wrapping_add((remainder << shift) / divisor))
    }

    fn new(bits: u128) -> Self {
        Self([(bits >> 64) as u64, bits as u64])
    }

    fn negative(self) -> Self {
        let [upper, lower] = self.0;
        Self::new((u128::from(upper) << 64 | u128::from(lower)).wrapping_neg())
    }

    /// The upper half of the product without its whole part.
    #[inline(always)]
    fn times(&self, number: u64) -> u64 {
        let [upper, lower] = self.0;
        number.wrapping_mul(upper).wrapping_add(high(number, lower))
    }
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

    /// By the halves' fractions.
    fn text(fractions: [u64; 2], length: usize, radix: u32) -> String {
        let mut text = String::new();
        for (mut fraction, length) in fractions.into_iter().zip([length / 2, length - length / 2]) {
            for _ in 0..length {
                let product = u128::from(fraction) * u128::from(radix);
                text.push(char::from_digit((product >> 64) as u32, radix).unwrap());
                fraction = product as u64;
            }
        }
        text
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
                // Some have more than 64 bits.
                let [first, second] = halves(number, radix);
                let [left, right] = &ff1.steps.halves;
                let hidden = ff1.rounds([left.fraction(first), right.fraction(second)], second, false);
                assert_eq!(text(hidden, image.len(), radix), image);
                let number = u128::from_str_radix(number, radix).unwrap();
                assert_eq!(ff1.reveal(halves(image, radix)), number);
                if let Ok(number) = u64::try_from(number) {
                    assert_eq!(ff1.hide(number), hidden);
                }
            }
        }
    }

    /// By the implementation in tests/ff1.py. The round and a half of this length take four bytes of a block.
    #[test]
    fn a_tweak_may_end_where_the_round_begins() {
        for (tweak, image) in
            [("7777pqrs7777", 6_924_295_131), ("7777pqrs77777", 1_709_896_368), ("7777pqrs7777pqrs", 8_031_351_510)]
        {
            let ff1 = Ff1::new(Cipher::of(&LONGEST_KEY.to_be_bytes()), 10, 10, tweak.as_bytes());
            assert_eq!(ff1.reveal([image / 100_000, image % 100_000]), 123_456_789, "{tweak}");
        }
    }

    /// Each difference in the permutation is one in its check value.
    #[test]
    fn the_check_value_is_of_all_that_makes_the_permutation() {
        let key = LONGEST_KEY.to_be_bytes();
        let of = |key: &[u8], radix, length, tweak: &[u8]| Ff1::new(Cipher::of(key), radix, length, tweak).check_values;
        let mut found = [
            of(&key, 10, 10, b"orders"),
            of(&REST_OF_IT.to_be_bytes(), 10, 10, b"orders"),
            of(&key, 10, 11, b"orders"),
            of(&key, 32, 10, b"orders"),
            of(&key, 2, 122, b"orders"),
            of(&key, 10, 10, b"order"),
            of(&key, 10, 10, b"orders\0"),
            of(&key, 10, 10, b""),
            of(&key, 10, 10, &[b'a'; 16]),
            of(&key, 10, 10, &[b'a'; 17]),
            of(&key, 10, 10, &[b'a'; 128]),
        ]
        .concat();
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count);
        // By openssl: 02020100000a0a050000000a00000006 and `orders` with ten zeros, encrypted in CBC with an IV of zeros.
        assert_eq!(of(&key, 10, 10, b"orders"), [0x767a_b6ec, 0xb8a9_09f1]);
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
        fn fractions_are_exact(divisor in divisors(), number: u64, over: u32, multiple: u64) {
            let [modulus, wide_modulus] = &[false, true].map(|is_wide| Modulus::new(divisor, is_wide));
            let edge = multiple / divisor * divisor;
            for number in [number, u64::MAX, edge, edge.wrapping_sub(1), number % divisor] {
                let remainder = modulus.value(modulus.fraction(number));
                prop_assert_eq!(remainder, number % divisor);
                prop_assert_eq!(modulus.quotient(number, remainder), number / divisor);
                let wide = u128::from(over) << 64 | u128::from(number);
                for wide in [wide, wide / u128::from(divisor) * u128::from(divisor), (1 << 96) - 1] {
                    let by = (wide % u128::from(divisor)) as u64;
                    let (high, low) = ((wide >> 32) as u64, wide as u32);
                    let narrow = high % divisor;
                    for to in [0, 1, multiple % divisor, divisor - 1] {
                        let mut sums = [wide_modulus, wide_modulus, modulus, modulus].map(|modulus| modulus.fraction(to));
                        // As often as in ten rounds.
                        for times in 1..=5 {
                            sums[0] = wide_modulus.add(sums[0], high, Some(low), 0);
                            sums[1] = wide_modulus.add(sums[1], high, Some(low), 1);
                            sums[2] = modulus.add(sums[2], high, None, 0);
                            sums[3] = modulus.add(sums[3], high, None, 1);
                            let after = [by, divisor - by, narrow, divisor - narrow]
                                .map(|each| ((u128::from(to) + u128::from(each) * times) % u128::from(divisor)) as u64);
                            prop_assert_eq!(sums.map(|sum| modulus.value(sum)), after);
                        }
                    }
                }
            }
        }
    }
}
