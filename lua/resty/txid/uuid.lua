-- UUIDs of RFC 9562: makes v4 (random), v7 (sorts by time) and v1, and reads any.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.uuid"
local LEN = lib.UUID_LEN
local check_string = args.check_string
local clock_ms = lib.clock_ms
local explain_format = text.explain_format
local ffi_new = ffi.new
local ffi_str = ffi.string
local integer_ms = args.integer_ms
local node_bytes = args.node_bytes
local rfc3339 = text.rfc3339
local tonumber = tonumber
local type = type


local NO_TIME = -0x8000000000000000LL
local UUID = lib.FORMAT_UUID
local VARIANTS = { [0] = "ncs", "rfc9562", "microsoft", "future" }


local buf = ffi_new("char[?]", LEN)
local parts = ffi_new("txid_uuid_parts")


local _M = {}


-- Returns a random UUID.
function _M.v4()
    C.txid_uuid_v4(buf)
    return (ffi_str(buf, LEN))
end


-- Returns a UUID that sorts by time: of this moment and greater than this worker's last one, or stamped with exactly
-- `ms` and greater than the last one with the same stamp.
function _M.v7(ms)
    if ms then
        C.txid_uuid_v7(buf, integer_ms(ms, "v7"))
    else
        C.txid_uuid_v7_now(buf, clock_ms())
    end
    return (ffi_str(buf, LEN))
end


-- Returns a UUID of version 1. `node` is a MAC address ("02:42:ac:11:00:02") that no other worker uses, by default
-- random.
function _M.v1(node)
    C.txid_uuid_v1_now(buf, clock_ms(), node ~= nil and node_bytes(node, 1, "v1") or nil)
    return (ffi_str(buf, LEN))
end


local function read(s)
    return C.txid_uuid_read(s, #s, parts) == 0
end


-- Whether the value, of any type, is a UUID of 36 characters.
function _M.is_valid(s)
    return type(s) == "string" and read(s)
end


-- Returns the fields of the UUID: `version`, `variant`, and for versions 1, 6 and 7 `ms` and the same as an RFC 3339
-- `time`. Returns nil and the reason for an invalid UUID.
function _M.decode(s)
    check_string(s, "decode")

    if not read(s) then
        return nil, explain_format(UUID, s)
    end

    local decoded = { version = parts.version, variant = VARIANTS[parts.variant] }
    if parts.ms ~= NO_TIME then
        decoded.ms = tonumber(parts.ms)
        decoded.time = rfc3339(decoded.ms)
    end
    return decoded
end


return _M
