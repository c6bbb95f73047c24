//! Checks what users load: `libtxid.so` as a release builds it.

#![cfg(target_os = "linux")]

use std::ffi::CStr;
use std::process::Command;
use test_helpers::library::{self, FUNCTIONS, Functions};

fn output_of(tool: &str, option: &str) -> String {
    let output = Command::new(tool).arg(option).arg("-W").arg(library::path()).output().unwrap();
    assert!(output.status.success(), "{tool} failed");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_exports_its_own_functions_only() {
    let symbols = output_of("readelf", "--dyn-syms");
    let exported: Vec<_> = symbols
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() == 8 && matches!(words[4], "GLOBAL" | "WEAK") && words[6] != "UND")
        .map(|words| words[7].to_string())
        .collect();
    assert!(exported.iter().any(|name| name == "txid_fill"), "{exported:?}");
    assert_eq!(exported.iter().filter(|name| !name.starts_with("txid_")).count(), 0, "{exported:?}");
}

#[test]
fn it_is_stripped() {
    assert!(!output_of("readelf", "--sections").contains(".symtab"));
}

#[test]
fn it_stays_loaded() {
    let dynamic = output_of("readelf", "--dynamic");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn its_soname_has_the_version_of_the_interface() {
    let dynamic = output_of("readelf", "--dynamic");
    assert!(dynamic.contains("Library soname: [libtxid.so.2]"), "{dynamic}");
}

/// Loads the library into `true` after another one that has all of its symbols and comes first in symbol lookup, as in
/// nginx with two modules that both contain libtxid.
#[test]
fn it_calls_its_own_functions_where_another_copy_is_loaded_first() {
    let directory = std::env::temp_dir().join(format!("txid-copies-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    // The names in LD_PRELOAD have no spaces.
    let [other, ours] = ["other.so", "ours.so"].map(|name| directory.join(name));
    for copy in [&other, &ours] {
        std::fs::copy(library::path(), copy).unwrap();
    }
    let preloaded = format!("{}:{}", other.display(), ours.display());
    let environment = [("LD_PRELOAD", preloaded.as_str()), ("LD_DEBUG", "bindings"), ("LD_BIND_NOW", "1")];
    let output = Command::new("true").envs(environment).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    std::fs::remove_dir_all(directory).unwrap();

    let bound_to_the_system = format!("binding file {} [0] to", ours.display());
    assert!(said.contains(&bound_to_the_system), "the library was not loaded: {said}");
    let bound: Vec<_> = said.lines().filter(|line| line.contains("symbol `txid_")).collect();
    assert!(bound.is_empty(), "{bound:?}");
}

/// nginx's master keeps a library that it has loaded. After a reload with another `lua_package_cpath` it has two, and the
/// workers of both would make the same ids.
#[test]
fn two_copies_make_no_states_in_memory() {
    let directory = std::env::temp_dir().join(format!("txid-two-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    // Whatever its file is called, and whichever version it is.
    let other = directory.join("ids.so");
    let mut bytes = std::fs::read(library::path()).unwrap();
    let at = bytes.windows(13).position(|part| part == b"libtxid.so.2\0").unwrap();
    bytes[at + 11] = b'1';
    std::fs::write(&other, bytes).unwrap();
    let open = |library: &Functions, path: &str| {
        let (mut generator, mut message) = (std::ptr::null_mut(), [0; 512]);
        // SAFETY: the texts are as long as they say, and the buffers are long enough.
        unsafe {
            let (layout, path, len) = (c"snowflake".as_ptr(), path.as_ptr().cast(), path.len());
            let code = (library.snowflake_open)(layout, 9, 17, path, len, 0, &mut generator, message.as_mut_ptr());
            (code, CStr::from_ptr(message.as_ptr()).to_string_lossy().into_owned(), generator)
        }
    };
    let in_memory = |library: &Functions| {
        let (code, why, _) = open(library, "");
        (code, why)
    };
    assert_eq!(in_memory(&FUNCTIONS), (0, String::new()));
    let second = Functions::of(&other);
    for (library, loaded_as_well) in [(&second, library::path()), (&*FUNCTIONS, &*other)] {
        let (code, why) = in_memory(library);
        let expected = format!("{} is loaded as well, and the two copies", loaded_as_well.display());
        assert!(code == -32 && why.starts_with(&expected), "{code} {why}");
    }
    // In a file, it is one state for both.
    let path = directory.join("state").into_os_string().into_string().unwrap();
    let libraries = [&second, &*FUNCTIONS].map(|library| (library.snowflake_fill, open(library, &path)));
    let mut ids = Vec::new();
    for (fill, (code, why, generator)) in libraries.iter().cycle().take(1_000) {
        assert_eq!((*code, why.as_str()), (0, ""));
        let (mut text, mut message) = ([0; 20], [0; 512]);
        // SAFETY: the generator is open, and the buffers are long enough.
        let length = unsafe { fill(*generator, 1_795_000_000_000, text.as_mut_ptr(), message.as_mut_ptr()) };
        assert!(length > 0, "{length}");
        ids.push(text);
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "an id twice");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn it_links_statically() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("now");
    library::compile("examples/c/now.c", &program);
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim().len(), 20);
}
