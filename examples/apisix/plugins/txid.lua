-- An APISIX plugin that gives each request its id. Put the directory that contains apisix/ on extra_lua_path
-- ("DIRECTORY/?.lua"), list "txid" and all other plugins you use in `plugins` of config.yaml (this replaces the default
-- list), and enable it in a global rule. The options of configure() come from config.yaml:
--     plugin_attr:
--       txid:
--         accept: ["10.0.0.0/8"]

local core = require "apisix.core"
local plugin = require "apisix.plugin"
local request = require "resty.txid.request"


local _M = {
    version = 0.1,
    -- Before all of APISIX's own plugins, so that each of them finds the id.
    priority = 100000,
    name = "txid",
    schema = { type = "object", properties = {}, additionalProperties = false },
}


function _M.check_schema(conf)
    return core.schema.check(_M.schema, conf)
end


-- An error raised here would leave the gateway without its other plugins.
function _M.init()
    local ok, err = pcall(request.configure, plugin.plugin_attr(_M.name) or {})
    if not ok then
        core.log.error(err)
    end
end


function _M.rewrite(_, ctx)
    -- APISIX writes this to its access log and to each line of the error log.
    ctx.var.apisix_request_id = request.id()
    request.handle()
end


function _M.header_filter()
    request.handle()
end


return _M
