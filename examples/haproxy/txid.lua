-- Makes txids in HAProxy, whose Lua (5.3 or 5.4) cannot load libtxid: a fetch for unique-id-format. Load it with
-- lua-load-per-thread, so that threads do not wait for each other.

local DIGITS = "0123456789abcdefghijklmnopqrstuv"

-- Without a buffer, because processes that begin as copies of one must not read the same bytes.
local random = assert(io.open("/dev/urandom", "rb"))
random:setvbuf("no")
local last_ms = 0


-- A digit from the lowest five bits.
local function digit(bits)
    local place = (bits & 31) + 1
    return DIGITS:sub(place, place)
end


-- 42 bits of time, 54 random ones, and four zeros.
core.register_fetches("txid", function()
    local now = core.now()
    local ms = now.sec * 1000 + now.usec // 1000
    -- While the clock is set back by up to 10 seconds, the time stays.
    if ms < last_ms and last_ms - ms <= 10000 then
        ms = last_ms
    end
    last_ms = ms
    local bits = string.unpack(">I7", random:read(7)) >> 2
    local id = {}
    for place = 37, 2, -5 do
        id[#id + 1] = digit(ms >> place)
    end
    id[9] = digit(ms << 3 | bits >> 51)
    for place = 46, 1, -5 do
        id[#id + 1] = digit(bits >> place)
    end
    id[20] = digit(bits << 4)
    return table.concat(id)
end)
