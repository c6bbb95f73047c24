-- A Kong plugin that gives each request its id, for Kong 3.5 and later. Put the directory that holds kong/ on
-- KONG_LUA_PACKAGE_PATH ("DIRECTORY/?.lua;;"), set KONG_PLUGINS to "bundled,txid", and enable it globally.
-- docs/quick-start-kong.md says how the access log and the error log get the id.

local request = require "resty.txid.request"


local Txid = {
    -- Before all of Kong's own plugins, so that each of them finds the id.
    PRIORITY = 1000000000,
    VERSION = "2.0.0",
}


-- Kong calls this in each worker, at the start and after a change. The settings are global, and the first ones count.
function Txid.configure(_, configs)
    local config = configs and configs[1]
    if config then
        request.configure {
            accept = config.accept,
            header = config.header,
            on_invalid = config.on_invalid,
            trace = config.trace[1] and config.trace or "off",
        }
    end
end


-- Not in access: by then, Kong has answered requests without a route, and other plugins have run in rewrite.
function Txid.rewrite()
    request.handle()
end


function Txid.header_filter()
    request.handle()
end


return Txid
