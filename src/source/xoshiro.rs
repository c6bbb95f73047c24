//! rand_xoshiro's generator, extended by a constant initial value and a way to mix in more randomness.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// None until something is mixed in.
pub(crate) struct Xoshiro(Option<Xoshiro256PlusPlus>);

impl Xoshiro {
    pub(crate) const UNSEEDED: Self = Self(None);

    /// The next number; zeros while nothing has been mixed in.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.as_mut().map_or(0, Rng::next_u64)
    }

    /// As [`Xoshiro::next`], without checking that anything was mixed in.
    ///
    /// # Safety
    ///
    /// Something must have been mixed in.
    #[inline(always)]
    pub(crate) unsafe fn next_seeded(&mut self) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_mut().unwrap_unchecked() }.next_u64()
    }

    /// Mixes `fresh` into the state. Existing randomness is kept, however little `fresh` contains.
    pub(crate) fn mix(&mut self, fresh: [u64; 4]) {
        let mut seed = [0; 32];
        for (bytes, fresh) in seed.chunks_exact_mut(8).zip(fresh) {
            bytes.copy_from_slice(&(self.next() ^ fresh).to_le_bytes());
        }
        self.0 = Some(Xoshiro256PlusPlus::from_seed(seed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mixed_in_shows_and_takes_nothing_away() {
        let seeded = || {
            let mut xoshiro = Xoshiro::UNSEEDED;
            xoshiro.mix([1, 2, 3, 4]);
            xoshiro
        };
        let numbers = |mut xoshiro: Xoshiro| [0; 4].map(|_: u64| xoshiro.next());
        assert_eq!(numbers(Xoshiro::UNSEEDED), [0; 4]);
        assert_eq!(numbers(seeded()), numbers(seeded()));
        for place in 0..256 {
            let mut fresh = [0; 4];
            fresh[place / 64] = 1 << (place % 64);
            let (mut mixed, mut unseeded) = (seeded(), Xoshiro::UNSEEDED);
            mixed.mix(fresh);
            unseeded.mix(fresh);
            let mixed = numbers(mixed);
            assert_ne!(mixed, numbers(seeded()), "bit {place} does not show");
            assert_ne!(mixed, numbers(unseeded), "bit {place} replaced what there was");
        }
    }
}
