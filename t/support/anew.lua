-- Makes the request one that has neither id nor span yet.

local lib = require "resty.txid.lib"
local get_request = require("resty.core.base").get_request


return function()
    ngx.ctx = {}
    if lib.engine == "native" then
        local kept = lib.C.txid_kept_of(get_request())
        if kept ~= nil then
            kept.id.data, kept.span = nil, nil
        end
    end
end
