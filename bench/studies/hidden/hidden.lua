-- hidden.lua: where the time of orders:hide(number) goes in LuaJIT, in nanoseconds: the lowest and the median of
-- interleaved rounds. KEY is the word for the key file, key=FILE.

local ffi = require "ffi"
local hidden = require "resty.txid.hidden"
local lib = require "resty.txid.lib"

ffi.cdef [[
    typedef struct { long sec, nsec; } bench_time;
    int clock_gettime(int clock, bench_time *now);
]]

local ROUNDS, CALLS = 301, 20000
local C = lib.C
local orders = hidden.new { key_file = os.getenv("KEY"):sub(5), name = "orders", digits = 10 }
local handle = orders.handle
local buf = ffi.new("char[?]", lib.HIDDEN_LEN)
local message = ffi.new("char[?]", lib.MESSAGE_LEN)
local digits = ffi.new("char[10]", "1234567890")
local words = ffi.cast("uint32_t *", digits)
local now = ffi.new("bench_time")


local function ns()
    ffi.C.clock_gettime(1, now)
    return tonumber(now.sec) * 1e9 + tonumber(now.nsec)
end


local rows = {
    { "a new string of 10 characters", function(from, made)
        for i = from, from + CALLS - 1 do
            words[0] = i
            made.last = ffi.string(digits, 10)
        end
    end },
    { "the call of C", function(from, made)
        for i = from, from + CALLS - 1 do
            made.last = C.txid_hidden_hide(handle, i, buf, message)
        end
    end },
    { "both", function(from, made)
        for i = from, from + CALLS - 1 do
            made.last = ffi.string(buf, C.txid_hidden_hide(handle, i, buf, message))
        end
    end },
    { "orders:hide(number)", function(from, made)
        for i = from, from + CALLS - 1 do
            made.last = orders:hide(i)
        end
    end },
}
for round = 0, ROUNDS do
    for _, row in ipairs(rows) do
        local begin = ns()
        -- What is made must not be left out.
        row[2](1763712000 + round * CALLS, row)
        row.taken = row.taken or {}
        row.taken[round] = (ns() - begin) / CALLS
    end
end
for _, row in ipairs(rows) do
    row.taken[0] = nil
    table.sort(row.taken)
    print(("%-30s %7.1f %7.1f"):format(row[1], row.taken[1], row.taken[math.ceil(ROUNDS / 2)]))
end
