-- Tests resty.txid.pure without nginx. Prints TAP.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local native = require "resty.txid"
local decode = require "support.decode"
local trace = require "support.trace"


ffi.cdef[[
int fork(void);
int pipe(int fds[2]);
long read(int fd, void *buf, size_t len);
long write(int fd, const void *buf, size_t len);
int close(int fd);
int waitpid(int pid, int *status, int options);
void _exit(int status);
]]
local C = ffi.C


local tests = 0


local function ok(passed, name, details)
    tests = tests + 1
    print((passed and "ok " or "not ok ") .. tests .. " - " .. name)
    if not passed then
        -- As Test::More says it, where prove shows it.
        local text = tostring(details):gsub("\n", "\n# ")
        io.stderr:write("#   Failed test '", name, "'\n#   in t/lua/pure.t\n# ", text, "\n")
    end
end


local function is(got, expected, name)
    ok(got == expected, name, "got:      " .. tostring(got) .. "\nexpected: " .. tostring(expected))
end


-- Loads another resty.txid.pure, with its own stream, and with some functions of C or nginx replaced.
local function load_pure(c_functions, nginx)
    package.loaded["resty.txid.pure"] = nil
    package.loaded.ffi = setmetatable({ C = setmetatable(c_functions or {}, { __index = C }) }, { __index = ffi })
    local saved_ngx = rawget(_G, "ngx")
    rawset(_G, "ngx", nginx)
    lib.nginx_ms = nginx and function()
        return nginx.now() * 1000
    end

    local pure = require "resty.txid.pure"

    lib.nginx_ms = nil
    rawset(_G, "ngx", saved_ngx)
    package.loaded.ffi = ffi
    return pure
end


local pure = load_pure()


-- The result of a call, without the random part of ids.
local function outcome(txid, ...)
    local returned, value = pcall(function(...) return (txid(...)) end, ...)
    return returned and ("%s, %.0f"):format(value:sub(1, 8), decode(value)) or value
end


do
    local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
    local values = {
        0, 1, 4, -0.0, 0.5, -0.5, 1.999, -0.001, 655829050000, 655929050000, 2^42 - 1, 2^42, 2^42 + 1, -1, -2^42,
        -2^42 - 1, 2^53, -2^53, 2^53 + 2, -2^53 - 2, 1e300, 0/0, math.huge, -math.huge, 0LL, -1LL, -1ULL,
        0x7fffffffffffffffLL, 0x8000000000000000LL, 0x8000000000000000ULL, 9007199254740993LL, int64(tonumber(int64)),
        "1", "", true, {}, print, coroutine.create(print), ffi.new("int32_t", 1), ffi.new("char[2]"), 1i, int64, uint64,
    }
    local different = {}
    for i = 1, #values do
        local theirs, ours = outcome(native, values[i]), outcome(pure, values[i])
        if theirs ~= ours then
            different[#different + 1] = tostring(values[i]) .. ": " .. theirs .. " | " .. ours
        end
    end
    is(table.concat(different, "\n"), "", "every argument gives what it gives libtxid, errors included")
end


do
    local different = 0
    for _ = 1, 20000 do
        local ms = math.random(-2^31, 2^31) * 2^math.random(-4, 21)
        different = different + (outcome(native, ms) == outcome(pure, ms) and 0 or 1)
    end
    is(different, 0, "20,000 random times are written as libtxid writes them")
end


-- The 54 random bits of an id, as numbers of 28 and of 26 bits.
local function random_bits(id)
    local DIGITS = "0123456789abcdefghijklmnopqrstuv"
    local bits = {}
    for position = 9, 19 do
        local value = DIGITS:find(id:sub(position, position), 1, true) - 1
        for weight = 4, 0, -1 do
            bits[#bits + 1] = math.floor(value / 2^weight) % 2
        end
    end
    bits[#bits + 1] = id:sub(20, 20) == "g" and 1 or 0
    -- The first two are the last ones of the time.
    local text = table.concat(bits, "", 3)
    return tonumber(text:sub(1, 28), 2) .. " " .. tonumber(text:sub(29), 2)
end


-- 64 ids take seven bytes each: 32, 16 and 8 bits, each at the same place in a list of its own.
local IDS = 64
local BYTES = 7 * IDS


-- The random bits of the id at this place in the bytes.
local function bits_in(bytes, place)
    local a = tonumber(ffi.cast("uint32_t *", bytes)[place])
    local b = ffi.cast("uint16_t *", bytes + 4 * IDS)[place]
    local c = ffi.cast("uint8_t *", bytes + 6 * IDS)[place]
    return math.floor(a / 2^4) .. " " .. (a % 2^4) * 2^22 + b * 2^6 + math.floor(c / 4)
end


do
    local given, stream = ffi.new("uint8_t[?]", BYTES), nil
    local fills = 0
    local txid = load_pure {
        txid_pure_getrandom = function(buf, len)
            stream, fills = ffi.cast("uint8_t *", buf), fills + 1
            for i = 0, BYTES - 1 do
                given[i] = math.random(1, 255)
            end
            ffi.copy(buf, given, BYTES)
            return len
        end,
    }
    local wrong, kept, places = 0, 0, {}
    for _ = 1, 3 * IDS do
        local bits = random_bits(txid(0))
        for place = 0, IDS - 1 do
            if bits == bits_in(given, place) then
                places[place] = (places[place] or 0) + 1
                kept = kept + (bits_in(stream, place) == "0 0" and 0 or 1)
                bits = nil
            end
        end
        wrong = wrong + (bits and 1 or 0)
    end
    is(wrong, 0, "random bits are the system's")
    is(kept, 0, "and erased when they are taken")
    local times = {}
    for place = 0, IDS - 1 do
        times[places[place] or 0] = true
    end
    ok(fills == 3 and next(times) == 3 and next(times, 3) == nil, "each is used once", fills)
end


do
    local said, written = {}, 0
    local txid = load_pure {
        txid_pure_getrandom = function(buf, len)
            said[#said + 1] = tostring(tonumber(len))
            if #said == 2 then
                ffi.errno(4)
                return -1
            end
            local given = math.min(tonumber(len), 100)
            ffi.fill(buf, given, 0xff)
            written = written + given
            return given
        end,
    }
    is(random_bits(txid(0)), 2^28 - 1 .. " " .. 2^26 - 1, "what a signal interrupts is requested again")
    is(table.concat(said, " ") .. ", " .. written, "448 348 348 248 148 48, 448",
       "and only the rest of it, until all is there")
end


do
    -- The kernel zeroes all of the page in a child. `before` says when this one is forked.
    local function fills_if_forked(before)
        local fills = 0
        local txid = load_pure {
            txid_pure_getrandom = function(buf, len)
                fills = fills + 1
                if fills == 1 and before then
                    ffi.fill(buf, BYTES + 32)
                end
                ffi.fill(buf, len, fills)
                return len
            end,
        }
        local id = random_bits(txid(0))
        return fills .. ": " .. tostring(id == bits_in(ffi.new("uint8_t[448]", fills), 0))
    end
    is(fills_if_forked(false), "1: true", "the system is asked once")
    is(fills_if_forked(true), "2: true", "and again in a child that is forked while it is asked")
end


do
    local txid = load_pure {
        txid_pure_clock_gettime = function(_, time)
            time[0], time[1] = 5, 999000000
            return 0
        end,
    }
    is(decode(txid()), 5999, "outside nginx, the nanoseconds of the system's clock are cut to milliseconds")
end


do
    local now = 1000
    local txid = load_pure(nil, { now = function() return now end })
    local function at(seconds)
        now = seconds
        return decode(txid())
    end
    is(at(1000), 1000000, "nginx's clock is used")
    is(at(999.999), 1000000, "a clock stepped back a little is waited for")
    is(at(990), 1000000, "so it is ten seconds back")
    is(at(989.999), 989999, "a clock further behind is followed")
    is(at(989.5), 989999, "and waited for from there")
    is(decode(txid(5)), 5, "a time that is given is stamped whatever the clock says")
end


-- The ids of this process, two children and a grandchild, which all continued from one stream.
local function ids_of_family(txid, count)
    local fds = ffi.new("int[2]")
    assert(C.pipe(fds) == 0)

    local function make()
        local ids = {}
        for i = 1, count do
            ids[i] = txid(0)
        end
        local text = table.concat(ids)
        assert(C.write(fds[1], text, #text) == #text)
    end

    local function in_child(work)
        local pid = C.fork()
        assert(pid >= 0)
        if pid == 0 then
            work()
            C._exit(0)
        end
        assert(C.waitpid(pid, nil, 0) == pid)
    end

    txid(0)
    in_child(function()
        in_child(make)
        make()
    end)
    in_child(make)
    make()
    C.close(fds[1])

    -- A pipe holds 64 KiB, and all four processes have written.
    local buf = ffi.new("char[65536]")
    local text = ffi.string(buf, C.read(fds[0], buf, 65536))
    C.close(fds[0])

    local different, got = 0, {}
    for id in text:gmatch(("."):rep(20)) do
        different = different + (got[id] and 0 or 1)
        got[id] = true
    end
    return different .. " of " .. #text / 20
end


is(ids_of_family(pure, 400), "1600 of 1600", "a fork makes a new stream")
is(ids_of_family(load_pure { txid_pure_madvise = function() return -1 end }, 400), "1600 of 1600",
   "so it does where the kernel cannot wipe memory in children")
is(ids_of_family(load_pure { txid_pure_madvise = function() return 0 end }, 400), "1600 of 1600",
   "and where an emulator accepts any advice and takes none")
is(ids_of_family(load_pure { txid_pure_mmap = function() return ffi.cast("void *", -1) end }, 400), "1600 of 1600",
   "and where there is no memory to map")


do
    -- Where the kernel wipes, which it is asked for once, no id asks for the process id.
    local function asked(c_functions)
        local pids, advices = 0, {}
        local madvise = c_functions.txid_pure_madvise or function(...) return C.txid_pure_madvise(...) end
        c_functions.txid_pure_madvise = function(address, len, advice)
            advices[#advices + 1] = advice
            return madvise(address, len, advice)
        end
        c_functions.txid_pure_getpid = function()
            pids = pids + 1
            return 1
        end
        local txid = load_pure(c_functions)
        for _ = 1, 10 do
            txid()
        end
        return "advices " .. table.concat(advices, " ") .. "; " .. (pids > 0 and "pids" or "no pids")
    end

    local address = C.txid_pure_mmap(nil, 4096, 3, 0x22, -1, 0)
    local does_wipe = C.txid_pure_madvise(address, 4096, -1) ~= 0 and C.txid_pure_madvise(address, 4096, 18) == 0
    C.txid_pure_munmap(address, 4096)
    is(asked {}, "advices -1 18; " .. (does_wipe and "no pids" or "pids"), "a kernel that wipes is let do so")
    is(asked { txid_pure_madvise = function() return 0 end }, "advices -1; pids",
       "one that takes any advice is not trusted")
    is(asked { txid_pure_mmap = function() return ffi.cast("void *", -1) end }, "advices ; pids",
       "nothing is advised for memory that there is not")
end


do
    local unmapped = 0
    load_pure { txid_pure_munmap = function() unmapped = unmapped + 1 end }
    package.loaded["resty.txid.pure"] = nil
    collectgarbage()
    collectgarbage()
    is(unmapped, 1, "a VM that ends gives its memory back")
    load_pure()
end


do
    local asked = {}
    local txid = load_pure {
        txid_pure_madvise = function() return -1 end,
        txid_pure_getrandom = function(buf, len, flags)
            asked[#asked + 1] = tonumber(len) .. " bytes, flags " .. flags
            ffi.fill(buf, len, 1)
            return len
        end,
    }
    for _ = 1, 10 do
        txid(0)
    end
    is(table.concat(asked, "; "), "448 bytes, flags 0", "the system is asked once, and waited for while it starts")
end


do
    local now, seeds = 1000, 0
    local txid = load_pure({
        txid_pure_getrandom = function(buf, len)
            seeds = seeds + 1
            ffi.fill(buf, len, seeds)
            return len
        end,
    }, { now = function() return now end })
    local counts = {}
    for i, seconds in ipairs { 1000, 1000.999, 1001, 1001.5, 1002.001, 900 } do
        now = seconds
        txid(0)
        txid()
        counts[i] = seeds
    end
    is(table.concat(counts, " "), "1 1 2 2 3 4", "what is left is dropped once a second of use")
end


do
    local function refused() return -1 end
    local warning = "resty.txid: the system gave no randomness; ids are made from the clock and the process alone"
    local now, warnings = 1000, 0
    local nginx = {
        WARN = "warn",
        now = function() return now end,
        log = function(level, text) warnings = warnings + (level == "warn" and text == warning and 1 or 0) end,
    }

    rawset(_G, "ngx", nginx)
    local urandom = load_pure({ txid_pure_getrandom = refused }, nginx)
    ok(urandom(0) ~= urandom(0) and warnings == 0, "without getrandom there is /dev/urandom", warnings)

    local saved_io = io
    local calls
    -- Without getrandom, with this for the bytes of /dev/urandom.
    local function reading(bytes)
        calls = {}
        local function note(name)
            return function(_, ...)
                calls[#calls + 1] = table.concat({ name, ... }, " ")
                return name == "read" and bytes or nil
            end
        end
        local file = { setvbuf = note "setvbuf", read = note "read", close = note "close" }
        rawset(_G, "io", setmetatable({ open = function() return file end }, { __index = saved_io }))
        load_pure({ txid_pure_getrandom = refused }, nginx)(0)
        return table.concat(calls, ", ")
    end
    is(reading(("x"):rep(448)), "setvbuf no, read 448, close", "of which no more is read than is needed")
    is(warnings, 0, "and that is enough")
    reading(("x"):rep(447))
    reading(nil)
    is(warnings, 2, "less is not")
    warnings = 0

    rawset(_G, "io", setmetatable({ open = function() return nil end }, { __index = io }))
    local one = load_pure({ txid_pure_getrandom = refused }, nginx)
    local two = load_pure({ txid_pure_getrandom = refused }, nginx)
    local family = ids_of_family(one, 400)
    ok(one(0) ~= two(0) and family == "1600 of 1600", "without any randomness ids are made all the same", family)
    now = 1001
    one()
    is(warnings, 2, "and one warning of each VM says so")

    -- The 206th to 208th number of xoshiro128++ from the state 1, 2, 3, 4, by its authors' program: 16 are left out,
    -- and the last of 64 ids comes first.
    local saved_tostring = tostring
    rawset(_G, "tostring", function() return "table: 0x4" end)
    local noisy = load_pure({
        txid_pure_getrandom = refused,
        txid_pure_clock_gettime = function(_, time)
            time[0], time[1] = 1, 2
            return 0
        end,
        txid_pure_getpid = function() return 3 end,
    }, nginx)
    rawset(_G, "tostring", saved_tostring)
    local a, b, c = 1345569112, math.floor(4022619843 / 2^16), math.floor(665967700 / 2^24)
    is(random_bits(noisy(0)), math.floor(a / 2^4) .. " " .. (a % 2^4) * 2^22 + b * 2^6 + math.floor(c / 4),
       "they are made from the clock, the process and an address")
    rawset(_G, "io", saved_io)
    rawset(_G, "ngx", nil)
end


for name, hot in pairs {
    ["txid()"] = function() return pure() end,
    ["txid(number)"] = function(i) return pure(i * 1000.5) end,
    ["txid(int64_t)"] = function(i) return pure(1LL * i) end,
} do
    is(trace(hot), "compiled", name .. " is compiled")
end


do
    -- In a worker that runs for a while, the code between two seeds is hot as well.
    local now = 1000
    local txid = load_pure(nil, { now = function() return now end })
    is(trace(function(i)
        now = i
        return txid()
    end), "compiled", "so is a new seed")
end


print("1.." .. tests)
