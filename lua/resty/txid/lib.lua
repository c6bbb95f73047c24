-- Finds libtxid, declares it to LuaJIT, and checks that the two fit; and what every module checks alike.
--
-- Without libtxid `engine` is "pure", not "native": require "resty.txid" works then all the same, in plain LuaJIT, and
-- any use of `C` is an error that says where libtxid was looked for.

local ffi = require "ffi"


local error = error
local ffi_istype = ffi.istype
local floor = math.floor
local format = string.format
local pcall = pcall
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


-- generated from src/ffi.rs by `make headers`: begin
ffi.cdef[[
const char *txid_strerror(int32_t code);
uint32_t txid_abi_version(void);
int64_t txid_clock_ms(void);
void txid_fill(char *buf, int64_t ms);
void txid_fill_now(char *buf, int64_t clock_ms);
bool txid_entropy_degraded(void);
void txid_first(char *buf, int64_t ms);
void txid_last(char *buf, int64_t ms);
int64_t txid_ms(const char *text, size_t len);
int32_t txid_to_bytes(const char *text, size_t len, uint8_t *bytes);
void txid_from_bytes(const uint8_t *bytes, char *buf);
size_t txid_explain(const char *text, size_t len, char *message);
]]

local _M = {
    ABI_VERSION = 1,
    LEN = 20,
    BYTES_LEN = 12,
    MESSAGE_LEN = 64,
    ERROR_LENGTH = -1,
    ERROR_CHARACTER = -2,
    ERROR_LAST_CHARACTER = -3,
}
-- generated: end


local FILE = jit.os == "OSX" and "libtxid.dylib" or "libtxid.so"
local ENOENT, ENOTDIR = 2, 20


-- A file that is there but may not be opened exists: that is for whoever installed it to know.
local function exists(path)
    local file, _, errno = open(path, "rb")
    if file then
        file:close()
    end
    return file ~= nil or errno ~= ENOENT and errno ~= ENOTDIR
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
                is_there = true
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
    _M.C = library
    _M.path = path_or_how

else
    _M.log("NOTICE", "resty.txid: there is no " .. FILE .. ", so ids are made in plain LuaJIT; for the faster engine, "
                     .. path_or_how)

    _M.engine = "pure"
    _M.C = setmetatable({}, {
        __index = function(_, name)
            error("resty.txid: " .. name .. " needs " .. FILE .. ", which was not found; " .. path_or_how, 0)
        end,
    })
end


-- To ffi.istype() and to C a type passes for a value of itself, and is the number LuaJIT knows it by. Only with that
-- number is there need of the slow way to tell them apart.
local function is_a_type(ms)
    return (ms == INT64_ID or ms == UINT64_ID) and tostring(ms):sub(1, 6) == "ctype<"
end


-- The argument #1 of the calling function, called `name`, as an integer that C takes; it stands for a time.
function _M.integer_ms(ms, name)
    if type(ms) == "number" then
        -- Written so that it refuses a NaN, too.
        if ms >= -MAX_NUMBER and ms <= MAX_NUMBER then
            return floor(ms)
        end

        error("bad argument #1 to '" .. name .. "' (a number from -2^53 to 2^53 expected, got "
              .. format("%.17g", ms) .. ")", 3)
    end

    if (ffi_istype(int64_t, ms) or ffi_istype(uint64_t, ms)) and not is_a_type(ms) then
        return ms
    end

    local got = type(ms) == "cdata" and tostring(ffi.typeof(ms)) or type(ms)
    error("bad argument #1 to '" .. name .. "' (number, int64_t or uint64_t expected, got " .. got .. ")", 3)
end


return _M
