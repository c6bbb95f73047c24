-- What a caller may give as milliseconds, and nginx's own reading of the clock.

local ffi = require "ffi"


local error = error
local ffi_istype = ffi.istype
local floor = math.floor
local format = string.format
local ngx_now = ngx and ngx.now
local tonumber = tonumber
local tostring = tostring
local type = type


local MAX_NUMBER = 2^53
local int64_t = ffi.typeof("int64_t")
local uint64_t = ffi.typeof("uint64_t")

local INT64_ID = tonumber(int64_t)
local UINT64_ID = tonumber(uint64_t)


local _M = {}


-- To ffi.istype() and to C a type passes for a value of itself, and is the number LuaJIT knows it by. Only with that
-- number is there need of the slow way to tell them apart.
local function is_a_type(ms)
    return (ms == INT64_ID or ms == UINT64_ID) and tostring(ms):sub(1, 6) == "ctype<"
end


-- A whole Lua number, or the int64_t or uint64_t that was given. What is none of these is an error of whoever called
-- the function `name` with it.
function _M.integer(ms, name)
    if type(ms) == "number" then
        -- Written so that it refuses a NaN, too.
        if ms >= -MAX_NUMBER and ms <= MAX_NUMBER then
            return floor(ms)
        end

        error("bad argument #1 to '" .. name .. "' (a number from -2^53 to 2^53 expected, got "
              .. format("%.17g", ms) .. ")", 3)
    end

    if (ffi_istype(int64_t, ms) or ffi_istype(uint64_t, ms)) and not is_a_type(ms) then
        return ms
    end

    local got = type(ms) == "cdata" and tostring(ffi.typeof(ms)) or type(ms)
    error("bad argument #1 to '" .. name .. "' (number, int64_t or uint64_t expected, got " .. got .. ")", 3)
end


-- nil where there is no nginx.
_M.nginx_clock = ngx_now and function()
    -- ngx.now() is a fraction just above or just below the millisecond. Half a millisecond more gives the right one.
    return floor(ngx_now() * 1000 + 0.5)
end


return _M
