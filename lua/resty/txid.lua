-- require "resty.txid" is the function txid([ms]), which returns a new id of 20 characters.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.C
local LEN = lib.LEN
local error = error
local ffi_istype = ffi.istype
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local tonumber = tonumber
local tostring = tostring
local type = type


local MAX_NUMBER = 2^53
local int64_t = ffi.typeof("int64_t")
local uint64_t = ffi.typeof("uint64_t")
local buf = ffi_new("char[?]", LEN)
local ngx_now = ngx and ngx.now

local INT64_ID = tonumber(int64_t)
local UINT64_ID = tonumber(uint64_t)


local function clock_ms()
    if not ngx_now then
        return C.txid_clock_ms()
    end

    -- ngx.now() is a fraction just above or just below the millisecond. Half a millisecond more, and the conversion to
    -- an integer, which cuts, gives the right one.
    return ngx_now() * 1000 + 0.5
end


-- To ffi.istype() and to C a type passes for a value of itself, and is the number LuaJIT knows it by. Only with that
-- number is there need of the slow way to tell them apart.
local function is_a_type(ms)
    return (ms == INT64_ID or ms == UINT64_ID) and tostring(ms):sub(1, 6) == "ctype<"
end


local function integer_ms(ms)
    if type(ms) == "number" then
        -- Written so that it refuses a NaN, too.
        if ms >= -MAX_NUMBER and ms <= MAX_NUMBER then
            return floor(ms)
        end

        error("bad argument #1 to 'txid' (a number from -2^53 to 2^53 expected, got "
              .. format("%.17g", ms) .. ")", 3)
    end

    if (ffi_istype(int64_t, ms) or ffi_istype(uint64_t, ms)) and not is_a_type(ms) then
        return ms
    end

    local got = type(ms) == "cdata" and tostring(ffi.typeof(ms)) or type(ms)
    error("bad argument #1 to 'txid' (number, int64_t or uint64_t expected, got " .. got .. ")", 3)
end


return function(ms)
    if ms then
        C.txid_fill(buf, integer_ms(ms))
    else
        C.txid_fill_now(buf, clock_ms())
    end
    return ffi_str(buf, LEN)
end
