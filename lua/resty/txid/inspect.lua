-- Reads ids of any format. require "resty.txid.inspect" is a function that returns what a text can be.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.inspect"
local NO_TIME = -0x8000000000000000LL
local check_string = args.check_string
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local printable = text.printable
local rfc3339 = text.rfc3339
local tonumber = tonumber


local readings = ffi_new("txid_reading[?]", lib.READINGS_MAX)


-- Returns a list of the formats that the text fits, the likeliest first, or nil and the reason. Each is a table: the
-- name of the `format`; `ms` and an RFC 3339 `time`, if it has one; the `layout` of a 64-bit id; `unlikely` if its time
-- is before such ids existed, or more than a day ahead.
return function(s)
    check_string(s, "inspect")

    local count = C.txid_readings(s, #s, clock_ms(), readings)
    if count == 0 then
        return nil, "'" .. printable(s) .. "' is no id of a known format"
    end

    local found = {}
    for i = 1, tonumber(count) do
        local reading = readings[i - 1]
        local ms = reading.ms ~= NO_TIME and tonumber(reading.ms) or nil
        found[i] = {
            format = ffi_str(reading.format.data, reading.format.len),
            layout = reading.layout.len > 0 and ffi_str(reading.layout.data, reading.layout.len) or nil,
            ms = ms,
            time = ms and rfc3339(ms),
            unlikely = reading.is_unlikely or nil,
        }
    end
    return found
end
