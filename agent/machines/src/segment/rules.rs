//! How many numbers are taken at a time, by Leaf's rules.

/// A range that lasted less than this was too short.
const SHORT_MS: i64 = 15 * 60 * 1000;
/// A range that lasted longer than this was too long.
const LONG_MS: i64 = 30 * 60 * 1000;

/// The parameters of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The tag.
    pub tag: String,
    /// The least to take at a time, instead of the tag's own step.
    pub step: Option<u64>,
    /// The most to take at a time, unless the tag's own step is larger.
    pub max_step: u64,
    /// Whether a missing tag is made.
    pub create: bool,
    /// How long to wait after a failure, at first and at most, in milliseconds.
    pub retry_ms: (u64, u64),
    /// The shortest and the longest interval between two checks, in milliseconds.
    pub look_ms: (u64, u64),
}

impl Rules {
    /// Leaf's rules.
    pub fn new(tag: &str) -> Self {
        Self {
            tag: tag.to_owned(),
            step: None,
            max_step: 1_000_000,
            create: false,
            retry_ms: (100, 5_000),
            look_ms: (1, 100),
        }
    }

    /// How many numbers to take after a range of `step` numbers that lasts `lasts_ms`. `own` is the tag's own step.
    pub(super) fn next_step(&self, step: u64, own: u64, lasts_ms: i64) -> u64 {
        let own = self.step.unwrap_or(own);
        let wanted = if lasts_ms < SHORT_MS {
            step.saturating_mul(2)
        } else if lasts_ms > LONG_MS {
            step / 2
        } else {
            step
        };
        wanted.min(self.max_step).max(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60 * 1000;

    #[test]
    fn leafs_rules() {
        let rules = Rules::new("a");
        assert_eq!((&*rules.tag, rules.step, rules.create), ("a", None, false));
        assert_eq!((rules.max_step, rules.retry_ms, rules.look_ms), (1_000_000, (100, 5_000), (1, 100)));
    }

    #[test]
    fn a_short_range_doubles_the_step_and_a_long_one_halves_it() {
        let rules = Rules::new("a");
        assert_eq!(rules.next_step(4000, 1000, 15 * MINUTE - 1), 8000);
        assert_eq!(rules.next_step(4000, 1000, 15 * MINUTE), 4000);
        assert_eq!(rules.next_step(4000, 1000, 30 * MINUTE), 4000);
        assert_eq!(rules.next_step(4000, 1000, 30 * MINUTE + 1), 2000);
    }

    #[test]
    fn the_step_stays_between_the_tags_own_and_the_largest() {
        let mut rules = Rules::new("a");
        assert_eq!(rules.next_step(800_000, 1000, 0), 1_000_000);
        assert_eq!(rules.next_step(1500, 1000, 60 * MINUTE), 1000);
        assert_eq!(rules.next_step(3_000_000, 3_000_000, 0), 3_000_000, "the tag's own may be more");
        assert_eq!(rules.next_step(100, 1000, 20 * MINUTE), 1000, "the tag's own was raised");
        rules.step = Some(50);
        assert_eq!(rules.next_step(100, 1000, 60 * MINUTE), 50);
    }
}
