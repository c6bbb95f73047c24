//! `libtxid.so` as a release builds it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    // It is the library that is built with the command, which a test of dependencies checks.
    let arguments = ["build", "--locked", "--release", "--package", "txid-capi"];
    let mut build = Command::new(env!("CARGO"));
    // As `make build` does. Otherwise its size depends on how long this machine's paths are.
    build.args(arguments).current_dir(&root).env("RUSTC_WRAPPER", root.join("scripts/rustc.sh"));
    assert!(build.status().unwrap().success());
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("release/libtxid.so")
});

/// The path of the library, rebuilt if necessary.
pub fn path() -> &'static Path {
    &LIBRARY
}

/// A txid_text.
#[repr(C)]
pub struct Text {
    len: usize,
    data: *const u8,
}

impl Text {
    pub fn of(text: &'static str) -> Self {
        Self { len: text.len(), data: text.as_ptr() }
    }
}

pub type Fill = unsafe extern "C" fn(*mut c_char, i64);

type SnowflakeOpen =
    unsafe extern "C" fn(*const c_char, usize, i64, *const c_char, usize, u64, *mut *mut c_void, *mut c_char) -> i32;

/// Functions of the library, with the signatures of include/txid.h.
#[repr(C)]
pub struct Functions {
    pub fill: Fill,
    pub fill_now: Fill,
    /// An argument more than it has does no harm.
    pub maker_open: unsafe extern "C" fn(*const Text, usize, bool, *mut *mut c_void, *mut c_char) -> i32,
    pub maker_fill: unsafe extern "C" fn(*const c_void, i64, *mut c_char, *mut bool, *mut c_char) -> i32,
    pub snowflake_open: SnowflakeOpen,
    pub snowflake_fill: unsafe extern "C" fn(*const c_void, i64, *mut c_char, *mut c_char) -> i32,
}

impl Functions {
    /// Those of this library, or of a copy of it, which stays loaded.
    pub fn of(library: &Path) -> Self {
        let path = CString::new(library.as_os_str().as_bytes()).unwrap();
        // SAFETY: the library's initializers are Rust's own.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null(), "{path:?}");
        let symbol = |name: &CStr| {
            // SAFETY: the handle is never closed.
            let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
            assert!(!symbol.is_null(), "{name:?}");
            symbol
        };
        let all = [
            c"txid_fill",
            c"txid_fill_now",
            c"txid_maker_open",
            c"txid_maker_fill",
            c"txid_snowflake_open",
            c"txid_snowflake_fill",
        ];
        // SAFETY: they have these signatures, in the order of the fields.
        unsafe { std::mem::transmute::<[*mut c_void; 6], Self>(all.map(symbol)) }
    }
}

pub static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| Functions::of(path()));

/// Compiles a C program, whose path is below the checkout, with the static library.
pub fn compile(source: &str, program: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
        .arg(root.join(source))
        .arg("-I")
        .arg(root.join("include"))
        .arg(path().with_extension("a"))
        .args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-o"])
        .arg(program)
        .status();
    assert!(compiled.unwrap().success());
}

/// The minor version of the compiler, such as 95 of 1.95.0.
pub fn rust_minor() -> u32 {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or_else(|| panic!("rustc is {version:?}"))
}
