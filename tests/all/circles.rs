//! No files of a crate need each other in a circle: each can be understood after those that it uses.
//!
//! A file uses another one if a path in it leads there. An item that a file passes on with `pub use` counts for the file
//! that names it. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, File, ItemMod, ItemUse, Macro, Meta, UseTree, Visibility};

/// Names on the way from a crate's root, such as `["shared", "page"]`.
type Way = Vec<String>;

/// What stands in one file.
#[derive(Default)]
struct Module {
    file: PathBuf,
    children: Vec<String>,
    /// The paths in its code, as written.
    paths: Vec<Way>,
    /// The names that it passes on, and the path of each.
    passes_on: BTreeMap<String, Way>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| matches!(&it.meta, Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string().contains("test")))
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_for_tests(&item.attrs) {
            return;
        }
        match item.content {
            Some(_) => visit::visit_item_mod(self, item),
            None => self.children.push(item.ident.to_string()),
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut named = Vec::new();
        spread(&item.tree, Way::new(), &mut named);
        match item.vis {
            Visibility::Inherited => self.paths.extend(named.into_iter().map(|(_, path)| path)),
            _ => self.passes_on.extend(named),
        }
    }

    /// `pub(super)` says who may use something, and uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        // Its tokens may be anything: each word in them may be the path of what was imported.
        let words = it.tokens.to_string().replace(" :: ", "::");
        let words = words.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
        self.paths.extend(words.map(|word| word.split("::").map(str::to_string).collect()));
        visit::visit_macro(self, it);
    }
}

/// The paths of a `use`, each with the name that it brings.
fn spread(tree: &UseTree, way: Way, named: &mut Vec<(String, Way)>) {
    let on = |name: &syn::Ident| if name == "self" { way.clone() } else { [&way[..], &[name.to_string()]].concat() };
    match tree {
        UseTree::Path(it) => spread(&it.tree, [&way[..], &[it.ident.to_string()]].concat(), named),
        UseTree::Group(it) => it.items.iter().for_each(|tree| spread(tree, way.clone(), named)),
        UseTree::Name(it) => named.push((on(&it.ident).pop().unwrap(), on(&it.ident))),
        UseTree::Rename(it) => named.push((it.rename.to_string(), on(&it.ident))),
        UseTree::Glob(_) => named.push(("*".into(), way)),
    }
}

/// Reads the file of the module at `at`, and those of its children.
fn read(file: &Path, at: Way, modules: &mut BTreeMap<Way, Module>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let code: File = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut module = Module { file: file.to_path_buf(), ..Module::default() };
    module.visit_file(&code);

    let has_directory = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| file.ends_with(name));
    let directory = if has_directory { file.parent().unwrap().to_path_buf() } else { file.with_extension("") };
    for child in &module.children {
        let beside = directory.join(format!("{child}.rs"));
        let below = directory.join(child).join("mod.rs");
        read(if beside.exists() { &beside } else { &below }, [&at[..], std::slice::from_ref(child)].concat(), modules);
    }
    modules.insert(at, module);
}

/// The way from the crate's root to what `path` names in the module at `at`; None if that is of another crate, or of
/// this file.
fn resolve(path: &[String], at: &[String], modules: &BTreeMap<Way, Module>) -> Option<Way> {
    let mut way = match path[0].as_str() {
        "crate" => Way::new(),
        "self" | "super" => at.to_vec(),
        child if modules[at].children.iter().any(|it| it == child) => at.to_vec(),
        _ => return None,
    };
    for name in path {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => drop(way.pop()),
            name => way.push(name.to_string()),
        }
    }
    Some(way)
}

/// The module with the item at the end of `way`.
fn home(way: &[String], modules: &BTreeMap<Way, Module>) -> Way {
    let length = (0..=way.len()).rev().find(|&length| modules.contains_key(&way[..length])).unwrap();
    let (at, rest) = way.split_at(length);
    let passed_on = rest.first().and_then(|name| modules[at].passes_on.get(name));
    match passed_on.and_then(|path| resolve(path, at, modules)) {
        Some(elsewhere) => home(&elsewhere, modules),
        None => at.to_vec(),
    }
}

/// The modules that the one at `at` uses.
fn uses(at: &Way, modules: &BTreeMap<Way, Module>) -> BTreeSet<Way> {
    let module = &modules[at];
    // A name that it passes on may be used here as well.
    let paths = module.paths.iter().map(|path| module.passes_on.get(&path[0]).unwrap_or(path));
    let homes = paths.filter_map(|path| Some(home(&resolve(path, at, modules)?, modules)));
    homes.filter(|home| home != at).collect()
}

/// Follows the uses from `at`. `way` has the modules that led there; in the end, those of a circle if one was found.
fn finds_a_circle(at: &Way, all: &BTreeMap<Way, BTreeSet<Way>>, way: &mut Vec<Way>, done: &mut BTreeSet<Way>) -> bool {
    if let Some(first) = way.iter().position(|earlier| earlier == at) {
        way.drain(..first);
        return true;
    }
    if !done.insert(at.clone()) {
        return false;
    }
    way.push(at.clone());
    let found = all[at].iter().any(|next| finds_a_circle(next, all, way, done));
    if !found {
        way.pop();
    }
    found
}

/// The files that crates begin with, below `directory`: those beside a Cargo.toml.
fn roots(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        path.is_dir() && !path.is_symlink() && name != "target" && !name.starts_with('.')
    };
    let mut found: Vec<_> = entries.filter(is_ours).flat_map(|below| roots(&below)).collect();
    if directory.join("Cargo.toml").exists() {
        found.extend(
            ["src/lib.rs", "src/main.rs"].map(|root| directory.join(root)).into_iter().filter(|it| it.exists()),
        );
    }
    found
}

#[test]
fn no_files_need_each_other_in_a_circle() {
    let mut circles = Vec::new();
    let mut used = 0;
    for root in roots(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let mut modules = BTreeMap::new();
        read(&root, Way::new(), &mut modules);
        let all: BTreeMap<_, _> = modules.keys().map(|at| (at.clone(), uses(at, &modules))).collect();
        used += usize::from(!all.values().all(BTreeSet::is_empty));
        let mut done = BTreeSet::new();
        for at in modules.keys() {
            let mut way = Vec::new();
            if finds_a_circle(at, &all, &mut way, &mut done) {
                let files: Vec<_> = way.iter().map(|at| modules[at].file.display().to_string()).collect();
                circles.push(files.join(" -> "));
            }
        }
    }
    assert!(circles.is_empty(), "these files need each other in a circle:\n{}", circles.join("\n"));
    assert!(used >= 8, "in only {used} crates, a file was seen to use another one");
}
