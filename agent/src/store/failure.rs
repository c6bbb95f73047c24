//! Whether a failed access may still have had an effect.

use txid_agent_machines::store::{Put, StoreError};

/// Why an access failed, and whether it may still have had an effect.
pub(super) enum Failure {
    /// Nothing was done, and nothing will be.
    NotDone(StoreError),
    /// The request may have reached the store.
    Unknown(StoreError),
}

impl Failure {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::NotDone(error) | Self::Unknown(error) => error,
        }
    }

    pub(super) fn of_put(self) -> Result<Put, StoreError> {
        match self {
            Self::NotDone(error) => Err(error),
            Self::Unknown(error) => Ok(Put::Unknown(error)),
        }
    }
}
