-- Writes values other than ids, for decode() and for messages.

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
local rep = string.rep
local rshift = require("bit").rshift
local sub = string.sub


-- The first and the last time of the calendar.
local FIRST_MS = -62167219200000
local LAST_MS = 253402300799999

local message = ffi.new("char[?]", lib.MESSAGE_LEN)


local _M = {}


-- Returns milliseconds since 1970-01-01 UTC as an RFC 3339 time, or nil if they are outside the calendar.
function _M.rfc3339(ms)
    if not (ms >= FIRST_MS and ms <= LAST_MS) then
        return nil
    end
    local seconds = date("!%Y-%m-%dT%H:%M:%S", floor(ms / 1000))
    -- glibc writes the year 999 with three digits.
    return rep("0", 19 - #seconds) .. seconds .. format(".%03dZ", ms % 1000)
end


-- Returns a 32-bit IPv4 address in dotted notation.
function _M.dotted(word)
    return format("%d.%d.%d.%d", rshift(word, 24), band(rshift(word, 16), 255), band(rshift(word, 8), 255),
                  band(word, 255))
end


local function escaped(character)
    return format("\\x%02x", byte(character))
end


-- Returns the beginning of any text with control characters escaped, so that it cannot forge a line in a log.
function _M.printable(text)
    return (gsub(sub(text, 1, 40), "[^ -~]", escaped))
end


-- Returns the reason why a text does not have the format, one of the FORMAT_ constants.
function _M.explain_format(text_format, text)
    C.txid_explain(text_format, text, #text, message)
    return (ffi_str(message))
end


return _M
