local cjson = require "cjson"
local helpers = require "spec.helpers"

local PLUGIN_NAME = "txid"
local ID = "^[0-9a-v]+$"
local LOG = os.tmpname()


for _, strategy in helpers.all_strategies() do if strategy ~= "cassandra" then
    describe(PLUGIN_NAME .. ": (global) [#" .. strategy .. "]", function()
        local client

        lazy_setup(function()
            local bp = helpers.get_db_utils(strategy == "off" and "postgres" or strategy, nil, { PLUGIN_NAME })
            bp.routes:insert({ hosts = { "test1.com" } })
            local route = bp.routes:insert({ hosts = { "test2.com" } })
            local config = { header = { "X-Id" }, response = false }
            bp.plugins:insert({ name = PLUGIN_NAME, route = { id = route.id }, config = config })
            bp.plugins:insert({ name = PLUGIN_NAME, config = { trace = { "traceparent" } } })
            bp.plugins:insert({ name = "file-log", config = { path = LOG, reopen = true } })
            assert(helpers.start_kong({
                database = strategy,
                nginx_conf = "spec/fixtures/custom_nginx.template",
                plugins = "bundled," .. PLUGIN_NAME,
                declarative_config = strategy == "off" and helpers.make_yaml_file() or nil,
            }))
        end)

        lazy_teardown(function()
            helpers.stop_kong(nil, true)
            os.remove(LOG)
        end)

        before_each(function()
            client = helpers.proxy_client()
        end)

        after_each(function()
            if client then client:close() end
        end)

        it("gives the upstream, the client and the log plugins one id", function()
            local r = client:get("/request", { headers = { host = "test1.com", ["X-Request-Id"] = "a-client-s" } })
            assert.response(r).has.status(200)
            local id = assert.response(r).has.header("x-request-id")
            assert.matches(ID, id)
            assert.equal(id, assert.request(r).has.header("x-request-id"))
            assert.matches("^00%-%x+%-%x+%-%x+$", assert.request(r).has.header("traceparent"))

            local entry
            helpers.wait_until(function()
                local line = helpers.file.exists(LOG) and helpers.file.read(LOG):match("[^\n]+")
                entry = line and cjson.decode(line)
                return entry
            end, 60)
            assert.equal(id, entry.correlation_id)
        end)

        it("takes settings of a route", function()
            local r = client:get("/request", { headers = { host = "test2.com" } })
            assert.matches(ID, assert.request(r).has.header("x-id"))
            assert.response(r).has.no.header("x-id")
        end)

        it("gives an answer without a route an id, too", function()
            local r = client:get("/request", { headers = { host = "nobody.com" } })
            assert.response(r).has.status(404)
            assert.matches(ID, assert.response(r).has.header("x-request-id"))
        end)
    end)
end end
