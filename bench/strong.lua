-- What strong(ms) costs in plain LuaJIT, in times the floor. In nginx, which has the time at
-- hand, strong() costs the same.

local ffi = require "ffi"
local floor_of_20 = require "floor"(20)
local strong = require "resty.txid.strong"


local ROUNDS = 121
local CALLS = 100000
local CLOCK_THREAD_CPUTIME_ID = 3


ffi.cdef[[
struct bench_time { long seconds; long nanoseconds; };
int clock_gettime(int clock, struct bench_time *time);
]]
local time = ffi.new("struct bench_time")


local function cpu_ns()
    ffi.C.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
    return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end


-- Code of its own for each loop: what both share would be compiled for the first of them.
local function loop_of(make)
    local loop = assert(loadstring([[
        local make, calls = ...
        local ring = {}
        return function()
            for i = 1, calls do
                ring[bit.band(i, 255) + 1] = make(1700000000000 + bit.band(i, 15))
            end
        end
    ]]))(make, CALLS)
    return function()
        collectgarbage()
        local start = cpu_ns()
        loop()
        return (cpu_ns() - start) / CALLS
    end
end


local time_floor, time_strong = loop_of(floor_of_20), loop_of(strong)
local ns, times = {}, {}
-- The first rounds are compiled.
for round = -9, ROUNDS do
    local base = time_floor()
    local own = time_strong()
    if round > 0 then
        ns[round], times[round] = own, own / base
    end
end
table.sort(ns)
table.sort(times)

local function at(share)
    return math.floor((ROUNDS - 1) * share + 1.5)
end

print(("strong(ms): %.0f ns, %.2f times the floor (%.2f to %.2f)"):format(
      ns[at(0.5)], times[at(0.5)], times[at(0.25)], times[at(0.75)]))
