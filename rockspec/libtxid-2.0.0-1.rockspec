package = "libtxid"
version = "2.0.0-1"
source = {
    url = "git+https://example.com/txid",
    tag = "v2.0.0",
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
    "lua-resty-libtxid == 2.0.0",
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
