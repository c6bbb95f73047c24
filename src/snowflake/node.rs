//! Finds a node's number.

use super::layout::Layout;
use crate::source::host;
use crate::text::error_texts;

/// Finds the node that `from` names: a number; `env:NAME`, an environment variable with a number; `ip`, the low bits of
/// this machine's private IPv4 address; or `hostname`, the ordinal at the end of a StatefulSet pod's name (`web-12`).
///
/// ```
/// use txid::snowflake::{Layout, node};
///
/// assert_eq!(node("17", &Layout::SNOWFLAKE), Ok(17));
/// let error = node("1024", &Layout::SNOWFLAKE).unwrap_err();
/// assert_eq!(error.to_string(), "node '1024' is not an integer from 0 to 1023, the layout's range");
/// ```
pub fn node(from: &str, layout: &Layout) -> Result<u64, NodeError> {
    if let Some(name) = from.strip_prefix("env:") {
        let value = match std::env::var_os(name) {
            Some(value) => value.to_string_lossy().into_owned(),
            None => return Err(NodeError::Unset(name.to_string())),
        };
        return in_range(&value, layout, format!("{value}' of the environment variable '{name}"));
    }
    match from {
        "ip" => {
            let address = host::private_ipv4().ok_or(NodeError::NoPrivateAddress)?;
            Ok(u64::from(u32::from(address)) & layout.last_node())
        }
        "hostname" => {
            let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
            match ordinal(&name) {
                Some(ordinal) => in_range(ordinal, layout, format!("{ordinal}' of the host name '{name}")),
                None => Err(NodeError::NoOrdinal(name)),
            }
        }
        number => in_range(number, layout, number.to_string()),
    }
}

/// Reads the number in `value`, which errors show as `shown`.
fn in_range(value: &str, layout: &Layout, shown: String) -> Result<u64, NodeError> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|&number| is_number && number <= layout.last_node());
    number.ok_or(NodeError::OutOfRange { value: shown, last: layout.last_node() })
}

/// The digits after a name's last hyphen.
fn ordinal(name: &str) -> Option<&str> {
    let (_, ordinal) = name.rsplit_once('-')?;
    (!ordinal.is_empty() && ordinal.bytes().all(|byte| byte.is_ascii_digit())).then_some(ordinal)
}

/// Why no node was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeError {
    /// The value is not a number in the layout's range.
    OutOfRange {
        /// What was given.
        value: String,
        /// The highest node of the layout.
        last: u64,
    },
    /// This environment variable is not set.
    Unset(String),
    /// The host name, given here, does not end in a hyphen and a number.
    NoOrdinal(String),
    /// This machine has no private IPv4 address, apart from those of bridges.
    NoPrivateAddress,
}

error_texts! { NodeError {
    Self::OutOfRange { value, last } => "node '{value}' is not an integer from 0 to {last}, the layout's range";
    Self::Unset(name) => "node: the environment variable '{name}' is not set";
    Self::NoOrdinal(name) => "node: the host name '{name}' does not end in a hyphen and a number";
    Self::NoPrivateAddress => "node: this machine has no private IPv4 address, or only on bridges";
} }

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether this host's name has a number or not.
    #[test]
    fn the_name_of_the_host_is_not_taken_for_a_number() {
        let found = node("hostname", &Layout::SNOWFLAKE);
        assert!(!matches!(&found, Err(NodeError::OutOfRange { value, .. }) if value == "hostname"), "{found:?}");
    }

    #[test]
    fn numbers() {
        assert_eq!(node("0", &Layout::SNOWFLAKE), Ok(0));
        assert_eq!(node("1023", &Layout::SNOWFLAKE), Ok(1023));
        for wrong in ["", "1024", "-1", "+1", " 1", "1.0", "1e1", "0x1", "99999999999999999999", "ip4"] {
            let error = NodeError::OutOfRange { value: wrong.to_string(), last: 1023 };
            assert_eq!(node(wrong, &Layout::SNOWFLAKE), Err(error));
        }
    }

    #[test]
    fn the_environment() {
        // Cargo sets this one for tests: it is not a number.
        let error = node("env:CARGO_PKG_NAME", &Layout::UID).unwrap_err();
        let expected = "node 'txid' of the environment variable 'CARGO_PKG_NAME' is not an integer from 0 to 4194303, \
                        the layout's range";
        assert_eq!(error.to_string(), expected);
        assert_eq!(node("env:CARGO_PKG_VERSION_MAJOR", &Layout::UID), Ok(2));
        assert_eq!(node("env:NO_SUCH_NAME", &Layout::UID), Err(NodeError::Unset("NO_SUCH_NAME".to_string())));
    }

    #[test]
    fn a_pods_ordinal() {
        assert_eq!(ordinal("web-12"), Some("12"));
        assert_eq!(ordinal("my-web-0"), Some("0"));
        for wrong in ["web", "web-", "web-1a", "web12", "web-12-x", ""] {
            assert_eq!(ordinal(wrong), None, "{wrong}");
        }
    }
}
