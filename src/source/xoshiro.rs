//! xoshiro256++, by David Blackman and Sebastiano Vigna.
//!
//! Written out here because a thread's state has to be a constant to begin with, and to have more mixed in at any time;
//! `rand_xoshiro` has neither.

/// All zeros is what nothing was mixed into yet, and gives nothing but zeros.
pub(crate) struct Xoshiro([u64; 4]);

impl Xoshiro {
    pub(crate) const ZEROS: Self = Self([0; 4]);

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.0;
        let (t2, t3) = (s2 ^ s0, s3 ^ s1);
        self.0 = [s0 ^ t3, s1 ^ t2, t2 ^ s1 << 17, t3.rotate_left(45)];
        s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0)
    }

    /// Mixes `fresh` into what there is: however little is in it, nothing is taken away.
    pub(crate) fn mix(&mut self, fresh: [u64; 4]) {
        self.0.iter_mut().zip(fresh).for_each(|(word, fresh)| *word ^= fresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn the_numbers_are_those_of_rand_xoshiro() {
        let words = [0x0123_4567_89ab_cdef, 7, u64::MAX, 0x0f0f_f0f0_1234_8765];
        let mut seed = [0; 32];
        seed.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
        let mut theirs = Xoshiro256PlusPlus::from_seed(seed);
        let mut ours = Xoshiro::ZEROS;
        ours.mix(words);
        for _ in 0..1000 {
            assert_eq!(ours.next(), theirs.next_u64());
        }
    }

    #[test]
    fn what_is_mixed_in_shows_at_once() {
        for place in 0..256 {
            let mut seed = [1, 2, 3, 4];
            let mut one = Xoshiro(seed);
            seed[place / 64] ^= 1 << (place % 64);
            let mut other = Xoshiro([1, 2, 3, 4]);
            let mut difference = [0; 4];
            difference[place / 64] = 1 << (place % 64);
            other.mix(difference);
            one.mix([0; 4]);
            assert_eq!(Xoshiro(seed).next(), other.next());
            // The first and the last word make the next number, the others the ones after it.
            let differs = (0..3).any(|_| one.next() != other.next());
            assert!(differs, "bit {place}");
        }
    }
}
