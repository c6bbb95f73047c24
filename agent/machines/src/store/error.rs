//! The errors of a store.

use std::fmt;

/// Why a request to a store failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreError {
    /// No server answers at the address.
    Unreachable {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What happened.
        why: String,
    },
    /// No answer came in time.
    TimedOut {
        /// The store, by its URL without the password.
        store: String,
        /// How long the wait was.
        ms: u64,
    },
    /// Another client changed the record between reading and writing it.
    Contended {
        /// The store, as its URL names it but without a password.
        store: String,
        /// The record.
        key: String,
    },
    /// The store denies this user access.
    Refused {
        /// The store, as its URL names it but without a password.
        store: String,
        /// Its message, and what to do about it.
        why: String,
    },
    /// The URL, or the configuration of the store, can never work.
    Misconfigured {
        /// The store, as its URL names it but without a password.
        store: String,
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// The store answered something that is not valid.
    Damaged {
        /// The store, as its URL names it but without a password.
        store: String,
        /// The answer.
        why: String,
    },
}

impl StoreError {
    /// Whether the error may go away by itself, so that trying again makes sense. All others need somebody's attention.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Contended { .. })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { store, why } => write!(f, "cannot reach {store}: {why}"),
            Self::TimedOut { store, ms } => write!(f, "{store} did not answer within {ms} ms"),
            Self::Contended { store, key } => write!(f, "{store}: another client changed {key} at the same moment"),
            Self::Refused { store, why } => write!(f, "{store} refused: {why}"),
            Self::Misconfigured { store, why } => write!(f, "{store} cannot be used: {why}"),
            Self::Damaged { store, why } => write!(f, "{store} gave an invalid answer: {why}"),
        }
    }
}

impl std::error::Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_somebody_must_mend() {
        let (store, why, key) = ("here".to_owned(), "why".to_owned(), "a/meta".to_owned());
        for (error, may_pass, wanted) in [
            (StoreError::Unreachable { store: store.clone(), why: why.clone() }, true, "cannot reach here: why"),
            (StoreError::TimedOut { store: store.clone(), ms: 7 }, true, "here did not answer within 7 ms"),
            (
                StoreError::Contended { store: store.clone(), key },
                true,
                "here: another client changed a/meta at the same moment",
            ),
            (StoreError::Refused { store: store.clone(), why: why.clone() }, false, "here refused: why"),
            (StoreError::Misconfigured { store: store.clone(), why: why.clone() }, false, "here cannot be used: why"),
            (StoreError::Damaged { store, why }, false, "here gave an invalid answer: why"),
        ] {
            assert_eq!((error.may_pass(), error.to_string().as_str()), (may_pass, wanted));
        }
    }
}
