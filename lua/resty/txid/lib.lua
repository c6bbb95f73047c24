-- Finds libtxid, declares it to LuaJIT, and checks that the two fit; and what every module checks alike.
--
-- Without libtxid `engine` is "pure", not "native": require "resty.txid" works then all the same, in plain LuaJIT, and
-- any use of `C` is an error that says where libtxid was looked for.

local ffi = require "ffi"


local band = require("bit").band
local date = os.date
local error = error
local ffi_istype = ffi.istype
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
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


-- generated from src/ffi.rs by `make headers`: begin
ffi.cdef[[
typedef struct txid_snowflake txid_snowflake;
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
bool txid_strong_fill(char *buf, int64_t ms);
bool txid_strong_fill_now(char *buf, int64_t clock_ms);
void txid_uuid_v4(char *buf);
void txid_uuid_v7(char *buf, int64_t ms);
void txid_uuid_v7_now(char *buf, int64_t clock_ms);
void txid_uuid_v1_now(char *buf, int64_t clock_ms, const uint8_t *node);
int32_t txid_uuid_read(const char *text,
                       size_t len,
                       uint8_t *version,
                       uint8_t *variant,
                       int64_t *ms);
int32_t txid_node_read(const char *text, size_t len, uint8_t *node);
void txid_trace_id(char *buf, int64_t ms, int64_t epoch_ms);
void txid_trace_id_now(char *buf, int64_t clock_ms, int64_t epoch_ms);
void txid_trace_host_id(char *buf, int64_t ms, int64_t epoch_ms, uint32_t host);
void txid_trace_host_id_now(char *buf, int64_t clock_ms, int64_t epoch_ms, uint32_t host);
int32_t txid_host_word(const char *text, size_t len, uint32_t *host);
int32_t txid_host_ipv4(const char *text, size_t len, uint32_t *ipv4);
void txid_otel_trace_id(char *buf);
void txid_span_id(char *buf);
size_t txid_sofa_now(char *buf, int64_t clock_ms, uint32_t ipv4);
size_t txid_skywalking_now(char *buf, int64_t clock_ms);
int32_t txid_trace_id_read(const char *text,
                           size_t len,
                           int64_t *ms,
                           uint32_t *sequence,
                           uint32_t *host,
                           uint32_t *random);
int32_t txid_sofa_read(const char *text,
                       size_t len,
                       uint32_t *ipv4,
                       int64_t *ms,
                       uint32_t *sequence,
                       uint32_t *pid);
int32_t txid_skywalking_read(const char *text,
                             size_t len,
                             uint32_t *thread,
                             int64_t *ms,
                             uint32_t *sequence);
void txid_traceparent_new(char *buf, bool sampled);
int32_t txid_traceparent_child(const char *text, size_t len, char *buf);
int32_t txid_traceparent_read(const char *text, size_t len, uint8_t *flags);
int32_t txid_b3_read(const char *text, size_t len, size_t *trace_id_len, uint8_t *sampled);
void txid_flake(char *buf, int64_t ms, const uint8_t *node);
void txid_flake_now(char *buf, int64_t clock_ms, const uint8_t *node);
int32_t txid_flake_read(const char *text,
                        size_t len,
                        uint64_t *ms,
                        uint8_t *node,
                        uint32_t *sequence);
void txid_unique_id_short(char *buf, int64_t ms, uint32_t ipv4);
void txid_unique_id_short_now(char *buf, int64_t clock_ms, uint32_t ipv4);
void txid_unique_id_long(char *buf, int64_t ms);
void txid_unique_id_long_now(char *buf, int64_t clock_ms);
int32_t txid_unique_id_read(const char *text,
                            size_t len,
                            int64_t *ms,
                            uint32_t *counter,
                            uint32_t *thread,
                            uint32_t *ipv4,
                            uint32_t *pid,
                            uint8_t *random);
size_t txid_explain_format(int32_t format, const char *text, size_t len, char *message);
int32_t txid_snowflake_open(const char *layout,
                            const char *node,
                            const char *path,
                            uint64_t max_drift_ms,
                            struct txid_snowflake **generator,
                            char *message);
void txid_snowflake_close(struct txid_snowflake *generator);
int64_t txid_clock_coarse_ms(void);
int64_t txid_snowflake_next(const struct txid_snowflake *generator,
                            int64_t clock_ms,
                            char *message);
int32_t txid_snowflake_fill(const struct txid_snowflake *generator,
                            int64_t clock_ms,
                            char *buf,
                            char *message);
int64_t txid_snowflake_parse(const char *text, size_t len);
int32_t txid_snowflake_decode(const struct txid_snowflake *generator, int64_t id, int64_t *parts);
void txid_snowflake_stats(const struct txid_snowflake *generator, uint64_t *stats);
]]

local _M = {
    ABI_VERSION = 1,
    LEN = 20,
    BYTES_LEN = 12,
    MESSAGE_LEN = 64,
    UUID_LEN = 36,
    TRACE_ID_LEN = 32,
    SPAN_ID_LEN = 16,
    TRACEPARENT_LEN = 55,
    SOFA_MAX_LEN = 35,
    SKYWALKING_MAX_LEN = 64,
    FLAKE_LEN = 22,
    UNIQUE_ID_SHORT_LEN = 24,
    UNIQUE_ID_LONG_LEN = 27,
    UNIQUE_ID_RANDOM_LEN = 10,
    NODE_LEN = 6,
    SNOWFLAKE_LEN = 19,
    SNOWFLAKE_PARTS = 3,
    SNOWFLAKE_STATS = 4,
    SNOWFLAKE_MESSAGE_LEN = 1024,
    ERROR_LENGTH = -1,
    ERROR_CHARACTER = -2,
    ERROR_LAST_CHARACTER = -3,
    ERROR_VALUE = -10,
    ERROR_NO_ADDRESS = -11,
    ERROR_ADDRESS = -12,
    ERROR_SNOWFLAKE_LAYOUT = -30,
    ERROR_SNOWFLAKE_NODE = -31,
    ERROR_SNOWFLAKE_FILE = -32,
    ERROR_SNOWFLAKE_STATE = -33,
    ERROR_SNOWFLAKE_CLOCK_BEHIND = -34,
    ERROR_SNOWFLAKE_EXHAUSTED = -35,
    ERROR_SNOWFLAKE_BEFORE_EPOCH = -36,
    ERROR_SNOWFLAKE_ENDED = -37,
    ERROR_SNOWFLAKE_ID = -38,
    FORMAT_UUID = 1,
    FORMAT_TRACE_ID = 2,
    FORMAT_SOFA = 3,
    FORMAT_SKYWALKING = 4,
    FORMAT_TRACEPARENT = 5,
    FORMAT_B3 = 6,
    FORMAT_FLAKE = 7,
    FORMAT_UNIQUE_ID = 8,
}
-- generated: end


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
