-- Checks arguments. An error names the function, the argument and the value, and is raised at the line that called the
-- function.

local ffi = require "ffi"


local error = error
local ffi_istype = ffi.istype
local ffi_typeof = ffi.typeof
local floor = math.floor
local format = string.format
local tonumber = tonumber
local tostring = tostring
local type = type


local MAX_NUMBER = 2^53
local int64_t = ffi_typeof("int64_t")
local uint64_t = ffi_typeof("uint64_t")
local INT64_ID = tonumber(int64_t)
local UINT64_ID = tonumber(uint64_t)


local _M = {}


-- Raises an error about argument #`position` of the function `name`. Call this from a check that the function calls,
-- and not as a tail call, because the level of the error counts the calls. Without `got`, the error names the type of
-- `value`.
local function bad_argument(position, name, expected, value, got)
    got = got or type(value) == "cdata" and tostring(ffi_typeof(value)) or type(value)
    error(format("bad argument #%d to '%s' (%s expected, got %s)", position, name, expected, got), 4)
end
_M.bad_argument = bad_argument


-- Argument #1 of the function `name` must be a string.
function _M.check_string(value, name)
    if type(value) ~= "string" then
        bad_argument(1, name, "string", value)
    end
end


-- Raises an error if an argument is no table. This is a separate function, because LuaJIT starts a trace in a function
-- that is called more often than its callers, and then cannot finish it.
function _M.check_table(value, name)
    if type(value) ~= "table" then
        bad_argument(1, name, "table", value)
    end
end


-- Returns the handle of a `kind`, whose method `name` is called with these arguments. C would use anything else as if
-- it were one.
function _M.handle_of(self, kind, name, arguments)
    local handle = type(self) == "table" and self.handle
    if not handle then
        error(format("bad self to '%s' (a %s expected, as in %s:%s(%s))", name, kind, kind, name, arguments), 3)
    end
    return handle
end


-- ffi.istype() and C accept a ctype in place of its value; as a number, it is LuaJIT's id of the type. Only a value
-- with that number needs the slow test.
local function is_a_type(value)
    return (value == INT64_ID or value == UINT64_ID) and tostring(value):sub(1, 6) == "ctype<"
end


-- Whether the value is an int64_t or a uint64_t.
local function is_int64(value)
    return (ffi_istype(int64_t, value) or ffi_istype(uint64_t, value)) and not is_a_type(value)
end
_M.is_int64 = is_int64


-- Returns argument #`position` (default 1) of the function `name`, a time in milliseconds, as an integer for C.
function _M.integer_ms(ms, name, position)
    if type(ms) == "number" then
        -- Written this way so that NaN is refused, too.
        if ms >= -MAX_NUMBER and ms <= MAX_NUMBER then
            return (floor(ms))
        end
        bad_argument(position or 1, name, "a number from -2^53 to 2^53", ms, format("%.17g", ms))
    end

    if not is_int64(ms) then
        bad_argument(position or 1, name, "number, int64_t or uint64_t", ms)
    end
    return ms
end


return _M
