local settings = require "kong.plugins.txid.settings"
local typedefs = require "kong.db.schema.typedefs"


local text = { type = "string" }
-- A table of its own: Kong marks the elements of an array as required, and trace_id_header has the shared table.
local a_header = typedefs.header_name {}


return {
    name = "txid",
    fields = {
        -- A request has its id before Kong knows its consumer.
        { consumer = typedefs.no_consumer },
        { protocols = typedefs.protocols_http },
        { config = {
            type = "record",
            fields = {
                -- Written by `make headers`, down to the end of the list.
                { header = { type = "array", elements = a_header, default = { "X-Request-Id" } } },
                { accept = { type = "array", elements = text, default = {} } },
                { on_invalid = { type = "string", one_of = { "replace", "reject" }, default = "replace" } },
                { valid = { type = "string" } },
                { format = { type = "string", default = "txid" } },
                { trace = { type = "array", elements = text, default = {} } },
                { trace_span = { type = "string", one_of = { "new", "pass" }, default = "new" } },
                { trace_id_header = typedefs.header_name },
                { trace_ids = { type = "array", elements = text, default = { "random" } } },
                { trace_random_flag = { type = "boolean", default = true } },
                { trace_pass_others = { type = "boolean", default = false } },
                { sample = { type = "string", default = "off" } },
                { server_timing = { type = "boolean", default = false } },
                { response = { type = "boolean", default = true } },
                { upstream = { type = "boolean", default = true } },
            },
        } },
    },
    -- This refuses the same as configure(), where the Admin API can report it.
    entity_checks = {
        { custom_entity_check = {
            field_sources = { "config" },
            fn = function(entity)
                return settings.check(entity.config)
            end,
        } },
    },
}
