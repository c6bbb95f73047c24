-- Checks arguments. An error names the function, the argument and the value, and is raised at the line that called the
-- function.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.C
local error = error
local ffi_istype = ffi.istype
local ffi_new = ffi.new
local ffi_typeof = ffi.typeof
local floor = math.floor
local format = string.format
local printable = text.printable
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


-- The same for a table. This is a separate function, because LuaJIT starts a trace in a function that is called more
-- often than its callers, and then cannot finish it.
function _M.check_table(value, name)
    if type(value) ~= "table" then
        bad_argument(1, name, "table", value)
    end
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


-- Shows an argument that should have been an address in a message.
local function shown(value)
    return type(value) == "string" and '"' .. printable(value) .. '"' or nil
end


local node = ffi_new("uint8_t[?]", lib.MAC_LEN)
local node_text


-- Returns the bytes of a MAC address ("02:42:ac:11:00:02"), argument #`position` of the function `name`. They are valid
-- until the next call.
function _M.node_bytes(address, position, name)
    if address == node_text then
        return node
    end

    if type(address) ~= "string" or C.txid_mac_read(address, #address, node) < 0 then
        bad_argument(position, name, 'a MAC address such as "02:42:ac:11:00:02"', address, shown(address))
    end

    node_text = address
    return node
end


-- Returns a function of the same kind for the 32 bits that the library's function `read` derives from an address, by
-- default the host's.
local function host_reader(read, example)
    local word = ffi_new("uint32_t[1]")
    local known, known_address

    return function(address, position, name)
        if known and address == known_address then
            return known
        end

        if address ~= nil and (type(address) ~= "string" or address == "" or C[read](address, #address, word) < 0) then
            bad_argument(position, name, "an address such as " .. example, address, shown(address))
        end

        if address == nil and C[read](nil, 0, word) < 0 then
            error("'" .. name .. "' found no address of this host; give one such as " .. example
                  .. " as argument #" .. position, 3)
        end

        known, known_address = word[0], address
        return known
    end
end


_M.ipv4 = host_reader("txid_host_ipv4", '"10.0.0.7"')
_M.host_word = host_reader("txid_host_word", '"10.0.0.7" or "fd00::7"')


return _M
