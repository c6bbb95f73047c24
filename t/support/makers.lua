-- Makers of all formats that the library names, and of ids with a given time, by their names.

local maker = require "resty.txid.maker"


local ADDRESS = "10.0.0.7"
local MS = 1522545688552
-- These formats have suites of their own: t/lua/snowflake.t, snowflake-lease.t and segment.t.
local NEEDS_A_FILE = { snowflake = true, segment = true }


local makers = {}
local _, names = pcall(maker.new, "")
for name in names:match("the formats are (.*)"):gmatch("[%w_]+") do
    if not NEEDS_A_FILE[name] then
        local takes_address, make = pcall(maker.new, name, { address = ADDRESS })
        if not takes_address then
            make = maker.new(name)
        end
        makers[name] = function() return make() end
        if pcall(make, MS) then
            makers[name .. "(ms)"] = function() return make(MS) end
        end
    end
end


return makers
