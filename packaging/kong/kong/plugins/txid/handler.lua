-- A Kong plugin that gives each request its id, for Kong 3.5 and later. docs/quick-start-kong.md says how to install
-- it, and how the access log and the error log get the id.

local Txid = {
    -- Before all of Kong's own plugins, so that each of them finds the id.
    PRIORITY = 1000000000,
    VERSION = "2.0.0",
}


-- Kong also loads plugins for streams, which have no requests.
if ngx.config.subsystem ~= "http" then
    return Txid
end


local kong = kong
local request = require "resty.txid.request"
local settings = require "kong.plugins.txid.settings"


-- Kong calls this in each worker, at the start and after a change. The settings are global, and the first ones count.
function Txid.configure(_, configs)
    local config = configs and configs[1]
    if config then
        request.configure(settings.of(config))
    end
end


-- Not in access: by then, Kong has answered requests without a route, and other plugins have run in rewrite.
function Txid.rewrite()
    request.handle()
end


function Txid.header_filter()
    request.handle()
end


-- Where Kong's correlation-id has it, too. Log plugins come later.
function Txid.log()
    kong.log.set_serialize_value("correlation_id", request.id())
end


return Txid
