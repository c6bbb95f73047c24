-- An APISIX plugin that gives each request its id. Put the directory that holds apisix/ on extra_lua_path and "txid"
-- into `plugins` of config.yaml, then enable it in a global rule. What configure() is given comes from there:
--     plugin_attr:
--       txid:
--         accept: ["10.0.0.0/8"]

local plugin = require "apisix.plugin"
local request = require "resty.txid.request"


local _M = {
    version = 0.1,
    -- Before all of APISIX's own plugins, so that each of them finds the id.
    priority = 100000,
    name = "txid",
    schema = { type = "object", properties = {} },
}


function _M.init()
    request.configure(plugin.plugin_attr("txid") or {})
end


function _M.rewrite()
    request.handle()
end


function _M.header_filter()
    request.handle()
end


return _M
