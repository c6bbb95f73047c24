-- Reads ids: their time and random bits, the bounds of a millisecond, and the 12 bytes of a BINARY(12) column.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.codec"
local LEN = lib.LEN
local BYTES_LEN = lib.BYTES_LEN
local band = require("bit").band
local check_string = args.check_string
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local integer_ms = args.integer_ms
local read = text.read
local rfc3339 = text.rfc3339
local tonumber = tonumber
local type = type


local buf = ffi_new("char[?]", LEN)
local bytes = ffi_new("uint8_t[?]", BYTES_LEN)


local _M = {}


-- Why the text is not an id.
local function reason(id)
    local _, err = read("txid", id)
    return err
end


-- Returns the id's milliseconds since 1970-01-01 UTC. Returns nil and the reason for an invalid id.
function _M.ms(id)
    check_string(id, "ms")

    local ms = C.txid_ms(id, #id)
    if ms < 0 then
        return nil, reason(id)
    end
    return (tonumber(ms))
end


-- Whether the value, of any type, is an id.
function _M.is_valid(id)
    return type(id) == "string" and C.txid_ms(id, #id) >= 0
end


-- Returns the fields of the id: `ms`, the same as an RFC 3339 `time`, and the 54 `random` bits in hex. Returns nil and
-- the reason for an invalid id.
function _M.decode(id)
    check_string(id, "decode")

    if C.txid_to_bytes(id, #id, bytes) < 0 then
        return nil, reason(id)
    end

    local ms = tonumber(C.txid_ms(id, #id))
    return {
        ms = ms,
        time = rfc3339(ms),
        -- The top two bits of the sixth byte belong to the time.
        random = format("%02x%02x%02x%02x%02x%02x%02x", band(bytes[5], 0x3f), bytes[6], bytes[7], bytes[8],
                        bytes[9], bytes[10], bytes[11]),
    }
end


-- Returns the lowest id of the millisecond. `ms` is taken as by txid(ms).
function _M.first(ms)
    C.txid_first(buf, integer_ms(ms, "first"))
    return (ffi_str(buf, LEN))
end


-- Returns the highest id of the millisecond. `ms` is taken as by txid(ms).
function _M.last(ms)
    C.txid_last(buf, integer_ms(ms, "last"))
    return (ffi_str(buf, LEN))
end


-- Returns the id as 12 bytes, which sort as ids do. Returns nil and the reason for an invalid id.
function _M.to_bytes(id)
    check_string(id, "to_bytes")

    if C.txid_to_bytes(id, #id, bytes) < 0 then
        return nil, reason(id)
    end
    return (ffi_str(bytes, BYTES_LEN))
end


-- Returns the id that 12 bytes hold. Returns nil and the reason if there are not 12.
function _M.from_bytes(s)
    check_string(s, "from_bytes")

    if #s ~= BYTES_LEN then
        return nil, format("%d bytes, an id has %d", #s, BYTES_LEN)
    end
    C.txid_from_bytes(s, buf)
    return (ffi_str(buf, LEN))
end


return _M
