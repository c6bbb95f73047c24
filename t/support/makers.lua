-- Every function that makes an id, by the name of its format, with the arguments it needs.

local flake = require "resty.txid.flake"
local maker = require "resty.txid.maker"
local strong = require "resty.txid.strong"
local trace = require "resty.txid.trace"
local unique_id = require "resty.txid.unique_id"
local uuid = require "resty.txid.uuid"


local ADDRESS = "10.0.0.7"
local MS = 1522545688552


local makers = {
    ["strong"] = function() return strong() end,
    ["strong(ms)"] = function() return strong(MS) end,
    ["uuid_v4"] = uuid.v4,
    ["uuid_v7"] = function() return uuid.v7() end,
    ["uuid_v7(ms)"] = function() return uuid.v7(MS) end,
    ["uuid_v1"] = function() return uuid.v1() end,
    ["flake"] = function() return flake.flake() end,
    ["flake(ms)"] = function() return flake.flake(MS) end,
    ["unique_id"] = function() return unique_id.long() end,
    ["unique_id(ms)"] = function() return unique_id.long(MS) end,
    ["unique_id_short"] = function() return unique_id.short(nil, ADDRESS) end,
    ["unique_id_short(ms)"] = function() return unique_id.short(MS, ADDRESS) end,
    ["trace_id"] = function() return trace.id() end,
    ["trace_id(ms)"] = function() return trace.id(MS) end,
    ["trace_host_id"] = function() return trace.host_id(nil, ADDRESS) end,
    ["trace_host_id(ms)"] = function() return trace.host_id(MS, ADDRESS) end,
    ["otel_trace_id"] = trace.otel_trace_id,
    ["span_id"] = trace.span_id,
    ["sofa"] = function() return trace.sofa(ADDRESS) end,
    ["skywalking"] = trace.skywalking,
}


-- The formats that need a file have suites of their own: t/40, t/43 and t/47.
local NEEDS_A_FILE = { snowflake = true, segment = true }


-- Through the one door, every format that the library names.
local _, names = pcall(maker.new, "")
for name in names:match("the formats are (.*)"):gmatch("[%w_]+") do
    if not NEEDS_A_FILE[name] then
        local takes_address, make = pcall(maker.new, name, { address = ADDRESS })
        if not takes_address then
            make = maker.new(name)
        end
        makers["maker: " .. name] = function() return make() end
        if pcall(make, MS) then
            makers["maker: " .. name .. "(ms)"] = function() return make(MS) end
        end
    end
end


return makers
