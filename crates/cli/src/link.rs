//! Links to a log or a store of traces, from templates.

use crate::time;
use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::path::PathBuf;
use txid_args::Inspect;

/// Where templates have a name.
const VARIABLE: &str = "TXID_LINKS";

enum Part {
    Text(String),
    Id,
    /// Which time, and how it is written.
    Time(fn(i64, i64) -> i64, Unit),
}

#[derive(Clone, Copy)]
enum Unit {
    Rfc3339,
    S,
    Ms,
    Ns,
}

/// A template, and how long its window is on both sides of an id.
pub(crate) struct Link {
    parts: Vec<Part>,
    span_ms: i64,
}

impl Link {
    /// The one that is asked for, if any.
    pub(crate) fn new(args: &Inspect) -> Result<Option<Self>> {
        let Some(url) = &args.url else { return Ok(None) };
        let template = if url.contains("://") { url.clone() } else { named(url)? };
        let parts = parts(&template).with_context(|| format!("--url '{template}'"))?;
        Ok(Some(Self { parts, span_ms: time::parse_span("--within", &args.within)? }))
    }

    /// None if the template wants a time, and there is none.
    pub(crate) fn of(&self, id: &str, ms: Option<i64>) -> Option<String> {
        let mut link = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => link += text,
                Part::Id => id.bytes().for_each(|byte| add_escaped(&mut link, byte)),
                Part::Time(which, unit) => {
                    let ms = which(ms?, self.span_ms);
                    link += &match unit {
                        Unit::Rfc3339 => time::rfc3339_of(time::timestamp(ms)?),
                        Unit::S => ms.div_euclid(1000).to_string(),
                        Unit::Ms => ms.to_string(),
                        Unit::Ns => (i128::from(ms) * 1_000_000).to_string(),
                    };
                }
            }
        }
        Some(link)
    }
}

fn add_escaped(link: &mut String, byte: u8) {
    match byte {
        b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => link.push(byte.into()),
        _ => *link += &format!("%{byte:02X}"),
    }
}

fn parts(template: &str) -> Result<Vec<Part>> {
    let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text += brace;
            rest = after;
            continue;
        }
        let name = rest.split_once('}').filter(|_| brace == "{").map(|(name, after)| {
            rest = after;
            name
        });
        let Some(part) = name.and_then(part) else {
            let what =
                name.map_or_else(|| format!("a {brace} stands alone"), |name| format!("{{{name}}} is not known"));
            bail!(
                "{what}; known are {{id}}, {{time}}, {{from}}, {{to}}, {{s}}, {{from_s}}, {{to_s}}, {{ms}}, {{from_ms}}, \
                 {{to_ms}}, {{ns}}, {{from_ns}} and {{to_ns}}; write {{{{ or }}}} for a brace"
            );
        };
        parts.push(Part::Text(std::mem::take(&mut text)));
        parts.push(part);
    }
    parts.push(Part::Text(text + rest));
    Ok(parts)
}

fn part(name: &str) -> Option<Part> {
    if name == "id" {
        return Some(Part::Id);
    }
    let (which, unit) = name.split_once('_').unwrap_or(match name {
        "from" | "to" | "time" => (name, "rfc3339"),
        unit => ("time", unit),
    });
    let unit = match unit {
        "rfc3339" if !name.contains('_') => Unit::Rfc3339,
        "s" => Unit::S,
        "ms" => Unit::Ms,
        "ns" => Unit::Ns,
        _ => return None,
    };
    Some(match which {
        "time" if !name.contains('_') => Part::Time(|ms, _| ms, unit),
        "from" => Part::Time(|ms, span| ms.saturating_sub(span), unit),
        "to" => Part::Time(|ms, span| ms.saturating_add(span), unit),
        _ => return None,
    })
}

/// The template of this name.
fn named(name: &str) -> Result<String> {
    let file = file().with_context(|| format!("--url '{name}': not a URL, and no file of links; set {VARIABLE}"))?;
    let text = fs::read_to_string(&file)
        .with_context(|| format!("--url '{name}': not a URL, and no link: {}", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let links: Vec<_> =
        lines.filter_map(|line| line.split_once('=')).map(|(key, url)| (key.trim(), url.trim())).collect();
    let found = links.iter().find(|(key, _)| *key == name).map(|(_, url)| (*url).to_string());
    found.ok_or_else(|| {
        let names = links.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
        anyhow!("--url '{name}': not a URL, and {} has only: {names}", file.display())
    })
}

fn file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = || set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    set(VARIABLE).or_else(|| Some(config()?.join("txid/links")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(template: &str, id: &str, ms: Option<i64>) -> Option<String> {
        Link { parts: parts(template).unwrap(), span_ms: 60_000 }.of(id, ms)
    }

    #[test]
    fn templates_are_filled() {
        let at = Some(1_522_545_688_552);
        for (template, expected) in [
            ("https://a/?from={from_ms}&to={to_ms}&q={id}", "https://a/?from=1522545628552&to=1522545748552&q=a%40b"),
            (
                "https://a/{time}/{from}/{to}",
                "https://a/2018-04-01T01:21:28.552Z/2018-04-01T01:20:28.552Z/2018-04-01T01:22:28.552Z",
            ),
            (
                "x://{s}/{ms}/{ns}/{from_s}/{to_ns}",
                "x://1522545688/1522545688552/1522545688552000000/1522545628/1522545748552000000",
            ),
            ("x://{{a}}/{{{ms}}}", "x://{a}/{1522545688552}"),
            ("x://{to_s}/{from_ns}", "x://1522545748/1522545628552000000"),
        ] {
            assert_eq!(link(template, "a@b", at).as_deref(), Some(expected));
        }
        assert_eq!(link("x://{id}", "aZ09-._~/ \u{e9}", at).as_deref(), Some("x://aZ09-._~%2F%20%C3%A9"));
        assert_eq!(link("x://{s}", "a", Some(-1)).as_deref(), Some("x://-1"));
        assert_eq!(link("x://{id}", "a", None).as_deref(), Some("x://a"));
        assert_eq!(link("x://{from}", "a", None), None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for template in ["x://{}", "x://{ID}", "x://{time_ms}", "x://{from_us}", "x://{from_rfc3339}"] {
            assert!(parts(template).is_err_and(|error| error.to_string().contains("known are {id}, ")), "{template}");
        }
    }
}
