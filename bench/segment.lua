-- Takes numbers from a segment as fast as possible, for the given number of seconds. Prints how many calls got a
-- number, and how many did not.

local clock_ms = require("resty.txid.lib").C.txid_clock_ms
local segment = require "resty.txid.segment"


local AT_A_TIME = 1000

local numbers = segment.new { state = arg[1] }
local end_ms = tonumber(clock_ms()) + arg[2] * 1000
local taken, refused = 0, 0
repeat
    for _ = 1, AT_A_TIME do
        if numbers:next() then
            taken = taken + 1
        else
            refused = refused + 1
        end
    end
until tonumber(clock_ms()) >= end_ms
print(("%.0f %.0f"):format(taken, refused))
