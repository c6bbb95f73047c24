//! Link flags of the shared object.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Keep the library loaded: a reload of nginx closes the old Lua VM, and with it the library's handle, while exit
        // handlers of threads and fork handlers still point into it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtxid.so.2");
        // Bind the library's calls to itself: nginx loads modules with RTLD_GLOBAL, and one of them may contain another
        // copy of the library.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    }
}
