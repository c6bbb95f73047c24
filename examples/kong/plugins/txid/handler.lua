-- A Kong plugin that gives each request its id. Put the directory that holds kong/ on KONG_LUA_PACKAGE_PATH and "txid"
-- into KONG_PLUGINS, then enable it for all services. For the id on each line of the error log, put it in the place of
-- Kong's own in a template of nginx.conf: lua_kong_error_log_request_id $request_txid;

local request = require "resty.txid.request"


local Txid = {
    -- Before all of Kong's own plugins, so that each of them finds the id.
    PRIORITY = 1000000000,
    VERSION = "2.0.0",
}


-- Kong calls it in each worker, at the start and after a change. The settings are the gateway's: the first ones count.
function Txid.configure(_, configs)
    local config = configs and configs[1]
    if config then
        request.configure { accept = config.accept, header = config.header, on_invalid = config.on_invalid }
    end
end


function Txid.access()
    request.handle()
end


function Txid.header_filter()
    request.handle()
end


return Txid
