-- txid([ms]) in plain LuaJIT, for systems without libtxid. `require "resty.txid"` uses it automatically.
--
-- The layout, the arguments, the errors and the guarantees are those of libtxid. Random bits come from the system, for
-- 64 ids at a time.

local args = require "resty.txid.args"
local bit = require "bit"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


local abs = math.abs
local band = bit.band
local bor = bit.bor
local bxor = bit.bxor
local ffi_cast = ffi.cast
local ffi_errno = ffi.errno
local ffi_str = ffi.string
local floor = math.floor
local integer_ms = args.integer_ms
local lshift = bit.lshift
local pcall = pcall
local rol = bit.rol
local rshift = bit.rshift
local tobit = bit.tobit
local tonumber = tonumber
local tostring = tostring
local type = type


local LEN = lib.LEN
local LONGEST_HOLD_MS = 10000
local REFILL_AFTER_MS = 1000
local IDS = 64
local BYTES = 7 * IDS
local EINTR = 4
local LOW_42_BITS = 0x3ffffffffffULL


-- Under our own names, so that another module's declarations of the same functions cannot conflict.
ffi.cdef[[
int txid_pure_clock_gettime(int clock, long *time) __asm__("clock_gettime");
int txid_pure_getpid(void) __asm__("getpid");
long txid_pure_getrandom(void *buf, size_t len, unsigned flags) __asm__("getrandom");
int txid_pure_madvise(void *address, size_t len, int advice) __asm__("madvise");
void *txid_pure_mmap(void *address, size_t len, int protection, int flags, int fd, long offset) __asm__("mmap");
int txid_pure_munmap(void *address, size_t len) __asm__("munmap");
]]
local C = ffi.C


local CLOCK_REALTIME = 0
local timespec = ffi.new("long[2]")


local clock_ms = lib.nginx_ms or function()
    C.txid_pure_clock_gettime(CLOCK_REALTIME, timespec)
    return tonumber(timespec[0]) * 1000 + floor(tonumber(timespec[1]) / 1000000)
end


-- 32, 16 and 8 random bits for each of the next ids; for how many they are left, whether they were requested, and by
-- which process. Then the four words of xoshiro128++, for when the system has no randomness: LuaJIT computes it without
-- boxed 64-bit integers.
local stream_t = ffi.typeof([[struct {
    int32_t a[$];
    uint16_t b[$];
    uint8_t c[$];
    int32_t left, requested, pid, s0, s1, s2, s3;
}]], IDS, IDS, IDS)


-- A stream that the kernel wipes in every child process (Linux 4.14 and later), so that a child finds nothing
-- requested; nil where the kernel cannot do that. Some emulators accept any advice and ignore it, so only a kernel that
-- rejects an advice that has never existed is trusted.
local function wiped_in_children()
    local SIZE, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS = ffi.sizeof(stream_t), 3, 0x22
    local NO_ADVICE, WIPE_ON_FORK = -1, 18
    local address = C.txid_pure_mmap(nil, SIZE, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0)
    if ffi.cast("intptr_t", address) == -1 then
        return nil
    end

    local stream = ffi.gc(ffi.cast(ffi.typeof("$ *", stream_t), address), function()
        C.txid_pure_munmap(address, SIZE)
    end)
    local is_wiped = C.txid_pure_madvise(address, SIZE, NO_ADVICE) ~= 0
                     and C.txid_pure_madvise(address, SIZE, WIPE_ON_FORK) == 0
    return is_wiped and stream or nil
end


local stream = jit.os == "Linux" and wiped_in_children()
-- Elsewhere, each id asks for the process id.
local asks_for_pid = not stream
stream = stream or ffi.new(stream_t)


local function next_32_bits()
    local s0, s1, s2, s3 = stream.s0, stream.s1, stream.s2, stream.s3
    local word = tobit(rol(tobit(s0 + s3), 7) + s0)
    local t = lshift(s1, 9)
    s2 = bxor(s2, s0)
    s3 = bxor(s3, s1)
    stream.s1 = bxor(s1, s2)
    stream.s0 = bxor(s0, s3)
    stream.s2 = bxor(s2, t)
    stream.s3 = rol(s3, 11)
    return word
end


local has_getrandom = pcall(function() return C.txid_pure_getrandom end)


local function ask_the_system()
    local more = tonumber(C.txid_pure_getrandom(stream, BYTES, 0))
    if more == BYTES then
        return true
    end

    -- A signal interrupts.
    local bytes, given = ffi_cast("uint8_t *", stream), 0
    repeat
        if more > 0 then
            given = given + more

        elseif ffi_errno() ~= EINTR then
            return false
        end
        more = tonumber(C.txid_pure_getrandom(bytes + given, BYTES - given, 0))
    until given + more == BYTES
    return true
end


local function read_urandom()
    local file = io.open("/dev/urandom", "rb")
    if not file then
        return false
    end

    -- Unbuffered, because no more is needed than is requested.
    file:setvbuf("no")
    local bytes = file:read(BYTES)
    file:close()
    if not bytes or #bytes < BYTES then
        return false
    end

    ffi.copy(stream, bytes, BYTES)
    return true
end


-- Makes bits of what differs between any two processes and any two moments, for when the system gave no randomness.
local has_warned = false
local function make_do()
    if not has_warned then
        lib.log("WARN", "resty.txid: the system gave no randomness; ids are made from the clock and the process alone")
        has_warned = true
    end
    C.txid_pure_clock_gettime(CLOCK_REALTIME, timespec)
    stream.s0 = bxor(stream.s0, tobit(timespec[0]))
    stream.s1 = bxor(stream.s1, tobit(timespec[1]))
    stream.s2 = bxor(stream.s2, C.txid_pure_getpid())
    stream.s3 = bxor(stream.s3, tobit(tonumber(tostring({}):match("0x(%x+)"), 16)))
    -- They differ in only a few bits, so spread them.
    for _ = 1, 16 do
        next_32_bits()
    end
    for i = 0, IDS - 1 do
        stream.a[i], stream.b[i], stream.c[i] = next_32_bits(), rshift(next_32_bits(), 16), rshift(next_32_bits(), 24)
    end
end


local filled_at_ms = 0


local function fill(now_ms)
    -- First, so that a child that is forked before the end of this finds that it has requested nothing.
    stream.requested = 1
    stream.pid = asks_for_pid and C.txid_pure_getpid() or 0
    if not (has_getrandom and ask_the_system()) and not read_urandom() then
        make_do()
    end
    stream.left, filled_at_ms = IDS, now_ms
end


-- Returns 32, 16 and 8 random bits, which are used once and erased. Also drops what is left once a second of use, so
-- that two copies of a machine image diverge.
local function draw(now_ms)
    if stream.requested == 0 or stream.left == 0 or abs(now_ms - filled_at_ms) >= REFILL_AFTER_MS
       or asks_for_pid and stream.pid ~= C.txid_pure_getpid()
    then
        fill(now_ms)
    end

    local at = stream.left - 1
    stream.left = at
    local a, b, c = stream.a[at], stream.b[at], stream.c[at]
    stream.a[at], stream.b[at], stream.c[at] = 0, 0, 0
    if stream.requested == 0 then
        -- This is a child that was forked in the meantime, and has read zeros.
        return draw(now_ms)
    end
    return a, b, c
end


-- The two characters of each value of 10 bits.
local pairs_of_characters
do
    local ALPHABET = "0123456789abcdefghijklmnopqrstuv"
    local all = {}
    for i = 0, 1023 do
        local high, low = rshift(i, 5) + 1, band(i, 31) + 1
        all[#all + 1] = ALPHABET:sub(high, high) .. ALPHABET:sub(low, low)
    end
    pairs_of_characters = ffi.new("uint16_t[1024]")
    ffi.copy(pairs_of_characters, table.concat(all), 2048)
end


local buf = ffi.new("uint16_t[?]", LEN / 2)
local last_ms = -math.huge


-- As in libtxid: a clock that is a little behind was stepped back, and time stays; one that is far behind was wrong
-- before.
local function never_backwards(now_ms)
    local behind = last_ms - now_ms
    if behind <= 0 or behind > LONGEST_HOLD_MS then
        last_ms = now_ms
    end
    return last_ms
end


return function(ms)
    local now_ms = clock_ms()
    local stamp
    if ms then
        stamp = integer_ms(ms, "txid")
        if type(stamp) == "cdata" then
            stamp = tonumber(band(stamp, LOW_42_BITS))
        end
        stamp = stamp % 2^42
    else
        stamp = never_backwards(now_ms)
    end

    -- 42 bits of time in two halves, then 8 + 10 + 10 + 4, 6 + 10, and 6 random bits.
    local high = tobit(floor(stamp * 2^-22))
    local low = tobit(stamp)
    local a, b, c = draw(now_ms)
    buf[0] = pairs_of_characters[band(rshift(high, 10), 1023)]
    buf[1] = pairs_of_characters[band(high, 1023)]
    buf[2] = pairs_of_characters[band(rshift(low, 12), 1023)]
    buf[3] = pairs_of_characters[band(rshift(low, 2), 1023)]
    buf[4] = pairs_of_characters[bor(lshift(band(low, 3), 8), rshift(a, 24))]
    buf[5] = pairs_of_characters[band(rshift(a, 14), 1023)]
    buf[6] = pairs_of_characters[band(rshift(a, 4), 1023)]
    buf[7] = pairs_of_characters[bor(lshift(band(a, 15), 6), rshift(b, 10))]
    buf[8] = pairs_of_characters[band(b, 1023)]
    buf[9] = pairs_of_characters[lshift(rshift(c, 2), 4)]

    -- In parentheses for the reason given in resty.txid.
    return (ffi_str(buf, LEN))
end
