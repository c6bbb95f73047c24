-- Flakes: 128 bits of time, node and sequence, as 22 characters of base62 that sort by time.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.flake"
local LEN = lib.FLAKE_LEN
local check_string = args.check_string
local clock_ms = lib.clock_ms
local explain_format = text.explain_format
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local integer_ms = args.integer_ms
local node_bytes = args.node_bytes
local rfc3339 = text.rfc3339
local tonumber = tonumber


local buf = ffi_new("char[?]", LEN)
local parts = ffi_new("txid_flake_parts")


local _M = {}


-- Returns a flake of this moment, or stamped with exactly `ms`. `node` is a MAC address ("02:42:ac:11:00:02") that no
-- other worker uses; by default each worker draws random ones.
function _M.flake(ms, node)
    local bytes = node ~= nil and node_bytes(node, 2, "flake") or nil
    if ms then
        C.txid_flake(buf, integer_ms(ms, "flake"), bytes)
    else
        C.txid_flake_now(buf, clock_ms(), bytes)
    end
    return (ffi_str(buf, LEN))
end


-- Returns the fields of a flake: `ms`, the same as an RFC 3339 `time`, `node` as a MAC address, and `sequence`. Returns
-- nil and the reason for an invalid flake.
function _M.decode(s)
    check_string(s, "decode")

    if C.txid_flake_read(s, #s, parts) < 0 then
        return nil, explain_format(lib.FORMAT_FLAKE, s)
    end

    local ms, node = tonumber(parts.ms), parts.node
    return {
        ms = ms,
        time = rfc3339(ms),
        node = format("%02x:%02x:%02x:%02x:%02x:%02x", node[0], node[1], node[2], node[3], node[4], node[5]),
        sequence = parts.sequence,
    }
end


return _M
