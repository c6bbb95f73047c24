package = "lua-resty-libtxid"
version = "scm-1"
source = {
    url = "git+https://example.com/txid",
    branch = "main",
}
description = {
    summary = "Unique, time-sortable, 20-character ids for nginx and LuaJIT",
    detailed = "Needs no compiler, and makes ids in plain LuaJIT. With the rock libtxid, a library in Rust makes them.",
    homepage = "https://example.com/txid",
    license = "MIT",
}
supported_platforms = { "linux", "macosx" }
dependencies = {
    -- LuaJIT counts as Lua 5.1. LuaJIT is required.
    "lua == 5.1",
}
build = {
    type = "builtin",
    modules = {
        ["resty.txid"] = "lua/resty/txid.lua",
        ["resty.txid.args"] = "lua/resty/txid/args.lua",
        ["resty.txid.cdefs"] = "lua/resty/txid/cdefs.lua",
        ["resty.txid.cidr"] = "lua/resty/txid/cidr.lua",
        ["resty.txid.codec"] = "lua/resty/txid/codec.lua",
        ["resty.txid.envoy"] = "lua/resty/txid/envoy.lua",
        ["resty.txid.hidden"] = "lua/resty/txid/hidden.lua",
        ["resty.txid.inspect"] = "lua/resty/txid/inspect.lua",
        ["resty.txid.lib"] = "lua/resty/txid/lib.lua",
        ["resty.txid.maker"] = "lua/resty/txid/maker.lua",
        ["resty.txid.pure"] = "lua/resty/txid/pure.lua",
        ["resty.txid.request"] = "lua/resty/txid/request.lua",
        ["resty.txid.request.by_name"] = "lua/resty/txid/request/by_name.lua",
        ["resty.txid.request.decide"] = "lua/resty/txid/request/decide.lua",
        ["resty.txid.request.headers"] = "lua/resty/txid/request/headers.lua",
        ["resty.txid.request.kept"] = "lua/resty/txid/request/kept.lua",
        ["resty.txid.request.native"] = "lua/resty/txid/request/native.lua",
        ["resty.txid.request.open"] = "lua/resty/txid/request/open.lua",
        ["resty.txid.request.options"] = "lua/resty/txid/request/options.lua",
        ["resty.txid.request.peer"] = "lua/resty/txid/request/peer.lua",
        ["resty.txid.request.plain"] = "lua/resty/txid/request/plain.lua",
        ["resty.txid.request.rules"] = "lua/resty/txid/request/rules.lua",
        ["resty.txid.request.span_line"] = "lua/resty/txid/request/span_line.lua",
        ["resty.txid.request.store"] = "lua/resty/txid/request/store.lua",
        ["resty.txid.request.table"] = "lua/resty/txid/request/table.lua",
        ["resty.txid.request.trace"] = "lua/resty/txid/request/trace.lua",
        ["resty.txid.request.variable"] = "lua/resty/txid/request/variable.lua",
        ["resty.txid.segment"] = "lua/resty/txid/segment.lua",
        ["resty.txid.snowflake"] = "lua/resty/txid/snowflake.lua",
        ["resty.txid.text"] = "lua/resty/txid/text.lua",
        ["resty.txid.trace"] = "lua/resty/txid/trace.lua",
        ["resty.txid.uuid"] = "lua/resty/txid/uuid.lua",
    },
}
