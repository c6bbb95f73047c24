//! Numbers of more than 128 bits.

/// A number of up to 192 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) high: u64,
    pub(crate) low: u128,
}

impl Wide {
    pub(crate) const fn of(low: u128) -> Self {
        Self { high: 0, low }
    }

    /// The `width` bits of which the lowest has `at` below it.
    pub(crate) const fn bits(self, at: u32, width: u32) -> u128 {
        // Few numbers have more than 128 bits.
        let shifted = if self.high == 0 && at < u128::BITS { self.low >> at } else { self.shifted_down(at).low };
        if width >= u128::BITS { shifted } else { shifted & ((1 << width) - 1) }
    }

    pub(crate) const fn shifted_down(self, by: u32) -> Self {
        match by {
            0 => self,
            1..128 => {
                Self { high: if by < 64 { self.high >> by } else { 0 }, low: self.low >> by | shl(self.high, 128 - by) }
            }
            _ => Self::of((self.high >> (by - 128)) as u128),
        }
    }

    pub(crate) const fn shifted_up(self, by: u32) -> Self {
        match by {
            0 => self,
            1..64 => Self { high: self.high << by | (self.low >> (128 - by)) as u64, low: self.low << by },
            64..128 => Self { high: (self.low >> (128 - by)) as u64, low: self.low << by },
            _ => Self { high: (self.low << (by - 128)) as u64, low: 0 },
        }
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self { high: self.high | other.high, low: self.low | other.low }
    }

    /// This many ones.
    pub(crate) const fn ones(width: u32) -> Self {
        match width {
            0 => Self::of(0),
            1..=128 => Self::of(u128::MAX >> (128 - width)),
            _ => Self { high: u64::MAX >> (192 - width), low: u128::MAX },
        }
    }

    /// None if the result has more than 192 bits.
    pub(super) fn times_plus(self, factor: u64, added: u64) -> Option<Self> {
        let low = u128::from(self.low as u64) * u128::from(factor) + u128::from(added);
        let middle = (self.low >> 64) * u128::from(factor) + (low >> 64);
        let high = u128::from(self.high) * u128::from(factor) + (middle >> 64);
        let high = u64::try_from(high).ok()?;
        Some(Self { high, low: middle << 64 | u128::from(low as u64) })
    }

    /// The quotient, and the rest.
    pub(super) fn divided_by(self, divisor: u64) -> (Self, u64) {
        if self.high == 0 {
            let divisor = u128::from(divisor);
            return (Self::of(self.low / divisor), (self.low % divisor) as u64);
        }
        let (mut quotient, mut rest) = ([0_u64; 3], 0_u64);
        for (word, place) in [self.high, (self.low >> 64) as u64, self.low as u64].into_iter().zip(&mut quotient) {
            let sum = u128::from(rest) << 64 | u128::from(word);
            (*place, rest) = ((sum / u128::from(divisor)) as u64, (sum % u128::from(divisor)) as u64);
        }
        let [high, middle, low] = quotient;
        (Self { high, low: u128::from(middle) << 64 | u128::from(low) }, rest)
    }
}

/// `bits << by`, where `by` may be 64 or more.
const fn shl(bits: u64, by: u32) -> u128 {
    (bits as u128) << by
}
