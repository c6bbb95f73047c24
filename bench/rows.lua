-- The rows of the first table: the length of the string (and with it the floor that the row stands on), the name, and
-- the call, in which `m` is the module, `ms` a time in milliseconds that changes from call to call, and `i` the number
-- of the call.
--
-- A row's `module` is one of ours. Its `peer` is somebody else's: a file below the directory that PEERS names, so that
-- it may have a module's name that is also ours. `first` is done once, before the first call.
return {
    { 20, "txid()", "m()", module = "resty.txid" },
    { 20, "txid(ms)", "m(ms)", module = "resty.txid" },
    { 20, "txid() in plain LuaJIT", "m()", module = "resty.txid.pure" },
    { 20, "txid(ms) in plain LuaJIT", "m(ms)", module = "resty.txid.pure" },

    { 20, "lua-resty-txid", "m()", peer = "lua-resty-txid/lib/resty/txid.lua" },
    { 36, "lua-resty-jit-uuid v4", "m.generate_v4()", peer = "lua-resty-jit-uuid/lib/resty/jit-uuid.lua",
      first = "m.seed()" },
    { 36, "lua-resty-uuid v4", "m.generate_random()", peer = "lua-resty-uuid/lib/resty/uuid.lua" },
}
