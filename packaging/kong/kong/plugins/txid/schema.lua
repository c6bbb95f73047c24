local settings = require "kong.plugins.txid.settings"
local typedefs = require "kong.db.schema.typedefs"


local text = { type = "string" }
-- A table of its own: Kong marks the elements of an array as required, and trace_id_header has the shared table.
local a_header = typedefs.header_name {}


return {
    name = "txid",
    fields = {
        -- For the whole gateway: a request has its id before Kong knows its route, its service and its consumer.
        { route = typedefs.no_route },
        { service = typedefs.no_service },
        { consumer = typedefs.no_consumer },
        { protocols = typedefs.protocols_http },
        { config = {
            type = "record",
            fields = {
                { accept = { type = "array", elements = text, default = {} } },
                { format = { type = "string", default = "txid" } },
                { header = { type = "array", elements = a_header, default = { "X-Request-Id" } } },
                { on_invalid = { type = "string", one_of = { "replace", "reject" }, default = "replace" } },
                { response = { type = "boolean", default = true } },
                { server_timing = { type = "boolean", default = false } },
                { trace = { type = "array", elements = text, default = {} } },
                { trace_flags = { type = "string", default = "03" } },
                { trace_id_header = typedefs.header_name },
                { trace_ids = { type = "array", elements = text, default = { "random" } } },
                { upstream = { type = "boolean", default = true } },
                { valid = { type = "string" } },
            },
        } },
    },
    -- What configure() would refuse is refused here, where the Admin API can report it.
    entity_checks = {
        { custom_entity_check = {
            field_sources = { "config" },
            fn = function(entity)
                return settings.check(entity.config)
            end,
        } },
    },
}
