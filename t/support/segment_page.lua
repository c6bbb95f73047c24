-- Does what txid-agent does with the page of a segment: makes it, and grants ranges. Needs no store.

local bit = require "bit"
local ffi = require "ffi"


local HEADER = ffi.typeof "union { uint8_t bytes[4096]; uint32_t halves[1024]; uint64_t words[512]; }"
local PRIME = 0x100000001b3ULL


local _M = {}


local function read(path, format)
    local file = assert(io.open(path, "rb"))
    local text = file:read(format)
    file:close()
    return text
end


-- Writes `text` at `offset` into the file that workers have mapped.
local function write(path, offset, text)
    local file = assert(io.open(path, "r+b"))
    file:seek("set", offset)
    file:write(text)
    file:close()
end


function _M.make(path)
    local file = assert(io.open(path, "wb"))
    file:write(("\0"):rep(4096))
    file:close()
    os.execute("chmod 666 " .. path)

    local page = HEADER()
    ffi.copy(page.bytes, "txidsegm", 8)
    page.halves[2] = 1
    local boot = read("/proc/sys/kernel/random/boot_id", "*l"):gsub("-", "")
    for i = 0, 15 do
        page.bytes[40 + i] = tonumber(boot:sub(2 * i + 1, 2 * i + 2), 16)
    end
    local pipe = io.popen("stat -c '%d %i %.9W' " .. path)
    page.words[7], page.words[8] = pipe:read("*n", "*n")
    local seconds, nanoseconds = pipe:read("*a"):match("(%d+)%.(%d+)")
    page.words[9] = tonumber(seconds) * 1000000000ULL + tonumber(nanoseconds)
    pipe:close()

    local hash = 0xcbf29ce484222325ULL
    for i = 0, 119 do
        hash = bit.bxor(hash, page.bytes[i]) * PRIME
    end
    page.words[15] = hash
    write(path, 0, ffi.string(page.bytes, 128))
end


local function write_words(path, offset, ...)
    local words = ffi.new("uint64_t[2]", ...)
    write(path, offset, ffi.string(words, 8))
    write(path, offset + 8, ffi.string(words + 1, 8))
end


-- Grants the numbers from `first` up to `past`, excluding `past`.
function _M.publish(path, first, past)
    write_words(path, 256, first, past)
end


-- Says that the numbers are hidden by another key than any that this host may have.
function _M.name_a_key(path)
    write(path, 512, ffi.string(ffi.new("uint64_t[1]", 0x8000000000000001ULL), 8))
end


-- Reports how many numbers a range has, how many are taken in 1,000 seconds, when the store last answered, how often it
-- gave some or failed, and the news.
function _M.report(path, step, rate_milli, contact_ms, fetches, failures, news)
    write_words(path, 384, step, rate_milli)
    write_words(path, 400, contact_ms, fetches)
    write_words(path, 416, failures, news)
end


return _M
