//! 64-bit ids: time, node, sequence. Twitter's snowflake and its family.
//!
//! All processes of a host that share a node share a [`State`], which holds the last position used in one atomic word.
//! Nothing waits: if there is no id now, the call returns a [`Refusal`] that says why.
//!
//! ```
//! use txid::snowflake::{Generator, Layout, State};
//!
//! # let directory = std::env::temp_dir().canonicalize()?.join(format!("txid-doc-{}", std::process::id()));
//! # let path = directory.join("orders");
//! let state = State::open(&path, &Layout::SNOWFLAKE, 17)?;
//! let orders = Generator::new(state);
//! let (first, second) = (orders.generate()?, orders.generate()?);
//! assert!(first < second);
//! assert_eq!(orders.layout().decode(second).unwrap().node, 17);
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "snowflake")]
mod generator;
#[cfg(feature = "snowflake")]
mod header;
mod layout;
#[cfg(feature = "snowflake")]
mod lease;
#[cfg(feature = "snowflake")]
mod node;
mod refusal;
#[cfg(feature = "snowflake")]
mod state;
#[cfg(feature = "snowflake")]
mod state_error;
#[cfg(feature = "snowflake")]
mod step;

#[cfg(feature = "snowflake")]
pub use generator::{Generator, MAX_DRIFT_MS, Stats};
pub use layout::{Ending, Layout, LayoutError, Order, Parts};
#[cfg(feature = "snowflake")]
pub use lease::{LeasePage, LeaseView};
#[cfg(feature = "snowflake")]
pub use node::{NodeError, node};
pub use refusal::{LeaseNews, Refusal, Unleased};
#[cfg(feature = "snowflake")]
pub use state::State;
#[cfg(feature = "snowflake")]
pub use state_error::StateError;

#[cfg(all(test, loom))]
mod tests {
    mod every_order;
}
