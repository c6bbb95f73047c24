//! docs/dev/dependencies.md names exactly the crates in use. Each crate that is shipped has a licence of .cargo/deny.toml and comes
//! from the registry: also where cargo-deny is not installed.

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

/// Those that .cargo/deny.toml allows.
fn licences() -> Names {
    let text = fs::read_to_string(".cargo/deny.toml").unwrap();
    let (_, list) = text.split_once("\nallow = [\n").unwrap();
    let lines = list.lines().take_while(|line| *line != "]");
    lines.map(|line| line.trim().trim_matches(['"', ',']).to_string()).collect()
}

/// The packages of a workspace, with the dependencies in their Cargo.toml.
fn packages(manifest: &str) -> BTreeMap<String, Names> {
    let metadata: Value =
        serde_json::from_str(&cargo(manifest, &["metadata", "--no-deps", "--format-version=1"])).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_string();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|it| (name(it), it["dependencies"].as_array().unwrap().iter().map(name).collect())).collect()
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

/// A section of the page: the names in the first column of its tables, and those after "Through them:".
#[derive(Debug, Default, PartialEq)]
struct Section {
    direct: Names,
    indirect: Names,
}

fn sections() -> BTreeMap<String, Section> {
    let text = fs::read_to_string(PAGE).unwrap();
    let mut sections = BTreeMap::<_, Section>::new();
    let mut name = String::new();
    // A list may span several lines.
    for block in text.split("\n\n") {
        for line in block.lines() {
            if let Some(title) = line.strip_prefix("## `") {
                name = title.split('`').next().unwrap().to_string();
            } else if let Some(row) = line.strip_prefix("| `") {
                let (crate_name, why) = row.split_once("` | ").unwrap();
                assert!(why.len() > 7, "{PAGE} does not say why there is {crate_name}");
                sections.entry(name.clone()).or_default().direct.insert(crate_name.to_string());
            }
        }
        if let Some(list) = block.strip_prefix("Through them: ") {
            let names = list.trim_end_matches(['.', '\n']).split([',', '\n', ' ']).filter(|name| !name.is_empty());
            sections.entry(name.clone()).or_default().indirect.extend(names.map(str::to_string));
        }
    }
    sections
}

#[test]
fn the_page_names_all_dependencies_and_no_other() {
    let own: Names = WORKSPACES.iter().flat_map(|manifest| packages(manifest).into_keys()).collect();
    let in_the_library: Names = linked_with("Cargo.toml", "txid").into_iter().map(|it| it.name).collect();
    let mut documented = sections();
    for (name, direct) in WORKSPACES.iter().flat_map(|manifest| packages(manifest)) {
        let direct = &direct - &own;
        let indirect = if name == "txid" { &(&in_the_library - &direct) - &own } else { Names::new() };
        let found = documented.remove(&name).unwrap_or_default();
        assert_eq!(found.direct, direct, "{PAGE}, the table of {name}");
        let list: Vec<_> = indirect.iter().map(String::as_str).collect();
        assert_eq!(found.indirect, indirect, "{PAGE}, {name} has through them: {}", list.join(", "));
    }
    assert!(documented.is_empty(), "{PAGE} has sections of what is no package: {:?}", documented.keys());
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
