//! How many of the traces that begin here are recorded: the consistent probability sampling of OpenTelemetry.

use crate::text::hex;
use crate::trace::TraceId;

/// A share of all traces, as the threshold of OpenTelemetry: so many of 2^56 traces are not recorded.
///
/// ```
/// use txid::request::Ratio;
///
/// let ratio = Ratio::parse(b"25%").unwrap();
/// assert_eq!(ratio.threshold(), 0xc0_0000_0000_0000);
/// assert!(ratio.keeps(0xc0_0000_0000_0000) && !ratio.keeps(0xbf_ffff_ffff_ffff));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio(u64);

impl Ratio {
    /// The length of the longest text of `write_threshold`.
    pub const MAX_LEN: usize = 14;

    /// One more than the largest random value: no trace is recorded.
    const NONE: u64 = 1 << 56;

    /// Reads a percentage such as `1%` or `0.1%`, a fraction such as `1/1000`, or `0`.
    ///
    /// ```
    /// use txid::request::Ratio;
    ///
    /// assert_eq!(Ratio::parse(b"0.1%"), Ratio::parse(b"1/1000"));
    /// assert_eq!(Ratio::parse(b"0.1"), None);
    /// ```
    pub fn parse(text: &[u8]) -> Option<Self> {
        match text {
            b"0" => Some(Self(Self::NONE)),
            [b'1', b'/', parts @ ..] => match decimal(parts)? {
                (parts @ 1.., 1) => Some(Self::of(1, parts)),
                _ => None,
            },
            [percent @ .., b'%'] => {
                let (number, one) = decimal(percent)?;
                (number <= 100 * one).then(|| Self::of(number, 100 * one))
            }
            _ => None,
        }
    }

    /// The threshold is rounded as OpenTelemetry's SDKs round it, to decide the same for each trace.
    fn of(number: i64, scale: i64) -> Self {
        let kept = number as f64 / scale as f64 * Self::NONE as f64;
        let whole = kept as i64;
        Self(Self::NONE - whole as u64 - u64::from(kept - whole as f64 >= 0.5))
    }

    /// How many of 2^56 traces are not recorded.
    pub fn threshold(self) -> u64 {
        self.0
    }

    /// The ratio with this threshold, up to 2^56.
    pub fn of_threshold(threshold: u64) -> Option<Self> {
        (threshold <= Self::NONE).then_some(Self(threshold))
    }

    /// Whether a trace with this random value of 56 bits is recorded.
    #[inline]
    pub fn keeps(self, random: u64) -> bool {
        random >= self.0
    }

    /// Writes the threshold as in `th` of OpenTelemetry's `tracestate`, in as few digits as say it, and returns their number.
    pub(super) fn write_threshold(self, text: &mut [u8; Self::MAX_LEN]) -> usize {
        text.copy_from_slice(&hex::encode_64_bits(self.0)[2..]);
        text.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1)
    }

    /// The share in millionths, rounded.
    pub(super) fn millionths(self) -> u64 {
        ((u128::from(Self::NONE - self.0) * 1_000_000 + u128::from(Self::NONE / 2)) >> 56) as u64
    }
}

/// The value that decides about a trace with a random id: its right-most seven bytes.
///
/// ```
/// use txid::{request::value_in, trace::TraceId};
///
/// assert_eq!(value_in(TraceId(u128::MAX)), 0xff_ffff_ffff_ffff);
/// ```
#[inline]
pub fn value_in(id: TraceId) -> u64 {
    id.0 as u64 & (Ratio::NONE - 1)
}

/// The value that decides about a trace whose id need not be random: the same for one id, wherever it is asked for.
///
/// ```
/// use txid::{request::random_value_of, trace::TraceId};
///
/// assert_eq!(random_value_of(TraceId(1)), random_value_of(TraceId(1)));
/// ```
pub fn random_value_of(id: TraceId) -> u64 {
    // As MurmurHash3 ends, for each half of the id.
    let mix = |word: u64| {
        let word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        word ^ word >> 33
    };
    mix(id.0 as u64 ^ mix((id.0 >> 64) as u64 ^ 0x9e37_79b9_7f4a_7c15)) >> 8
}

/// A number such as `12.5` without its point, and what 1 is: 125, and 10. At most 15 characters, which a floating-point number holds.
/// Written by hand, because each request may have a share of its own.
fn decimal(text: &[u8]) -> Option<(i64, i64)> {
    let ([b'0'..=b'9', ..], [.., b'0'..=b'9'], ..=15) = (text, text, text.len()) else { return None };
    let (mut number, mut one, mut scale) = (0, 1, 1);
    for &byte in text {
        match byte {
            b'0'..=b'9' => {
                number = 10 * number + i64::from(byte - b'0');
                one *= scale;
            }
            b'.' if scale == 1 => scale = 10,
            _ => return None,
        }
    }
    Some((number, one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str) -> Option<String> {
        let mut digits = [0; Ratio::MAX_LEN];
        let len = Ratio::parse(text.as_bytes())?.write_threshold(&mut digits);
        Some(String::from_utf8(digits[..len].to_vec()).unwrap())
    }

    #[test]
    fn thresholds_are_those_of_opentelemetrys_sdks() {
        // As calculate_threshold() of Python's SDK has them.
        for (text, expected) in [
            ("100%", "0"),
            ("100.0%", "0"),
            ("1/1", "0"),
            ("50%", "8"),
            ("1/2", "8"),
            ("25%", "c"),
            ("6.25%", "f"),
            ("1/3", "aaaaaaaaaaaaac"),
            ("10%", "e6666666666666"),
            ("1%", "fd70a3d70a3d71"),
            ("1/100", "fd70a3d70a3d71"),
            ("0.1%", "ffbe76c8b43958"),
            ("1/1000000", "ffffef39085f4a"),
            ("0.000000000001%", "fffffffffffd2f"),
            ("99.9%", "004189374bc6a8"),
        ] {
            assert_eq!(threshold(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["0", "0%", "0.000%"] {
            assert_eq!(Ratio::parse(text.as_bytes()).unwrap().threshold(), 1 << 56, "{text}");
        }
    }

    #[test]
    fn what_is_no_ratio() {
        for text in [
            "",
            "1",
            "%",
            "/",
            "1/",
            "1/0",
            "2/3",
            "-1%",
            "+1%",
            "1 %",
            "101%",
            "100.1%",
            ".5%",
            "5.%",
            "1.2.3%",
            "1e2%",
            "0.5",
            "off",
            "1/0x10",
            "1/1234567890123456",
            "1234567890123456%",
            "1.12345678901234%",
            "\u{662}%",
            "1/2%",
            "00",
        ] {
            assert_eq!(Ratio::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_share_in_millionths_is_rounded() {
        let share = |text: &str| Ratio::parse(text.as_bytes()).unwrap().millionths();
        assert_eq!(
            ["100%", "1%", "1/3", "0.00005%", "0.00004%", "0"].map(share),
            [1_000_000, 10_000, 333_333, 1, 0, 0]
        );
    }

    #[test]
    fn the_same_share_of_ids_that_count_is_kept() {
        let ratio = Ratio::parse(b"1%").unwrap();
        for shift in [0, 40, 100] {
            let kept = (1..=100_000).filter(|&number| ratio.keeps(random_value_of(TraceId(number << shift)))).count();
            // Three standard deviations are 94.
            assert!((906..=1094).contains(&kept), "{kept} of ids shifted by {shift}");
        }
        assert!((1..=100_000).all(|number| random_value_of(TraceId(number)) < 1 << 56));
    }
}
