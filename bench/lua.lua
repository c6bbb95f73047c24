-- The first table: what a string of each kind costs in LuaJIT, inside an nginx worker. Returns Markdown.
--
-- Each round measures every row once, so that other load affects all rows, and compares each with its floor. Time is
-- the worker's own processor time, so other programs do not count.

local ffi = require "ffi"
local floor_of = require "floor"


local concat = table.concat
local floor = math.floor
local format = string.format
local sort = table.sort


local ROUNDS = 121
local CALLS = 100000
-- A row with slower calls than this is called less often.
local SLOW_NS = 1000
local CALLS_OF_A_SLOW_ROW = 5000
local CLOCK_THREAD_CPUTIME_ID = 3
local PEERS = os.getenv("PEERS")


ffi.cdef[[
struct bench_time { long seconds; long nanoseconds; };
int clock_gettime(int clock, struct bench_time *time);
]]
local time = ffi.new("struct bench_time")


local function cpu_ns()
    ffi.C.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
    return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end


-- Loaded once for each row: LuaJIT would compile a shared loop for the first row only.
local function loop_of(call, m)
    return assert(loadstring(([[
        local m = ...
        local band = bit.band
        local now_ms = math.floor(ngx.now() * 1000)
        return function(calls, ring)
            for i = 1, calls do
                local ms = now_ms + band(i, 15)
                ring[band(i, 255) + 1] = CALL
            end
        end
    ]]):gsub("CALL", call), "=" .. call))(m)
end


local function load_module(row)
    if row.format then
        return require("resty.txid.maker").new(row.format, row.options)
    end
    if not row.peer then
        return require(row.module)
    end
    if not PEERS or PEERS == "" then
        error("PEERS names no directory", 0)
    end
    return assert(loadfile(PEERS .. "/" .. row.peer))()
end


local function ns_a_call(row)
    -- Otherwise a row would pay for the garbage of the previous one.
    collectgarbage()
    local start = cpu_ns()
    row.loop(row.calls, row.ring)
    return (cpu_ns() - start) / row.calls
end


-- Returns the rows, with a floor before the first row of each length; and the names of peers that are not installed.
local function ready_rows()
    local ready, missing, floor_by_length = {}, {}, {}

    local function add(row, m)
        row.loop, row.ring, row.calls, row.ns = loop_of(row[3], m), {}, CALLS_OF_A_SLOW_ROW, {}
        ns_a_call(row)
        if ns_a_call(row) < SLOW_NS then
            row.calls = CALLS
        end
        assert(row.reads or #row.ring[1] == row[1], row[2] .. " makes another length than its row says")
        ready[#ready + 1] = row
    end

    for _, row in ipairs(require "rows") do
        local ok, m = pcall(load_module, row)
        if ok then
            local length = row[1]
            if not floor_by_length[length] then
                floor_by_length[length] = { length, "*floor: " .. length .. " characters*", "m()" }
                add(floor_by_length[length], floor_of(length))
            end
            if row.first then
                loadstring("local m = ...; " .. row.first)(m)
            end
            row.floor = floor_by_length[length]
            add(row, m)

        else
            missing[#missing + 1] = row[2] .. " (" .. tostring(m):match("[^\n]*") .. ")"
        end
    end
    return ready, missing
end


local function quartiles(values)
    sort(values)
    local function at(share)
        return values[floor((#values - 1) * share + 1.5)]
    end
    return at(0.5), at(0.25), at(0.75)
end


local function times_the_floor(row)
    local times = {}
    for round, ns in ipairs(row.ns) do
        times[round] = ns / row.floor.ns[round]
    end
    return quartiles(times)
end


local ready, missing = ready_rows()
for round = 1, ROUNDS do
    -- Forwards and backwards in turn, so that no row always runs after the same neighbor.
    for place = 1, #ready do
        local row = ready[round % 2 == 1 and place or #ready + 1 - place]
        row.ns[round] = ns_a_call(row)
    end
end

-- Call this before a row's times are sorted: it pairs the times of the same round.
for _, row in ipairs(ready) do
    row.times = row.floor and format("%.2f (%.2f to %.2f)", times_the_floor(row)) or "1"
end

local lines = {
    format("%d rounds of %d calls, or of %d where one takes a microsecond.", ROUNDS, CALLS, CALLS_OF_A_SLOW_ROW),
    "",
    "| | ns | times the floor |",
    "|---|--:|--:|",
}
for _, row in ipairs(ready) do
    local median, low, high = quartiles(row.ns)
    lines[#lines + 1] = format("| %s | %.0f (%.0f to %.0f) | %s |", row[2], median, low, high, row.times)
end
if #missing > 0 then
    lines[#lines + 1] = "\nNot measured: " .. concat(missing, ", ") .. "."
end
return concat(lines, "\n")
