//! The text of a hidden number: the digit of a period, two halves, and a check digit.

use super::alphabet::Alphabet;
use super::hidden_error::NotRevealed;
use crate::uuid;

/// The length of the longest image: that of a UUID. A number has at most the digit of a period, 19 digits, and a check digit.
pub(super) const MAX_LEN: usize = uuid::LEN;

/// How the numbers of a series are written.
pub(super) struct Numbers {
    pub(super) alphabet: Alphabet,
    /// The lengths of an image's halves.
    pub(super) halves: [usize; 2],
    pub(super) has_check_digit: bool,
    /// The last number that has an image.
    pub(super) last: u64,
}

impl Numbers {
    pub(super) fn new(alphabet: Alphabet, length: u32) -> Self {
        let last = u128::from(alphabet.radix()).pow(length) - 1;
        Self {
            alphabet,
            halves: [length / 2, length - length / 2].map(|length| length as usize),
            has_check_digit: false,
            last: u64::try_from(last).unwrap_or(u64::MAX),
        }
    }

    /// Writes an image of which the halves are these fractions, and returns its length.
    #[inline(always)]
    pub(super) fn write(&self, period: Option<u8>, [left, right]: [u64; 2], text: &mut [u8; MAX_LEN]) -> usize {
        let mut begin = 0;
        if let Some(period) = period {
            text[0] = b'0' + period;
            begin = 1;
        }
        let middle = begin + self.halves[0];
        let mut end = middle + self.halves[1];
        self.alphabet.write(&mut text[begin..middle], left);
        self.alphabet.write(&mut text[middle..end], right);
        if self.has_check_digit {
            let values = text[..end].iter().filter_map(|character| self.alphabet.value(*character));
            text[end] = self.alphabet.character(self.alphabet.check(values));
            end += 1;
        }
        end
    }

    /// The period of an image and the values of its halves, if a key `has` one, or none.
    #[inline(always)]
    pub(super) fn read(
        &self,
        text: &[u8],
        has_keys: impl Fn(bool) -> bool,
    ) -> Result<(Option<u8>, [u64; 2]), NotRevealed> {
        let length = self.halves[0] + self.halves[1] + usize::from(self.has_check_digit);
        let has_period = text.len() > length;
        let begin = usize::from(has_period);
        if text.len() != length + begin || !has_keys(has_period) {
            return Err(NotRevealed::Length {
                found: text.len(),
                least: length + usize::from(!has_keys(false)),
                most: length + usize::from(has_keys(true)),
            });
        }
        let values = text.iter().map(|byte| self.alphabet.value(*byte));
        if let Some(place) = values.clone().position(|value| value.is_none()) {
            return Err(NotRevealed::Character { position: place + 1, byte: text[place] });
        }
        let values = values.flatten();
        if self.has_check_digit && self.alphabet.check(values.clone()) != 0 {
            return Err(NotRevealed::Check);
        }
        let period = values.clone().next().filter(|_| has_period);
        let number = |values: &mut dyn Iterator<Item = u8>| {
            values.fold(0, |number, value| number * u64::from(self.alphabet.radix()) + u64::from(value))
        };
        let mut values = values.skip(begin);
        let left = number(&mut values.by_ref().take(self.halves[0]));
        let right = number(&mut values.take(self.halves[1]));
        Ok((period, [left, right]))
    }
}
