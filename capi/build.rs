//! Link flags of the shared object.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // A reload closes the old Lua VM and with it its handle on the library, while threads' exit handlers and fork
        // handlers still point into it: once loaded, it stays.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtxid.so.2");
        // nginx loads modules with RTLD_GLOBAL: without this, the library's calls to itself could go to another copy of
        // it, in a module that was built with one, for example.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
