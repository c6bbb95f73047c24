//! Each dependency has its reason beside it. Each crate that is shipped has a licence of .cargo/deny.toml and comes from the registry: also
//! where cargo-deny is not installed.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

const WORKSPACES: [&str; 2] = ["Cargo.toml", "agent/Cargo.toml"];
const PAGE: &str = "docs/dev/dependencies.md";

/// Crates with a licence file that Cargo cannot name; read on 2026-11-21.
const WITH_A_LICENCE_FILE: [(&str, &str); 1] = [("webpki", "ISC")];

type Names = BTreeSet<String>;

fn cargo(manifest: &str, args: &[&str]) -> String {
    let said = Command::new(env!("CARGO")).args(args).args(["--locked", "--manifest-path", manifest]).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}

/// The licences that .cargo/deny.toml allows.
fn licences() -> Names {
    let text = fs::read_to_string(".cargo/deny.toml").unwrap();
    let (_, list) = text.split_once("\nallow = [\n").unwrap();
    let lines = list.lines().take_while(|line| *line != "]");
    lines.map(|line| line.trim().trim_matches(['"', ',']).to_string()).collect()
}

/// The packages of a workspace, with their Cargo.toml.
fn packages(manifest: &str) -> BTreeMap<String, String> {
    let metadata: Value =
        serde_json::from_str(&cargo(manifest, &["metadata", "--no-deps", "--format-version=1"])).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    metadata["packages"].as_array().unwrap().iter().map(|it| (text(&it["name"]), text(&it["manifest_path"]))).collect()
}

/// A crate that is linked into something of ours on a machine like this one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Linked {
    name: String,
    /// Its version, and its source if that is not the registry.
    version: String,
    licence: String,
}

fn linked_with(manifest: &str, package: &str) -> BTreeSet<Linked> {
    let tree = cargo(manifest, &["tree", "--package", package, "--edges=normal", "--prefix=none", "--format={p}|{l}"]);
    let parts = |line: &str| -> Option<Linked> {
        let (id, licence) = line.split_once('|')?;
        let (name, version) = id.split_once(' ')?;
        Some(Linked { name: name.into(), version: version.into(), licence: licence.trim_end_matches(" (*)").into() })
    };
    tree.lines().filter_map(parts).collect()
}

#[test]
fn each_dependency_has_its_reason_beside_it() {
    let mut count = 0;
    for manifest in WORKSPACES.iter().flat_map(|manifest| packages(manifest).into_values()) {
        let text = fs::read_to_string(&manifest).unwrap();
        let mut is_list = false;
        for line in text.lines() {
            if line.starts_with('[') {
                is_list = line.ends_with("dependencies]");
                continue;
            }
            if is_list && line.contains(" = ") && !line.starts_with('#') && !line.contains("path = ") {
                let why = line.split_once("  # ").map_or("", |(_, why)| why);
                assert!(why.len() > 3, "{manifest} does not say why: {line}");
                count += 1;
            }
        }
    }
    assert!(count > 70, "{count} dependencies");
}

#[test]
fn the_page_names_what_the_library_links() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, list) = page.split_once("with its own crates: ").unwrap();
    let listed: Names = list.split_once('.').unwrap().0.split(',').map(|name| name.trim().to_string()).collect();
    let own = packages("Cargo.toml");
    let linked =
        linked_with("Cargo.toml", "txid-capi").into_iter().map(|it| it.name).filter(|name| !own.contains_key(name));
    assert_eq!(listed, linked.collect(), "{PAGE}");
}

/// Crates that are linked with these packages when they are built together, each with its features.
fn features_in(packages: &[&str]) -> Names {
    let mut args = vec!["tree", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p} {f}"];
    args.extend(packages.iter().flat_map(|package| ["--package", package]));
    cargo("Cargo.toml", &args).lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_string()).collect()
}

/// Cargo builds a crate with the features that all packages of a build ask for.
#[test]
fn the_library_is_the_same_without_the_command() {
    let (alone, with_command) = (features_in(&["txid-capi"]), features_in(&["txid", "txid-capi", "txid-cli"]));
    assert_eq!(
        &alone - &with_command,
        Names::new(),
        "ask for the features of {with_command:?} in crates/capi/Cargo.toml"
    );
}

#[test]
fn what_is_shipped_is_free_and_from_the_registry() {
    let licences = licences();
    assert!(licences.contains("MIT"), ".cargo/deny.toml allows {licences:?}");
    let own = WORKSPACES.map(|manifest| (manifest, packages(manifest)));
    let is_own = |name: &String| own.iter().any(|(_, packages)| packages.contains_key(name));
    let all = own.iter().flat_map(|(manifest, packages)| packages.keys().map(|package| (*manifest, package.clone())));
    for it in all.flat_map(|(manifest, package)| linked_with(manifest, &package)).filter(|it| !is_own(&it.name)) {
        let of_file = WITH_A_LICENCE_FILE.iter().find(|(name, _)| it.licence.is_empty() && *name == it.name);
        let licence = of_file.map_or(it.licence.as_str(), |(_, licence)| licence).replace('/', " OR ");
        // All parts of it, and of each part one alternative.
        let is_free = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(|choice| licences.contains(choice.trim_matches(['(', ')']))));
        assert!(is_free, "{} has the licence '{}'", it.name, it.licence);
        let version = it.version.trim_end_matches(" (proc-macro)");
        assert!(!version.contains(['(', '/']), "{} is not from the registry: {version}", it.name);
    }
}
