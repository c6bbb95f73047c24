-- Reads ids, and writes values other than ids, for results and for messages.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.C
local byte = string.byte
local date = os.date
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local gsub = string.gsub
local rep = string.rep
local sub = string.sub


-- The first and the last time of the calendar.
local FIRST_MS = -62167219200000
local LAST_MS = 253402300799999

local message = ffi_new("char[?]", lib.MESSAGE_LEN)
local parts = ffi_new("txid_parts")
local PARTS_SIZE = ffi.sizeof("txid_parts")


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


local function escaped(character)
    return format("\\x%02x", byte(character))
end


-- Returns the beginning of any text with control characters escaped, so that it cannot forge a line in a log.
function _M.printable(text)
    return (gsub(sub(text, 1, 40), "[^ -~]", escaped))
end


-- Returns an array of txid_text and its length. Keep the words as long as it is used.
function _M.texts(words)
    local texts = ffi_new("txid_text[?]", #words)
    for i = 1, #words do
        texts[i - 1].data, texts[i - 1].len = words[i], #words[i]
    end
    return texts, #words
end


-- Reads a text as an id of the format of this name. Returns a txid_parts, valid until the next call; or nil, the
-- reason, and a txid_error.
function _M.read(format_name, text)
    local code = C.txid_read(format_name, #format_name, text, #text, parts, PARTS_SIZE, message)
    if code < 0 then
        return nil, ffi_str(message), code
    end
    return parts
end


return _M
