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
local tostring = tostring
local type = type


local MAX_NUMBER = 2^53
local int64_t = ffi.typeof("int64_t")
local uint64_t = ffi.typeof("uint64_t")
local buf = ffi_new("char[?]", LEN)
local ngx_now = ngx and ngx.now


local function clock_ms()
    if not ngx_now then
        return C.txid_clock_ms()
    end

    -- ngx.now() is a fraction just above or just below the millisecond. Half a millisecond more, and the conversion to
    -- an integer, which cuts, gives the right one.
    return ngx_now() * 1000 + 0.5
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

    if ffi_istype(int64_t, ms) or ffi_istype(uint64_t, ms) then
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

    -- Not `return ffi_str(...)`: LuaJIT does not compile a function that is called from C, once a request, and ends in
    -- a tail call of C.
    local id = ffi_str(buf, LEN)
    return id
end
