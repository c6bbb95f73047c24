local typedefs = require "kong.db.schema.typedefs"


return {
    name = "txid",
    fields = {
        -- For the gateway as a whole, not for a service or a consumer.
        { service = typedefs.no_service },
        { consumer = typedefs.no_consumer },
        { config = {
            type = "record",
            fields = {
                { accept = { type = "array", elements = typedefs.ip_or_cidr, default = {} } },
                { header = { type = "string", default = "X-Request-Id" } },
                { on_invalid = { type = "string", one_of = { "replace", "reject" }, default = "replace" } },
            },
        } },
    },
}
