package = "kong-plugin-txid"
version = "scm-1"
source = {
    url = "git+https://example.com/txid",
    branch = "main",
    -- Not the root, from whose directory lua/ LuaRocks would install all files.
    dir = "txid/packaging/kong",
}
description = {
    summary = "One unique, time-sortable id for each request through Kong",
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
        ["kong.plugins.txid.handler"] = "kong/plugins/txid/handler.lua",
        ["kong.plugins.txid.schema"] = "kong/plugins/txid/schema.lua",
        ["kong.plugins.txid.settings"] = "kong/plugins/txid/settings.lua",
    },
}
