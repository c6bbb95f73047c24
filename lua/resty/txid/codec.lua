-- Reads ids back: their time and randomness, the bounds of a millisecond, and the 12 bytes of a BINARY(12) column.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.C
local LEN = lib.LEN
local BYTES_LEN = lib.BYTES_LEN
local TXID = lib.FORMAT_TXID
local band = require("bit").band
local check_string = args.check_string
local explain_format = text.explain_format
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local integer_ms = args.integer_ms
local rfc3339 = text.rfc3339
local tonumber = tonumber
local type = type


local buf = ffi_new("char[?]", LEN)
local bytes = ffi_new("uint8_t[?]", BYTES_LEN)


local _M = {}


-- The id's milliseconds since 1970-01-01 UTC, or nil and what is wrong with it.
function _M.ms(id)
    check_string(id, "ms")

    local ms = C.txid_ms(id, #id)
    if ms < 0 then
        return nil, explain_format(TXID, id)
    end
    return (tonumber(ms))
end


-- Whether the value, which may be anything, is an id.
function _M.is_valid(id)
    return type(id) == "string" and C.txid_ms(id, #id) >= 0
end


-- What the id holds: `ms`, the same as an RFC 3339 `time`, and the `random` 54 bits in hex; or nil and what is wrong.
function _M.decode(id)
    check_string(id, "decode")

    if C.txid_to_bytes(id, #id, bytes) < 0 then
        return nil, explain_format(TXID, id)
    end

    local ms = tonumber(C.txid_ms(id, #id))
    return {
        ms = ms,
        time = rfc3339(ms),
        -- The two top bits of the sixth byte are still time.
        random = format("%02x%02x%02x%02x%02x%02x%02x", band(bytes[5], 0x3f), bytes[6], bytes[7], bytes[8],
                        bytes[9], bytes[10], bytes[11]),
    }
end


-- The lowest id of the millisecond, which counts as in txid(ms).
function _M.first(ms)
    C.txid_first(buf, integer_ms(ms, "first"))
    return (ffi_str(buf, LEN))
end


-- The highest id of the millisecond, which counts as in txid(ms).
function _M.last(ms)
    C.txid_last(buf, integer_ms(ms, "last"))
    return (ffi_str(buf, LEN))
end


-- The id as 12 raw bytes, which sort as ids do; or nil and what is wrong with it.
function _M.to_bytes(id)
    check_string(id, "to_bytes")

    if C.txid_to_bytes(id, #id, bytes) < 0 then
        return nil, explain_format(TXID, id)
    end
    return (ffi_str(bytes, BYTES_LEN))
end


-- The id that 12 raw bytes hold; or nil and what is wrong with them.
function _M.from_bytes(s)
    check_string(s, "from_bytes")

    if #s ~= BYTES_LEN then
        return nil, format("%d bytes, an id has %d", #s, BYTES_LEN)
    end
    C.txid_from_bytes(s, buf)
    return (ffi_str(buf, LEN))
end


return _M
