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


-- The policies of configurations, which Kong makes anew after a change. Until there is a response, it gets nothing: the
-- configuration that counts for it may be that of a route, which is known late.
local policies = setmetatable({}, { __mode = "k" })

local function policies_of(config)
    local found = policies[config]
    if not found then
        local given = settings.of(config)
        found = { of_response = request.policy(given) }
        given.response, given.server_timing = false, false
        found.of_request = request.policy(given)
        policies[config] = found
    end
    return found
end


local function is_of_one(config)
    return config.route_id or config.service_id
end


-- Kong calls this in each worker, at the start and after a change, with the configurations of all routes and services.
-- The one for the whole gateway counts where another plugin asks for an id first.
function Txid.configure(_, configs)
    for i = 1, configs and #configs or 0 do
        local config = configs[i]
        if not is_of_one(config) then
            request.configure(settings.of(config))
        end
    end
end


-- For the whole gateway. Not in access: by then, Kong has answered requests without a route, and other plugins have run
-- in rewrite.
function Txid.rewrite(_, config)
    request.handle(policies_of(config).of_request)
end


-- For a route or a service, which Kong does not know before.
function Txid.access(_, config)
    if is_of_one(config) then
        request.handle(policies_of(config).of_request)
    end
end


function Txid.header_filter(_, config)
    request.handle(policies_of(config).of_response)
end


-- Where Kong's correlation-id has it, too. Log plugins come later.
function Txid.log()
    kong.log.set_serialize_value("correlation_id", request.id())
end


return Txid
