//! Randomness that a seed reproduces.

use std::time::{SystemTime, UNIX_EPOCH};

pub fn seed() -> u64 {
    let given = std::env::var("TXID_SEED").ok().map(|seed| seed.parse().expect("TXID_SEED is a number"));
    let seed = given.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into());
    println!("TXID_SEED={seed}");
    seed
}

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// From 0 to `end` - 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From `-most` to `most`.
    pub fn around(&mut self, most: i64) -> i64 {
        self.below(2 * most as u64 + 1) as i64 - most
    }

    /// True as often as `in_a_million` times in a million.
    pub fn chance(&mut self, in_a_million: u64) -> bool {
        self.below(1_000_000) < in_a_million
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    pub fn token(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}
