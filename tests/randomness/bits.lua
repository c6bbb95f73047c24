-- Writes the random bits of new ids to stdout, 54 of each, until nobody reads them.

local ffi = require "ffi"
local txid = require "resty.txid"


local BYTES = 54 * 1024
local DIGITS = "0123456789abcdefghijklmnopqrstuv"

local value_of = ffi.new("uint8_t[256]")
for i = 1, #DIGITS do
    value_of[DIGITS:byte(i)] = i - 1
end
local buf = ffi.new("uint8_t[?]", BYTES)
local bytes = ffi.new("const uint8_t *[1]")


-- Stamped with 0, as fast as possible; the time is in the first 42 bits, and the last 4 of 100 are always 0.
while true do
    local at, word, bits = 0, 0, 0
    while at < BYTES do
        local id = txid(0)
        bytes[0] = ffi.cast("const uint8_t *", id)
        for i = 8, 19 do
            -- Two bits of the first character are of the time, and only one of the last is used.
            local value, new = value_of[bytes[0][i]], i == 8 and 3 or 5
            if i == 19 then
                value, new = value / 16, 1
            end
            word, bits = word * 2^new + value, bits + new
            if bits >= 8 then
                bits = bits - 8
                local byte = math.floor(word / 2^bits)
                buf[at], at = byte, at + 1
                word = word - byte * 2^bits
            end
        end
    end
    if not io.write(ffi.string(buf, BYTES)) then
        return
    end
end
