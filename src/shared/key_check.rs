//! What tells keys apart without telling them.

use std::fmt;
use std::str::FromStr;

/// The check value of a key, and the period for which that is the key: the first 24 bits of AES of a block of zeros, as
/// banks compare keys. It does not help to find the key.
///
/// ```
/// use txid::hidden::KeyCheck;
///
/// let check: KeyCheck = "2:66e94b".parse()?;
/// assert_eq!(check.to_string(), "2:66e94b");
/// assert_eq!("66e94b".parse::<KeyCheck>()?.to_string(), "66e94b");
/// # Ok::<(), txid::hidden::NoKeyCheck>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyCheck {
    period: Option<u8>,
    value: u32,
}

impl KeyCheck {
    pub(crate) fn new(period: Option<u8>, value: u32) -> Self {
        Self { period, value }
    }

    /// The digit of the period; None of a key without one.
    pub fn period(&self) -> Option<u8> {
        self.period
    }

    /// The place of a period among all of them.
    pub(crate) fn place_of(period: Option<u8>) -> usize {
        period.map_or(0, |period| 1 + usize::from(period))
    }

    pub(crate) fn value(&self) -> u32 {
        self.value
    }
}

impl fmt::Display for KeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(period) = self.period {
            write!(f, "{period}:")?;
        }
        write!(f, "{:06x}", self.value)
    }
}

/// A text that is no [`KeyCheck`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoKeyCheck(String);

impl fmt::Display for NoKeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Somebody may have given the key itself.
        let shown = if self.0.len() <= 12 { format!("\"{}\"", self.0.escape_debug()) } else { "this".to_string() };
        write!(
            f,
            "{shown} is no check value of a key, such as 66e94b or 1:66e94b: `txid key FILE` prints those of a file"
        )
    }
}

impl std::error::Error for NoKeyCheck {}

impl FromStr for KeyCheck {
    type Err = NoKeyCheck;

    fn from_str(text: &str) -> Result<Self, NoKeyCheck> {
        let (period, value) = match text.split_once(':') {
            Some((period, value)) => (Some(period), value),
            None => (None, text),
        };
        let is_hex = value.len() == 6 && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let period = match period.map(str::as_bytes) {
            None => Some(None),
            Some([digit @ b'0'..=b'9']) => Some(Some(digit - b'0')),
            Some(_) => None,
        };
        match (period, u32::from_str_radix(value, 16)) {
            (Some(period), Ok(value)) if is_hex => Ok(Self { period, value }),
            _ => Err(NoKeyCheck(text.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_has_a_place_of_its_own() {
        let periods =
            ["66e94b", "0:66e94b", "1:66e94b", "9:66e94b"].map(|text| text.parse::<KeyCheck>().unwrap().period());
        assert_eq!(periods, [None, Some(0), Some(1), Some(9)]);
        assert_eq!(periods.map(KeyCheck::place_of), [0, 1, 2, 10]);
    }

    /// Each check value has one text, so that texts can be compared.
    #[test]
    fn a_check_value_has_six_digits_of_one_case_and_one_digit_of_a_period() {
        for wrong in [
            "",
            "66e94",
            "66e94b0",
            "0066e94b",
            "66E94B",
            "+6e94b",
            "66e94g",
            "66e9\u{e9}",
            " 66e94b",
            "1:",
            "1:66e94",
            "1:66E94B",
            ":66e94b",
            "x:66e94b",
            "10:66e94b",
            "-1:66e94b",
            "1:2:66e94b",
        ] {
            assert_eq!(wrong.parse::<KeyCheck>(), Err(NoKeyCheck(wrong.to_string())));
        }
    }

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let rest = " is no check value of a key, such as 66e94b or 1:66e94b: `txid key FILE` prints those of a file";
        for (wrong, shown) in
            [("66e94", r#""66e94""#), ("1:66e94b\n234", r#""1:66e94b\n234""#), ("0123456789abc", "this"), ("", r#""""#)]
        {
            let said = wrong.parse::<KeyCheck>().unwrap_err().to_string();
            assert_eq!(said, format!("{shown}{rest}"));
        }
    }
}
