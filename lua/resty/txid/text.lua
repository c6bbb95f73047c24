-- How values that are not ids are written, in what decode() returns and in messages.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.C
local band = require("bit").band
local byte = string.byte
local date = os.date
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local gsub = string.gsub
local rshift = require("bit").rshift
local sub = string.sub


local message = ffi.new("char[?]", lib.MESSAGE_LEN)


local _M = {}


-- The milliseconds since 1970-01-01 UTC as a time of RFC 3339; nil where they are beyond any calendar.
function _M.rfc3339(ms)
    local seconds = date("!%Y-%m-%dT%H:%M:%S", floor(ms / 1000))
    return seconds and seconds .. format(".%03dZ", ms % 1000)
end


-- The dotted text of the 32 bits of an IPv4 address.
function _M.dotted(word)
    return format("%d.%d.%d.%d", rshift(word, 24), band(rshift(word, 16), 255), band(rshift(word, 8), 255),
                  band(word, 255))
end


local function escaped(character)
    return format("\\x%02x", byte(character))
end


-- The beginning of a text that may be anything: it must not write a line of its own into a log.
function _M.printable(text)
    return (gsub(sub(text, 1, 40), "[^ -~]", escaped))
end


-- What is wrong with a text that is not of the format, one of the FORMAT_ constants.
function _M.explain_format(text_format, text)
    C.txid_explain(text_format, text, #text, message)
    return (ffi_str(message))
end


return _M
