//! Variables of the child's environment that contain nodes: `WORKER_ID={orders}`.

use crate::node::Node;
use std::collections::BTreeMap;
use std::ops::Range;

/// A variable, and what its value is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    value: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Bits of the node of a lease, by its name; 0 is the lowest bit.
    Bits(String, Range<u32>),
}

impl Variable {
    /// Reads `value`, which contains nodes of `nodes` in braces.
    pub fn parse(name: &str, value: &str, nodes: &[Node]) -> Result<Self, String> {
        let is_name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        if !name.bytes().all(is_name) || !name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
            return Err(format!("'{name}' is not a variable: use letters, digits and '_', not beginning with a digit"));
        }
        let value = parts(value, nodes).map_err(|why| format!("{name}={value}: {why}"))?;
        if !value.iter().any(|part| matches!(part, Part::Bits(..))) {
            let node = nodes.first().map_or("NAME", |node| &node.name);
            return Err(format!("{name} has no node in its value: write {name}={{{node}}}"));
        }
        Ok(Self { name: name.to_owned(), value })
    }

    /// The names of the nodes in it.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.value.iter().filter_map(|part| match part {
            Part::Bits(node, _) => Some(node.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The value with these nodes.
    pub fn value(&self, nodes: &BTreeMap<&str, u64>) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Bits(node, bits) => {
                let low = nodes.get(node.as_str()).map_or(0, |node| node >> bits.start);
                (low & ((1 << (bits.end - bits.start)) - 1)).to_string()
            }
        };
        self.value.iter().map(text).collect()
    }
}

/// `{{` and `}}` are braces.
fn parts(value: &str, nodes: &[Node]) -> Result<Vec<Part>, String> {
    let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), value);
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text += brace;
            rest = after;
            continue;
        }
        let (inner, after) = after
            .split_once('}')
            .filter(|_| brace == "{")
            .ok_or_else(|| format!("a '{brace}' is alone; write '{brace}{brace}' for a brace"))?;
        parts.extend((!text.is_empty()).then(|| Part::Text(std::mem::take(&mut text))));
        parts.push(bits(inner, nodes)?);
        rest = after;
    }
    text += rest;
    parts.extend((!text.is_empty()).then_some(Part::Text(text)));
    Ok(parts)
}

/// Reads what is between two braces: NAME or NAME:FROM..TO.
fn bits(inner: &str, nodes: &[Node]) -> Result<Part, String> {
    let (name, range) = inner.split_once(':').map_or((inner, None), |(name, range)| (name, Some(range)));
    let node = nodes.iter().find(|node| node.name == name).ok_or_else(|| {
        let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        format!("there is no node '{name}', only {}", known.join(", "))
    })?;
    let width = 64 - node.layout.last_node().leading_zeros();
    let Some(range) = range else { return Ok(Part::Bits(name.to_owned(), 0..width)) };
    let bits = range.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    let bits = bits.ok_or_else(|| format!("'{range}' is not a range of bits, such as {name}:0..5"))?;
    if bits.is_empty() {
        return Err(format!("{range} has no bits; the last one is not part of a range, so 0..5 are five bits"));
    }
    if bits.end > width {
        return Err(format!("{range} goes past the {width} bits of {name}, which are 0..{width}"));
    }
    Ok(Part::Bits(name.to_owned(), bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<Node> {
        [("orders", "snowflake"), ("eu.users-1", "sonyflake")]
            .map(|(name, layout)| Node::new(name, layout).unwrap())
            .to_vec()
    }

    #[test]
    fn values() {
        let numbers = BTreeMap::from([("orders", 0b10101_01100), ("eu.users-1", 65_535)]);
        for (value, wanted) in [
            ("{orders}", "684"),
            ("{orders:5..10}", "21"),
            ("{orders:0..5}", "12"),
            ("{orders:2..5}", "3"),
            ("{orders:9..10}", "1"),
            ("{eu.users-1}/{orders}", "65535/684"),
            ("-Dworker={orders} -Dx={{}}", "-Dworker=684 -Dx={}"),
            ("{{{orders}}}", "{684}"),
            ("\u{20ac}{orders}\u{20ac}", "\u{20ac}684\u{20ac}"),
        ] {
            assert_eq!(Variable::parse("A", value, &nodes()).unwrap().value(&numbers), wanted, "{value}");
        }
        let both = Variable::parse("_a1", "{orders}{eu.users-1}", &nodes()).unwrap();
        assert_eq!(both.nodes().collect::<Vec<_>>(), ["orders", "eu.users-1"]);
    }

    #[test]
    fn mistakes_are_named() {
        const ALONE: &str = "a '}' is alone; write '}}' for a brace";
        let no_bits = "has no bits; the last one is not part of a range, so 0..5 are five bits";
        for (value, wanted) in [
            ("{order}", "there is no node 'order', only orders, eu.users-1"),
            ("{}", "there is no node '', only orders, eu.users-1"),
            ("{orders", "a '{' is alone; write '{{' for a brace"),
            ("orders}", ALONE),
            ("{orders}}", ALONE),
            ("{orders:}", "'' is not a range of bits, such as orders:0..5"),
            ("{orders:5}", "'5' is not a range of bits, such as orders:0..5"),
            ("{orders:a..5}", "'a..5' is not a range of bits, such as orders:0..5"),
            ("{orders:-1..5}", "'-1..5' is not a range of bits, such as orders:0..5"),
            ("{orders:0..4294967296}", "'0..4294967296' is not a range of bits, such as orders:0..5"),
            ("{orders:5..5}", &*format!("5..5 {no_bits}")),
            ("{orders:6..5}", &*format!("6..5 {no_bits}")),
            ("{orders:0..11}", "0..11 goes past the 10 bits of orders, which are 0..10"),
            ("{eu.users-1:16..17}", "16..17 goes past the 16 bits of eu.users-1, which are 0..16"),
        ] {
            let error = Variable::parse("A", value, &nodes()).unwrap_err();
            assert_eq!(error, format!("A={value}: {wanted}"));
        }
        for value in ["17", "", "{{orders}}"] {
            let error = Variable::parse("A", value, &nodes()).unwrap_err();
            assert_eq!(error, "A has no node in its value: write A={orders}");
        }
        assert_eq!(Variable::parse("A", "", &[]).unwrap_err(), "A has no node in its value: write A={NAME}");
        for name in ["", "1A", "A-B", "A\0", "\u{c4}"] {
            let error = Variable::parse(name, "{orders}", &nodes()).unwrap_err();
            let why = "is not a variable: use letters, digits and '_', not beginning with a digit";
            assert_eq!(error, format!("'{name}' {why}"));
        }
    }
}
