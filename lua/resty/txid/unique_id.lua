-- The UNIQUE_ID of Apache's mod_unique_id, in both of its layouts.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.unique_id"
local LONG_LEN = lib.UNIQUE_ID_LONG_LEN
local RANDOM_LEN = lib.UNIQUE_ID_RANDOM_LEN
local SHORT_LEN = lib.UNIQUE_ID_SHORT_LEN
local byte = string.byte
local check_string = args.check_string
local clock_ms = lib.clock_ms
local dotted = text.dotted
local explain_format = text.explain_format
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local integer_ms = args.integer_ms
local ipv4 = args.ipv4
local rfc3339 = text.rfc3339
local tonumber = tonumber


local buf = ffi_new("char[?]", LONG_LEN)
local parts = ffi_new("txid_unique_id_parts")


local _M = {}


-- Returns 27 characters, as httpd 2.4 makes them, of this second or of the second of `ms`.
function _M.long(ms)
    if ms then
        C.txid_unique_id_long(buf, integer_ms(ms, "long"))
    else
        C.txid_unique_id_long_now(buf, clock_ms())
    end
    return (ffi_str(buf, LONG_LEN))
end


-- Returns 24 characters that contain an IPv4 address: `address`, by default the host's.
function _M.short(ms, address)
    local word = ipv4(address, 2, "short")
    if ms then
        C.txid_unique_id_short(buf, integer_ms(ms, "short"), word)
    else
        C.txid_unique_id_short_now(buf, clock_ms(), word)
    end
    return (ffi_str(buf, SHORT_LEN))
end


-- Returns the fields of an id of either length: the `ms` of its second, the same as an RFC 3339 `time`, `counter` and
-- `thread`; then `address` and `pid`, or `random` in hex. Returns nil and the reason for an invalid id.
function _M.decode(s)
    check_string(s, "decode")

    if C.txid_unique_id_read(s, #s, parts) < 0 then
        return nil, explain_format(lib.FORMAT_UNIQUE_ID, s)
    end

    local ms = tonumber(parts.ms)
    local decoded = { ms = ms, time = rfc3339(ms), counter = parts.counter, thread = parts.thread }
    if #s == SHORT_LEN then
        decoded.address = dotted(parts.ipv4)
        decoded.pid = parts.pid
    else
        decoded.random = ffi_str(parts.random, RANDOM_LEN):gsub(".", function(c) return format("%02x", byte(c)) end)
    end
    return decoded
end


return _M
