-- Finds libtxid, and checks that it fits these Lua files; and what every module checks alike.
--
-- Without libtxid `engine` is "pure", not "native": require "resty.txid" works then all the same, in plain LuaJIT, and
-- any use of `C` is an error that says where libtxid was looked for.

local cdefs = require "resty.txid.cdefs"
local ffi = require "ffi"


local band = require("bit").band
local date = os.date
local error = error
local ffi_istype = ffi.istype
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local pairs = pairs
local pcall = pcall
local rshift = require("bit").rshift
local setmetatable = setmetatable
local tonumber = tonumber
local tostring = tostring
local concat = table.concat
local open = io.open
local type = type


local MAX_NUMBER = 2^53
local int64_t = ffi.typeof("int64_t")
local uint64_t = ffi.typeof("uint64_t")
local INT64_ID = tonumber(int64_t)
local UINT64_ID = tonumber(uint64_t)


local _M = {}
for name, value in pairs(cdefs) do
    _M[name] = value
end


local FILE = jit.os == "OSX" and "libtxid.dylib" or "libtxid.so"
local ENOENT, EACCES, ENOTDIR = 2, 13, 20


-- A file that is there but may not be opened exists: that is for whoever installed it to know.
local function exists(path)
    local file, _, errno = open(path, "rb")
    if file then
        file:close()
    end
    return file ~= nil or errno ~= ENOENT and errno ~= ENOTDIR
end


-- Whether it lies in a directory that may not be searched, where Lua's own loaders find nothing either. If it is only
-- the file that may not be opened, the slash makes a wrong name of it.
local function is_out_of_reach(path)
    local _, _, errno = open(path .. "/", "rb")
    return errno == EACCES
end


-- What the system's loader says of a name that it finds nowhere, not of a library that it finds and cannot load.
local function says_not_found(message)
    return message:find(FILE:gsub("%p", "%%%0") .. "[:,].-[Nn]o such file") ~= nil
end


-- The library and its path, or nil and how to come by it.
--
-- The library lies beside a compiled Lua module would: "/usr/lib/lua/5.1/?.so" has it at "/usr/lib/lua/5.1/libtxid.so".
local function load_library()
    local is_there = false
    local tried = {}
    for entry in package.cpath:gmatch("[^;]+") do
        local dir = entry:match("^([^?]*/)[^/]*%?")
        if dir then
            local path = dir .. FILE
            if exists(path) then
                local ok, library = pcall(ffi.load, path)
                if ok then
                    return library, path
                end
                is_there = is_there or not is_out_of_reach(path)
                tried[#tried + 1] = path .. ": " .. library

            else
                tried[#tried + 1] = path .. ": no such file"
            end
        end
    end

    local ok, library = pcall(ffi.load, FILE)
    if ok then
        return library, FILE
    end
    is_there = is_there or not says_not_found(library)
    tried[#tried + 1] = "the system's loader: " .. library

    local how = "install it with `luarocks install lua-resty-txid` or `make install`, or put its directory on "
                .. "lua_package_cpath (\"/that/directory/?.so;;\"). Tried:\n\t" .. concat(tried, "\n\t")
    if is_there then
        error("resty.txid: cannot load " .. FILE .. "; " .. how, 0)
    end
    return nil, how
end


local function abi_version(library)
    return library.txid_abi_version()
end


-- For whoever runs this: in nginx's error log, or on stderr where there is no nginx.
function _M.log(level, message)
    local ngx = ngx
    if ngx then
        ngx.log(ngx[level], message)
    else
        io.stderr:write(message, "\n")
    end
end


local library, path_or_how = load_library()
if library then
    local ok, found = pcall(abi_version, library)
    if not ok or found ~= _M.ABI_VERSION then
        error("resty.txid: " .. path_or_how .. " has ABI version " .. (ok and tostring(found) or "unknown")
              .. ", these Lua files need " .. _M.ABI_VERSION .. "; install both from one release", 0)
    end

    _M.engine = "native"
    _M.path = path_or_how

else
    _M.log("NOTICE", "resty.txid: there is no " .. FILE .. ", so ids are made in plain LuaJIT; for the faster engine, "
                     .. path_or_how)

    _M.engine = "pure"
    library = setmetatable({}, {
        __index = function(_, name)
            error("resty.txid: " .. name .. " needs " .. FILE .. ", which was not found; " .. path_or_how, 0)
        end,
    })
end

_M.C = library


-- To ffi.istype() and to C a type passes for a value of itself, and is the number LuaJIT knows it by. Only with that
-- number is there need of the slow way to tell them apart.
local function is_a_type(value)
    return (value == INT64_ID or value == UINT64_ID) and tostring(value):sub(1, 6) == "ctype<"
end


-- Whether the value is one of the 64-bit integers that LuaJIT has beside its numbers.
function _M.is_int64(value)
    return (ffi_istype(int64_t, value) or ffi_istype(uint64_t, value)) and not is_a_type(value)
end
local is_int64 = _M.is_int64


-- The argument #`position` (1 unless given) of the calling function, called `name`, as an integer that C takes; it
-- stands for a time.
function _M.integer_ms(ms, name, position)
    if type(ms) == "number" then
        -- Written so that it refuses a NaN, too.
        if ms >= -MAX_NUMBER and ms <= MAX_NUMBER then
            return (floor(ms))
        end

        error("bad argument #" .. (position or 1) .. " to '" .. name .. "' (a number from -2^53 to 2^53 expected, got "
              .. format("%.17g", ms) .. ")", 3)
    end

    if is_int64(ms) then
        return ms
    end

    local got = type(ms) == "cdata" and tostring(ffi.typeof(ms)) or type(ms)
    error("bad argument #" .. (position or 1) .. " to '" .. name .. "' (number, int64_t or uint64_t expected, got "
          .. got .. ")", 3)
end


local ngx_now = ngx and ngx.now


-- nginx's cached time, or the system's where there is no nginx.
function _M.clock_ms()
    if not ngx_now then
        return (library.txid_clock_ms())
    end

    -- ngx.now() is a fraction just above or just below the millisecond. Half a millisecond more, and the conversion to
    -- an integer, which cuts, gives the right one.
    return ngx_now() * 1000 + 0.5
end


-- The argument #1 of the calling function, called `name`, has to be a string.
function _M.check_string(value, name)
    if type(value) ~= "string" then
        error("bad argument #1 to '" .. name .. "' (string expected, got " .. type(value) .. ")", 3)
    end
end


local node = ffi_new("uint8_t[?]", _M.NODE_LEN)
local node_text


-- The bytes of a MAC address, "02:42:ac:11:00:02", which is the argument #`position` of the calling function, called
-- `name`. They are good until the next call.
function _M.node_bytes(text, position, name)
    if text == node_text then
        return node
    end

    if type(text) ~= "string" or library.txid_node_read(text, #text, node) < 0 then
        local got = type(text) == "string" and '"' .. text .. '"' or type(text)
        error("bad argument #" .. position .. " to '" .. name .. "' (a MAC address such as \"02:42:ac:11:00:02\" "
              .. "expected, got " .. got .. ")", 3)
    end

    node_text = text
    return node
end


-- A function of the same kind, for the 32 bits that the library's function `read` finds for an address, or for the
-- host's own without one.
local function host_reader(read, example)
    local word = ffi_new("uint32_t[1]")
    local known, known_text

    return function(text, position, name)
        if known and text == known_text then
            return known
        end

        if text ~= nil and (type(text) ~= "string" or text == "" or library[read](text, #text, word) < 0) then
            local got = type(text) == "string" and '"' .. text .. '"' or type(text)
            error("bad argument #" .. position .. " to '" .. name .. "' (an address such as " .. example
                  .. " expected, got " .. got .. ")", 3)
        end

        if text == nil and library[read](nil, 0, word) < 0 then
            error("'" .. name .. "' finds no address of this host's own; give one such as " .. example
                  .. " as argument #" .. position, 3)
        end

        known, known_text = word[0], text
        return known
    end
end


_M.ipv4 = host_reader("txid_host_ipv4", '"10.0.0.7"')
_M.host_word = host_reader("txid_host_word", '"10.0.0.7" or "fd00::7"')


-- The dotted text of the 32 bits of an IPv4 address.
function _M.dotted(word)
    return format("%d.%d.%d.%d", rshift(word, 24), band(rshift(word, 16), 255), band(rshift(word, 8), 255),
                  band(word, 255))
end


-- The milliseconds since 1970-01-01 UTC as a time of RFC 3339; nil where they are beyond any calendar.
function _M.rfc3339(ms)
    local seconds = date("!%Y-%m-%dT%H:%M:%S", floor(ms / 1000))
    return seconds and seconds .. format(".%03dZ", ms % 1000)
end


local message = ffi_new("char[?]", _M.MESSAGE_LEN)


-- What is wrong with a text that is not of the format, one of the FORMAT_ constants.
function _M.explain_format(text_format, text)
    return (ffi_str(message, library.txid_explain_format(text_format, text, #text, message)))
end


return _M
