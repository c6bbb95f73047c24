-- Finds libtxid, declares it to LuaJIT, and checks that the two fit; and what every module checks alike.

local ffi = require "ffi"


local error = error
local ffi_istype = ffi.istype
local floor = math.floor
local format = string.format
local pcall = pcall
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


local function exists(path)
    local file = open(path, "rb")
    if file then
        file:close()
    end
    return file ~= nil
end


-- The library lies beside a compiled Lua module would: "/usr/lib/lua/5.1/?.so" has it at "/usr/lib/lua/5.1/libtxid.so".
local function load_library()
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
    tried[#tried + 1] = "the system's loader: " .. library

    error("resty.txid: cannot load " .. FILE .. "; install it with `make install`, or put its directory on "
          .. "lua_package_cpath (\"/that/directory/?.so;;\"). Tried:\n\t" .. concat(tried, "\n\t"), 0)
end


local function abi_version(library)
    return library.txid_abi_version()
end


local library, path = load_library()
local ok, found = pcall(abi_version, library)
if not ok or found ~= _M.ABI_VERSION then
    error("resty.txid: " .. path .. " has ABI version " .. (ok and tostring(found) or "unknown")
          .. ", these Lua files need " .. _M.ABI_VERSION .. "; install both from one release", 0)
end


_M.C = library
_M.path = path


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
