local PLUGIN_NAME = "txid"


local validate do
    local validate_entity = require("spec.helpers").validate_plugin_config_schema
    local plugin_schema = require("kong.plugins." .. PLUGIN_NAME .. ".schema")

    function validate(config)
        return validate_entity(config, plugin_schema)
    end
end


describe(PLUGIN_NAME .. ": (schema)", function()
    it("has a default for each setting that configure() has one for", function()
        local entity, err = validate({})
        assert.is_nil(err)
        for name, default in pairs({
            accept = {}, format = "txid", header = { "X-Request-Id" }, on_invalid = "replace", response = true,
            sample = "off", server_timing = false, trace = {}, trace_ids = { "random" }, trace_random_flag = true,
            trace_span = "new", upstream = true,
        }) do
            assert.same(default, entity.config[name])
        end
    end)

    it("takes what configure() takes", function()
        for _, config in ipairs({
            { accept = { "10.0.0.0/8", "::1", "unix:" } },
            { format = "uuid_v7" },
            { format = "same_as_trace", trace = { "b3", "traceparent" } },
            { header = { "X-Correlation-Id" } },
            { accept = { "10.0.0.0/8" }, on_invalid = "reject" },
            { response = false, upstream = false },
            { trace = { "traceparent" }, trace_id_header = "X-Trace-Id", server_timing = true },
            { trace = { "traceparent" }, trace_random_flag = false },
            { trace = { "traceparent" }, sample = "1%" },
            { trace = { "traceparent" }, trace_ids = { "sorted", "epoch=2020-01-01" } },
            { accept = { "10.0.0.0/8" }, valid = "[0-9a-f]{32}" },
        }) do
            local ok, err = validate(config)
            assert.is_nil(err)
            assert.is_truthy(ok)
        end
    end)

    it("says why it does not take others, as configure() does", function()
        for text, config in pairs({
            ["10.0.0.0/33"] = { accept = { "10.0.0.0/33" } },
            ["format must be the name of a format"] = { format = "uuid_v9" },
            ["has a meaning of its own"] = { header = { "Content-Length" } },
            ["trace_random_flag"] = { trace_random_flag = false },
            ["is not a share"] = { trace = { "traceparent" }, sample = "1" },
            ["but trace is off"] = { format = "same_as_trace" },
            ["valid must be a regular expression"] = { valid = "(" },
        }) do
            local ok, err = validate(config)
            assert.is_falsy(ok)
            assert.matches(text, table.concat(err["@entity"], " "), 1, true)
        end
    end)
end)
