-- Reads ids of any format. require "resty.txid.inspect" is a function that returns what a text can be, or what it
-- holds.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.inspect"
local FLAG = lib.VALUE_FLAG
local NO_FORMAT = lib.ERROR_OPTION
local NO_TIME = -0x8000000000000000LL
local NUMBER = lib.VALUE_NUMBER
local bad_argument = args.bad_argument
local check_string = args.check_string
local clock_ms = lib.clock_ms
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local integer_ms = args.integer_ms
local printable = text.printable
local read = text.read
local rfc3339 = text.rfc3339
local tonumber = tonumber
local type = type


local readings = ffi_new("txid_reading[?]", lib.READINGS_MAX)
local READING_SIZE = ffi.sizeof("txid_reading")


local function value_of(part)
    if part.value == NUMBER then
        return tonumber(part.number)
    end
    if part.value == FLAG then
        return part.number ~= 0
    end
    return ffi_str(part.text, part.text_len)
end


-- Returns what the text holds as an id of this format.
local function holds(s, format, epoch_ms)
    if type(format) ~= "string" then
        bad_argument(2, "inspect", "string", format)
    end

    local parts, err, code = read(format, s)
    if not parts then
        if code == NO_FORMAT then
            error("resty.txid.inspect: " .. err, 3)
        end
        return nil, err
    end

    local found = {}
    if parts.ms ~= NO_TIME then
        found.ms = tonumber(parts.ms + epoch_ms)
        found.time = rfc3339(found.ms)
    end
    for i = 0, tonumber(parts.count) - 1 do
        local part = parts.list[i]
        found[ffi_str(part.name.data, part.name.len)] = value_of(part)
    end
    return found
end


-- With the name of a format, as for resty.txid.maker, returns what the text holds as an id of it: a table of its parts,
-- and if it has a time, `ms` and the same as an RFC 3339 `time`. `epoch_ms` is what the time of a trace id counts from.
-- Returns nil and the reason if the text is no such id.
--
-- Without, returns a list of the formats that the text fits, the likeliest first, or nil and the reason. Each is a
-- table: the name of the `format`; `ms` and `time`, if it has one; the `layout` of a 64-bit id; `unlikely` if its time
-- is before such ids existed, or more than a day ahead.
return function(s, format, epoch_ms)
    check_string(s, "inspect")
    if format ~= nil then
        local found, err = holds(s, format, epoch_ms and integer_ms(epoch_ms, "inspect", 3) or 0)
        return found, err
    end

    local count = C.txid_readings(s, #s, clock_ms(), readings, READING_SIZE, lib.READINGS_MAX)
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
