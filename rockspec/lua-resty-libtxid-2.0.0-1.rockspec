package = "lua-resty-libtxid"
version = "2.0.0-1"
source = {
    url = "git+https://example.com/txid",
    tag = "v2.0.0",
}
description = {
    summary = "Unique, time-sortable, 20-character ids for nginx and LuaJIT",
    detailed = "Makes an id with one FFI call to libtxid, a library in Rust. Building it needs cargo.",
    homepage = "https://example.com/txid",
    license = "MIT",
}
supported_platforms = { "linux", "macosx" }
dependencies = {
    -- LuaJIT counts as Lua 5.1. LuaJIT is required.
    "lua == 5.1",
}
build = {
    type = "make",
    build_target = "build-rock",
    -- LuaRocks requires these; cargo knows the compiler's options itself.
    build_variables = { CFLAGS = "$(CFLAGS)" },
    install_target = "install-rock",
    install_variables = {
        LUA_LIB_DIR = "$(LUADIR)",
        LUA_C_DIR = "$(LIBDIR)",
    },
}
