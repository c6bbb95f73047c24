package = "apisix-plugin-txid"
version = "scm-1"
source = {
    url = "git+https://example.com/txid",
    branch = "main",
    -- Not the root, from whose directory lua/ LuaRocks would install all files.
    dir = "txid/packaging/apisix",
}
description = {
    summary = "One unique, time-sortable id for each request through APISIX",
    homepage = "https://example.com/txid",
    license = "MIT",
}
supported_platforms = { "linux", "macosx" }
dependencies = {
    "lua == 5.1",
    "lua-resty-libtxid == scm",
}
build = {
    type = "builtin",
    modules = {
        ["apisix.plugins.txid"] = "apisix/plugins/txid.lua",
    },
}
