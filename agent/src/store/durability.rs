//! Whether a store keeps the writes that it has confirmed.

/// The answer, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The store was not asked yet.
    Unknown,
    /// It keeps them.
    Durable,
    /// It can lose one.
    MayLose {
        /// The setting, or the kind of servers.
        why: String,
    },
    /// The URL says whether it can.
    Said {
        /// As in the URL.
        may_lose: bool,
    },
}

impl Durability {
    pub(super) fn may_lose(why: &str) -> Self {
        Self::MayLose { why: why.to_owned() }
    }

    /// Takes over the word of a server, unless the URL has the last word.
    pub(super) fn learn(&mut self, told: Self) {
        if !matches!(self, Self::Said { .. }) {
            *self = told;
        }
    }

    /// Whether a confirmed write can be lost, for all that is known.
    pub fn may_lose_writes(&self) -> bool {
        match self {
            Self::Durable | Self::Said { may_lose: false } => false,
            Self::Unknown | Self::MayLose { .. } | Self::Said { may_lose: true } => true,
        }
    }

    /// How a confirmed write can be lost, if the store was asked.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::MayLose { why } => Some(why),
            Self::Unknown | Self::Durable | Self::Said { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_said_nothing_may_lose_writes() {
        assert!(Durability::Unknown.may_lose_writes() && Durability::may_lose("why").may_lose_writes());
        assert!(!Durability::Durable.may_lose_writes());
        let said = |may_lose| Durability::Said { may_lose };
        assert!(said(true).may_lose_writes() && !said(false).may_lose_writes());
        let whys = [Durability::Unknown, Durability::Durable, said(true), Durability::may_lose("why")];
        assert_eq!(whys.each_ref().map(Durability::why), [None, None, None, Some("why")]);
        // The URL has the last word.
        let learned = whys.map(|mut known| {
            known.learn(Durability::Durable);
            known
        });
        use Durability::Durable;
        assert_eq!(learned, [Durable, Durable, said(true), Durable]);
    }
}
