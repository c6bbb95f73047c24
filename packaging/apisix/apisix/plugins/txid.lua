-- An APISIX plugin that gives each request its id. docs/quick-start-apisix.md says how to install and enable it. The
-- options of configure() come from config.yaml:
--     plugin_attr:
--       txid:
--         accept: ["10.0.0.0/8"]

local core = require "apisix.core"
local plugin = require "apisix.plugin"
local request = require "resty.txid.request"


local lower = string.lower
local pcall = pcall
local timer_at = ngx.timer.at
local type = type


local _M = {
    version = 0.1,
    -- Before all of APISIX's own plugins, so that each of them finds the id.
    priority = 100000,
    name = "txid",
    schema = { type = "object", properties = {}, additionalProperties = false },
}

-- Formats of 32 hexadecimal digits. "same_as_trace" is the id of the trace itself.
local IS_TRACE_ID = { otel_trace_id = true, same_as_trace = true, trace_id = true }


function _M.check_schema(conf)
    return core.schema.check(_M.schema, conf)
end


-- Where APISIX's opentelemetry takes the ids of its traces from: its plugin metadata, which older releases have in
-- plugin_attr.
local function trace_id_source()
    local metadata = plugin.plugin_metadata and plugin.plugin_metadata("opentelemetry")
    local settings = metadata and metadata.value or plugin.plugin_attr("opentelemetry")
    return settings and settings.trace_id_source
end


-- Its traces would get other ids than their requests, without a word.
local function check_trace_ids(_, attributes)
    local format = attributes.format or "txid"
    local header = attributes.header or "X-Request-Id"
    -- The first of several is the one that upstreams get.
    header = type(header) == "table" and header[1] or header
    if lower(header) == "x-request-id" and not IS_TRACE_ID[format]
        and plugin.get("opentelemetry") and trace_id_source() == "x-request-id"
    then
        core.log.error("txid: opentelemetry has trace_id_source: x-request-id, and format: ", format,
                       " is no trace id: set plugin_attr.txid.format to otel_trace_id")
    end
end


-- An error raised here would leave the gateway without its other plugins.
function _M.init()
    local attributes = plugin.plugin_attr(_M.name) or {}
    local ok, err = pcall(request.configure, attributes)
    if not ok then
        core.log.error(err)
        return
    end
    -- When all plugins and their metadata are there.
    timer_at(0, check_trace_ids, attributes)
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
