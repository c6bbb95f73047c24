package = "libtxid"
version = "scm-1"
source = {
    url = "git+https://example.com/txid",
    branch = "main",
}
description = {
    summary = "The library in Rust for lua-resty-libtxid",
    detailed = "With it, an id is one FFI call, and all modules of lua-resty-libtxid work. Building it needs cargo.",
    homepage = "https://example.com/txid",
    license = "MIT",
}
supported_platforms = { "linux", "macosx" }
dependencies = {
    "lua == 5.1",
    "lua-resty-libtxid == scm",
}
build = {
    type = "make",
    build_target = "build-rock",
    -- LuaRocks requires these; cargo knows the compiler's options itself.
    build_variables = { CFLAGS = "$(CFLAGS)" },
    install_target = "install-rock",
    install_variables = {
        LUA_C_DIR = "$(LIBDIR)",
    },
}
