package = "lua-resty-txid"
version = "scm-1"
source = {
    url = "git+https://example.com/txid",
    branch = "main",
}
description = {
    summary = "Unique, time-sortable, 20-character ids for nginx and LuaJIT",
    detailed = "Makes an id in one FFI call to libtxid, a library in Rust, which needs cargo to be built.",
    homepage = "https://example.com/txid",
    license = "MIT",
}
supported_platforms = { "linux", "macosx" }
dependencies = {
    -- Which LuaJIT is, too. It does need LuaJIT.
    "lua == 5.1",
}
build = {
    type = "make",
    build_target = "build-rock",
    -- Asked for by LuaRocks, which knows the compiler's options; cargo does, too.
    build_variables = { CFLAGS = "$(CFLAGS)" },
    install_target = "install-rock",
    install_variables = {
        LUA_LIB_DIR = "$(LUADIR)",
        LUA_C_DIR = "$(LIBDIR)",
    },
}
