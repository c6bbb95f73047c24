//! How times and records are written in a scenario.

use txid_agent_machines::lease::{Group, NodeRecord};

/// When a scenario begins: 2026-11-18.
pub const START_MS: i64 = 1_795_000_000_000;

/// `+60s`, `-10m`, `+1ms`: a time after or before the start, in milliseconds since 1970-01-01 UTC.
pub fn time(text: &str) -> Option<i64> {
    let ms = duration(text.strip_prefix(['+', '-'])?)? as i64;
    Some(START_MS + if text.starts_with('-') { -ms } else { ms })
}

/// `10s`, `3m`, `500ms`, in milliseconds.
pub fn duration(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "ms" => Some(number),
        "s" => Some(1000 * number),
        "m" => Some(60_000 * number),
        "h" => Some(3_600_000 * number),
        _ => None,
    }
}

/// A time as seconds from the start.
pub fn shown(ms: i64) -> String {
    match ms {
        i64::MAX => "unset".to_owned(),
        i64::MIN => "none".to_owned(),
        // A time since 1970 itself, such as the floor of a new group.
        0 => "0".to_owned(),
        _ => format!("{:+.3}s", (ms - START_MS) as f64 / 1000.0),
    }
}

/// The record that a scenario writes as `floor=0`, with `layout=uid` if it has another one, as
/// `generation=9 limit=-10m token=1 held owner=web-2`, or as `unreadable`.
pub fn record(fields: &[&str], layout: &str) -> Option<String> {
    if fields == ["unreadable"] {
        return Some("of a later version".to_owned());
    }
    if let [floor, layout] = fields {
        return record(&[floor], layout.strip_prefix("layout=")?);
    }
    if let [floor] = fields {
        let floor = floor.strip_prefix("floor=")?;
        let floor_ms = if floor == "0" { 0 } else { time(floor)? };
        return Some(Group { floor_ms, made_ms: START_MS, id: 1, layout: layout.to_owned() }.to_string());
    }
    let [generation, limit, token, held, owner] = fields else { return None };
    let record = NodeRecord {
        generation: generation.strip_prefix("generation=")?.parse().ok()?,
        limit_ms: time(limit.strip_prefix("limit=")?)?,
        token: token.strip_prefix("token=")?.parse().ok()?,
        held: *held == "held",
        owner: owner.strip_prefix("owner=")?.to_owned(),
    };
    Some(record.to_string())
}

/// A record as a scenario shows it.
pub fn shown_record(bytes: &[u8]) -> String {
    if let Ok(group) = Group::parse(bytes) {
        return format!("floor={}", shown(group.floor_ms));
    }
    match NodeRecord::parse(bytes) {
        Ok(NodeRecord { generation, limit_ms, token, held, owner }) => {
            let held = if held { "held" } else { "released" };
            format!("generation={generation} limit={} token={token} {held} owner={owner}", shown(limit_ms))
        }
        Err(_) => bytes.escape_ascii().to_string(),
    }
}
