//! How a new node is numbered by UidGenerator's table and by Leaf's path.

use super::address::Address;
use txid_agent_machines::store::StoreError;

pub(super) const WORKER_NODE: &str = "WORKER_NODE";

/// As in UidGenerator's mapper. Type 2 is a host, as opposed to a container.
pub(super) fn insert(name: &str, port: &str) -> String {
    format!(
        "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ({name}, {port}, 2, \
         CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
    )
}

/// The contents of the columns `HOST_NAME` and `PORT`. UidGenerator does not search them.
pub(super) fn host_and_port(owner: &str, group: &str) -> (String, String) {
    let cut = |text: &str| text.chars().take(64).collect();
    (cut(owner), cut(&format!("txid-{group}")))
}

pub(super) fn no_table(address: &Address) -> StoreError {
    address.misconfigured(
        "it has no table WORKER_NODE: name the database that UidGenerator uses, or make the table as its WORKER_NODE.sql does",
    )
}

/// The name in Leaf's path: `NAME:txid-0000000012`. Leaf reads the number after the first hyphen, so `NAME` must not
/// contain one. No Leaf server has the port `txid`, so none takes the number for its own.
pub(super) fn leaf_child(owner: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' };
    format!("{}:txid-", owner.chars().map(plain).collect::<String>())
}

/// The content, as Leaf writes and reads it.
pub(super) fn leaf_content(owner: &str, now_ms: i64) -> String {
    serde_json::json!({ "ip": owner, "port": "txid", "timestamp": now_ms }).to_string()
}

/// The number at the end of a child's name.
pub(super) fn leaf_number(child: &str) -> Option<u64> {
    child.rsplit_once('-')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a name as Leaf's SnowflakeZookeeperHolder does.
    fn as_leaf_reads(child: &str) -> (&str, i32) {
        let mut parts = child.split('-');
        (parts.next().unwrap(), parts.next().unwrap().parse().unwrap())
    }

    #[test]
    fn leaf_can_read_the_name_of_any_host() {
        for (owner, name) in [
            ("web-3", "web_3:txid"),
            ("10.0.0.7", "10.0.0.7:txid"),
            ("10.0.0.7:8080", "10.0.0.7_8080:txid"),
            ("a/b \u{e9}-", "a_b___:txid"),
        ] {
            let child = leaf_child(owner) + "0000000012";
            assert_eq!(as_leaf_reads(&child), (name, 12));
            assert_eq!(leaf_number(&child), Some(12));
        }
        assert_eq!(leaf_number("10.0.0.7:8080-0000001023"), Some(1023));
        assert_eq!(leaf_number("born"), None);
    }

    /// Leaf reads it when its server starts again.
    #[test]
    fn a_content_is_as_leafs() {
        let content = leaf_content("10.0.0.7", 1_700_000_000_000);
        assert_eq!(content, r#"{"ip":"10.0.0.7","port":"txid","timestamp":1700000000000}"#);
    }

    #[test]
    fn the_columns_have_room() {
        let (host, port) = host_and_port(&"\u{e9}".repeat(200), &"g".repeat(64));
        assert_eq!((host.chars().count(), port.chars().count()), (64, 64));
        assert_eq!(host_and_port("here", "orders"), ("here".to_owned(), "txid-orders".to_owned()));
    }
}
