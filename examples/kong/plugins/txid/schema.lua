local cidr = require "resty.txid.cidr"
local typedefs = require "kong.db.schema.typedefs"


-- Values that configure() would reject are rejected here, where the Admin API can report them.
local network = {
    type = "string",
    custom_validator = function(text)
        return cidr.matcher { text }
    end,
}

local trace_kind = { type = "string", one_of = { "traceparent", "b3", "b3_single", "aws", "gcp" } }


return {
    name = "txid",
    fields = {
        -- For the whole gateway, and not for a route, a service or a consumer.
        { route = typedefs.no_route },
        { service = typedefs.no_service },
        { consumer = typedefs.no_consumer },
        { protocols = typedefs.protocols_http },
        { config = {
            type = "record",
            fields = {
                { accept = { type = "array", elements = network, default = {} } },
                { header = typedefs.header_name { default = "X-Request-Id" } },
                { on_invalid = { type = "string", one_of = { "replace", "reject" }, default = "replace" } },
                { trace = { type = "array", elements = trace_kind, default = {} } },
            },
        } },
    },
}
