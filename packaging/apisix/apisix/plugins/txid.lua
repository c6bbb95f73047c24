-- An APISIX plugin that gives each request its id. docs/quick-start-apisix.md says how to install and enable it. The
-- options of configure() are those of a route or a global rule, and for all of them those of config.yaml:
--     plugin_attr:
--       txid:
--         accept: ["10.0.0.0/8"]

local core = require "apisix.core"
local plugin = require "apisix.plugin"
local request = require "resty.txid.request"
local options = require("resty.txid.request.table").options


local get_phase = ngx.get_phase
local gsub = string.gsub
local lower = string.lower
local pcall = pcall
local setmetatable = setmetatable
local timer_at = ngx.timer.at
local tostring = tostring
local type = type


-- What each kind of option takes.
local text, switch = { type = "string" }, { type = "boolean" }
local words = { anyOf = { text, { type = "array", items = text } } }
local takes = {
    name_or_off = { anyOf = { text, switch } },
    networks = { anyOf = { switch, text, { type = "array", items = text } } },
    switch = switch,
    text = text,
    word = text,
    words = words,
}
local properties = {}
for i = 1, #options do
    properties[options[i].name] = takes[options[i].takes]
end


local _M = {
    version = 0.1,
    -- Before all of APISIX's own plugins, so that each of them finds the id.
    priority = 100000,
    name = "txid",
    schema = { type = "object", properties = properties, additionalProperties = false },
}

-- Formats of 32 hexadecimal digits. "same_as_trace" is the id of the trace itself.
local IS_TRACE_ID = { otel_trace_id = true, same_as_trace = true, trace_id = true }


-- Returns a policy for these options, and those of config.yaml besides; nil if there are none of these; or nil and what
-- is wrong. For a request, it is one that leaves the response alone.
local function new_policy(conf, is_for_request)
    local given, has_own = {}, is_for_request
    local attributes = plugin.plugin_attr(_M.name) or {}
    for i = 1, #options do
        local name = options[i].name
        given[name] = attributes[name]
        if conf[name] ~= nil then
            given[name], has_own = conf[name], true
        end
    end
    if not has_own then
        return nil
    end
    if is_for_request then
        given.response, given.server_timing = false, false
    end
    local ok, policy = pcall(request.policy, given)
    if ok then
        return policy
    end
    return nil, (gsub(tostring(policy), "^.-resty%.txid%.request: ", ""))
end


function _M.check_schema(conf)
    local ok, err = core.schema.check(_M.schema, conf)
    if not ok then
        return false, err
    end
    ok, err = new_policy(conf)
    -- The Admin API reports what is wrong. What APISIX loads stays, without these options: it would leave out the route
    -- or the rule, even if the mistake is one in config.yaml.
    if err and get_phase() ~= "content" then
        core.log.error("txid: ", err)
        return true
    end
    return ok or not err, err
end


-- The policies of configurations, which APISIX makes anew after a change.
local policies = setmetatable({}, { __mode = "k" })

local function policies_of(conf)
    local found = policies[conf]
    if not found then
        found = { of_request = new_policy(conf, true), of_response = (new_policy(conf)) }
        policies[conf] = found
    end
    return found
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


function _M.rewrite(conf, ctx)
    local found = policies_of(conf)
    -- APISIX writes this to its access log and to each line of the error log.
    ctx.var.apisix_request_id = request.id(found.of_request)
    -- A route's comes after that of a global rule, and says what the response has.
    ctx.txid_policy = found.of_response or ctx.txid_policy
    request.handle(found.of_request)
end


function _M.header_filter(_, ctx)
    request.handle(ctx.txid_policy)
end


return _M
