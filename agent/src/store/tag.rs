//! A number that a store keeps for a tag, and that ranges are taken from.

use super::address::Address;
use std::fmt;
use txid_agent_machines::store::{StoreError, Taken};

/// The number of a new tag, as in Leaf's own INSERT.
pub(super) const FIRST: u64 = 1;

/// A tag in stores without a type for it: one record that people can read.
pub(super) struct Tag {
    pub max_id: u64,
    pub step: u64,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "max_id={} step={}", self.max_id, self.step)
    }
}

impl Tag {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end();
        let (max_id, step) = text.strip_prefix("max_id=")?.split_once(" step=")?;
        Some(Self { max_id: max_id.parse().ok()?, step: step.parse().ok()? })
    }
}

pub(super) fn key(tag: &str) -> String {
    format!("{tag}/segment")
}

/// What is taken when `count` is asked for of a tag with this number and step; or why nothing is.
pub(super) fn count(number: u64, step: u64, count: Option<u64>, seen: u64) -> Result<u64, Taken> {
    let count = count.unwrap_or(step);
    if number < seen {
        Err(Taken::WentDown { number })
    } else if number.checked_add(count).is_none_or(|end| end > i64::MAX as u64) {
        Err(Taken::Ended)
    } else {
        Ok(count)
    }
}

/// The `count` numbers below `end`, if the store's numbers can be true.
pub(super) fn taken(address: &Address, tag: &str, end: u64, count: u64, step: u64) -> Result<Taken, StoreError> {
    match end.checked_sub(count).filter(|_| end <= i64::MAX as u64) {
        Some(start) => Ok(Taken::Range { range: start..end, step }),
        None => Err(address.damaged(format_args!("it took {count} numbers of {tag}, and they end at {end}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_is_what_was_asked_for_or_an_error(end: u64, count: u64, step: u64) {
            match taken(&Address::new("here".to_owned()), "a", end, count, step) {
                Ok(Taken::Range { range, .. }) => {
                    prop_assert!(range.start <= range.end && range.end - range.start == count && end <= i64::MAX as u64);
                }
                Ok(other) => prop_assert!(false, "{other:?}"),
                Err(_) => prop_assert!(count > end || end > i64::MAX as u64),
            }
        }

        #[test]
        fn a_record_is_read_back_and_any_bytes_are_one_or_none(max_id: u64, step: u64, bytes: Vec<u8>) {
            let tag = Tag::parse(Tag { max_id, step }.to_string().as_bytes()).unwrap();
            prop_assert_eq!((tag.max_id, tag.step), (max_id, step));
            let _ = Tag::parse(&bytes);
        }
    }

    #[test]
    fn what_is_taken_is_the_tags_step_unless_another_is_asked_for() {
        let end = i64::MAX as u64;
        for (number, asked, seen, wanted) in [
            (7, None, 7, Ok(20)),
            (7, Some(5), 7, Ok(5)),
            (6, None, 7, Err(Taken::WentDown { number: 6 })),
            (end - 20, None, 0, Ok(20)),
            (end - 19, None, 0, Err(Taken::Ended)),
            (u64::MAX, None, 0, Err(Taken::Ended)),
        ] {
            assert_eq!(count(number, 20, asked, seen), wanted, "{number} {asked:?} {seen}");
        }
        assert_eq!((key("a"), FIRST), ("a/segment".to_owned(), 1));
        let text = |text: &str| Tag::parse(text.as_bytes()).map(|tag| (tag.max_id, tag.step));
        assert_eq!(["max_id=7 step=20", "max_id=7 step=20\n"].map(text), [Some((7, 20)); 2]);
        assert_eq!(["max_id=7", "step=20", " max_id=7 step=20", "max_id=7  step=20"].map(text), [None; 4]);
        assert_eq!(Tag { max_id: 7, step: 20 }.to_string(), "max_id=7 step=20");
    }

    #[test]
    fn the_last_range_ends_at_the_largest_number() {
        let end = i64::MAX as u64;
        let taken = |end| taken(&Address::new("here".to_owned()), "a", end, 7, 1);
        assert!(matches!(taken(end), Ok(Taken::Range { range, step: 1 }) if range == (end - 7..end)));
        assert!(taken(end + 1).is_err());
    }

    /// As a Redis did that was none.
    #[test]
    fn more_numbers_than_there_are_below_the_end() {
        let error = taken(&Address::new("here".to_owned()), "a", 1, 100, 100).unwrap_err();
        assert_eq!(error.to_string(), "here gave an invalid answer: it took 100 numbers of a, and they end at 1");
    }
}
