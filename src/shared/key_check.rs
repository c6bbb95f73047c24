//! What tells keys and permutations apart without telling them.

use std::fmt;
use std::str::FromStr;

/// The check value of a key in a series, and the period for which that is the key.
///
/// Its first part is of the key alone: the first 24 bits of AES of a block of zeros, as banks compare keys. The second one,
/// of 32 bits, is of the key, the name of the series, the alphabet, the length and the check digit: where it is equal, so
/// are all images. Neither helps to find the key. A key that is retired hides and reveals nothing any more.
///
/// ```
/// use txid::hidden::KeyCheck;
///
/// let check: KeyCheck = "2:66e94b-767ab6ec".parse()?;
/// assert_eq!(check.to_string(), "2:66e94b-767ab6ec");
/// assert!("66e94b-767ab6ec:retired".parse::<KeyCheck>()?.is_retired());
/// # Ok::<(), txid::hidden::NoKeyCheck>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyCheck {
    period: Option<u8>,
    key: u32,
    series: u32,
    is_retired: bool,
}

const RETIRED: &str = ":retired";

/// In a word of a page, so that zeros are told from none.
const IS_THERE: u64 = 1 << 63;
const IS_RETIRED: u64 = 1 << 62;

impl KeyCheck {
    pub(crate) fn new(period: Option<u8>, key: u32, series: u32) -> Self {
        Self { period, key, series, is_retired: false }
    }

    /// The digit of the period; None of a key without one.
    pub fn period(&self) -> Option<u8> {
        self.period
    }

    /// Whether nothing may be hidden or revealed by this key any more.
    pub fn is_retired(&self) -> bool {
        self.is_retired
    }

    /// The check value after its key was retired.
    #[must_use]
    pub fn retired(self) -> Self {
        Self { is_retired: true, ..self }
    }

    /// Whether both are of one period and one key, perhaps in different series.
    pub fn has_key_of(&self, other: Self) -> bool {
        (self.period, self.key) == (other.period, other.key)
    }

    /// The place of a period among all of them.
    pub(crate) fn place_of(period: Option<u8>) -> usize {
        period.map_or(0, |period| 1 + usize::from(period))
    }

    /// All but the period, as a word of a page.
    pub(crate) fn word(&self) -> u64 {
        let retired = if self.is_retired { IS_RETIRED } else { 0 };
        IS_THERE | retired | u64::from(self.key) << 32 | u64::from(self.series)
    }

    pub(crate) fn from_word(period: Option<u8>, word: u64) -> Option<Self> {
        let is_retired = word & IS_RETIRED != 0;
        let there = Self { is_retired, ..Self::new(period, (word >> 32) as u32 & 0xff_ffff, word as u32) };
        (word & IS_THERE != 0).then_some(there)
    }
}

impl fmt::Display for KeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(period) = self.period {
            write!(f, "{period}:")?;
        }
        write!(f, "{:06x}-{:08x}{}", self.key, self.series, if self.is_retired { RETIRED } else { "" })
    }
}

/// A text that is no [`KeyCheck`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoKeyCheck(String);

impl fmt::Display for NoKeyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Somebody may have given the key itself.
        let shown = if self.0.len() <= 24 { format!("\"{}\"", self.0.escape_debug()) } else { "this".to_string() };
        write!(
            f,
            "{shown} is no check value, such as 66e94b-767ab6ec or 1:66e94b-767ab6ec: `txid key check FILE --name NAME` and the length prints those of a series"
        )
    }
}

impl std::error::Error for NoKeyCheck {}

impl FromStr for KeyCheck {
    type Err = NoKeyCheck;

    fn from_str(text: &str) -> Result<Self, NoKeyCheck> {
        let (rest, is_retired) = text.strip_suffix(RETIRED).map_or((text, false), |rest| (rest, true));
        let (period, values) = match rest.split_once(':') {
            Some((period, values)) => (Some(period), values),
            None => (None, rest),
        };
        let period = match period.map(str::as_bytes) {
            None => Some(None),
            Some([digit @ b'0'..=b'9']) => Some(Some(digit - b'0')),
            Some(_) => None,
        };
        let hex = |text: &str, length: usize| {
            let is_hex = text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            u32::from_str_radix(text, 16).ok().filter(|_| is_hex)
        };
        let values = values.split_once('-').and_then(|(key, series)| Some((hex(key, 6)?, hex(series, 8)?)));
        match (period, values) {
            (Some(period), Some((key, series))) => Ok(Self { is_retired, ..Self::new(period, key, series) }),
            _ => Err(NoKeyCheck(text.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_period_has_a_place_of_its_own() {
        let periods = ["", "0:", "1:", "9:"].map(|period| format!("{period}66e94b-767ab6ec"));
        let periods = periods.map(|text| text.parse::<KeyCheck>().unwrap().period());
        assert_eq!(periods, [None, Some(0), Some(1), Some(9)]);
        assert_eq!(periods.map(KeyCheck::place_of), [0, 1, 2, 10]);
    }

    proptest! {
        #[test]
        fn a_text_and_a_word_have_all_of_it(text in "([0-9]:)?[0-9a-f]{6}-[0-9a-f]{8}(:retired)?") {
            let check: KeyCheck = text.parse().unwrap();
            prop_assert_eq!(check.to_string(), text);
            prop_assert_eq!(KeyCheck::from_word(check.period(), check.word()), Some(check));
        }
    }

    #[test]
    fn a_key_is_the_same_in_all_its_series_and_after_it_was_retired() {
        let check = |text: &str| text.parse::<KeyCheck>().unwrap();
        let key = check("1:66e94b-767ab6ec");
        let has_key_of = |text: &str| key.has_key_of(check(text));
        assert!(has_key_of("1:66e94b-00000000") && key.has_key_of(key.retired()));
        assert!(!has_key_of("2:66e94b-767ab6ec") && !has_key_of("66e94b-767ab6ec") && !has_key_of("1:66e94c-767ab6ec"));
        assert_eq!([key, key.retired()].map(|key| key.is_retired()), [false, true]);
    }

    /// Also for an older page.
    #[test]
    fn a_word_without_its_mark_is_none() {
        for word in [0, 1 << 32 | 0x66_e94b, u64::MAX >> 1] {
            assert_eq!(KeyCheck::from_word(None, word), None);
        }
    }

    /// Each check value has one text, so that texts can be compared.
    #[test]
    fn a_check_value_has_digits_of_one_case_and_one_digit_of_a_period() {
        for wrong in [
            "",
            "66e94b",
            "66e94b-",
            "66e94-767ab6ec",
            "66e94b0-767ab6ec",
            "66e94b-767ab6e",
            "66e94b-767ab6ec0",
            "66E94B-767ab6ec",
            "66e94b-767AB6EC",
            "+6e94b-767ab6ec",
            "66e94b-+67ab6ec",
            "66e94g-767ab6ec",
            "66e9\u{e9}-767ab6ec",
            " 66e94b-767ab6ec",
            "66e94b-767ab6ec-00000000",
            "1:",
            ":66e94b-767ab6ec",
            "x:66e94b-767ab6ec",
            "10:66e94b-767ab6ec",
            "-1:66e94b-767ab6ec",
            "1:2:66e94b-767ab6ec",
            ":retired",
            "66e94b:retired",
            "66e94b-767ab6ec:Retired",
            "66e94b-767ab6ec:retired:retired",
        ] {
            assert_eq!(wrong.parse::<KeyCheck>(), Err(NoKeyCheck(wrong.to_string())));
        }
    }

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let rest = " is no check value, such as 66e94b-767ab6ec or 1:66e94b-767ab6ec: `txid key check FILE --name NAME` and the length prints those of a series";
        for (wrong, shown) in [
            ("66e94b", r#""66e94b""#),
            ("1:66e94b\n234", r#""1:66e94b\n234""#),
            ("0123456789abcdef01234567", r#""0123456789abcdef01234567""#),
            ("0123456789abcdef012345678", "this"),
            ("", r#""""#),
        ] {
            let said = wrong.parse::<KeyCheck>().unwrap_err().to_string();
            assert_eq!(said, format!("{shown}{rest}"));
        }
    }
}
