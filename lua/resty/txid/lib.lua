-- Finds libtxid, loads it, and checks that it matches these Lua files.
--
-- Without libtxid, `engine` is "pure" instead of "native". require "resty.txid" then works in plain LuaJIT. Modules
-- that need the library cannot be required: needed_by raises an error that lists where libtxid was searched.

local cdefs = require "resty.txid.cdefs"
local ffi = require "ffi"


local concat = table.concat
local error = error
local floor = math.floor
local getenv = os.getenv
local ngx_now = ngx and ngx.now
local open = io.open
local pairs = pairs
local pcall = pcall
local setmetatable = setmetatable
local tonumber = tonumber
local tostring = tostring


local _M = {}
for name, value in pairs(cdefs) do
    _M[name] = value
end


local FILE = jit.os == "OSX" and "libtxid.dylib" or "libtxid.so"
-- Distributions put the file with the plain name into the development package, and this one into the library's.
local SONAME = jit.os == "OSX" and FILE or FILE .. "." .. _M.ABI_VERSION
local ENOENT, EACCES, ENOTDIR = 2, 13, 20


-- A file that exists but cannot be opened counts: the user should see the error.
local function exists(path)
    local file, _, errno = open(path, "rb")
    if file then
        file:close()
    end
    return file ~= nil or errno ~= ENOENT and errno ~= ENOTDIR
end


-- Whether the file is in a directory without search permission. Lua's own loaders find nothing there either. If only
-- the file cannot be opened, the slash makes the name invalid, and the error is a different one.
local function is_out_of_reach(path)
    local _, _, errno = open(path .. "/", "rb")
    return errno == EACCES
end


-- Whether the system's loader did not find the library, as opposed to failing to load it.
local function says_not_found(message)
    return message:find(SONAME:gsub("%p", "%%%0") .. "[:,].-[Nn]o such file") ~= nil
end


-- Returns the library and its path, or nil and how to install it.
--
-- The library is searched for where a compiled Lua module would be: for "/usr/lib/lua/5.1/?.so", that is
-- "/usr/lib/lua/5.1/libtxid.so".
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

    local ok, library = pcall(ffi.load, SONAME)
    if ok then
        return library, SONAME
    end
    is_there = is_there or not says_not_found(library)
    tried[#tried + 1] = "the system's loader: " .. library

    local how = "install it with `make install`, or put its directory on "
                .. "lua_package_cpath (\"/that/directory/?.so;;\"). Tried:\n\t" .. concat(tried, "\n\t")
    if is_there then
        error("resty.txid: cannot load " .. FILE .. "; " .. how, 0)
    end
    return nil, how
end


local function abi_version(library)
    return library.txid_abi_version()
end


local function internal_version(library)
    return library.txid_internal_version()
end


-- Writes to nginx's error log, or to stderr outside nginx.
function _M.log(level, message)
    local ngx = ngx
    if ngx then
        -- A tail call, so that nginx logs the caller's file and line.
        return ngx.log(ngx[level], message)
    end
    io.stderr:write(message, "\n")
end


-- Without the system's randomness, ids are still made. Each worker logs that once.
local has_warned = false
function _M.warn_guessable()
    if has_warned then
        return
    end

    has_warned = true
    _M.log("CRIT", "resty.txid: the operating system gave no randomness, so ids could be guessed")
end


-- Under names of our own, so that another module's declarations cannot conflict.
ffi.cdef[[
int txid_getpid(void) __asm__("getpid");
int txid_setenv(const char *name, const char *value, int overwrites) __asm__("setenv");
]]


-- Envoy has several Lua states in a process, of which the main thread makes the first. In nginx, each line of the log
-- names its worker.
local function is_first_to_say()
    if ngx then
        return true
    end
    local pid = tostring(ffi.C.txid_getpid())
    if getenv("TXID_SAID_BY") == pid then
        return false
    end
    ffi.C.txid_setenv("TXID_SAID_BY", pid, 1)
    return true
end


local library, path_or_how = load_library()
if library then
    local ok, found = pcall(abi_version, library)
    if not ok or found ~= _M.ABI_VERSION then
        error("resty.txid: " .. path_or_how .. " has ABI version " .. (ok and tostring(found) or "unknown")
              .. ", these Lua files need " .. _M.ABI_VERSION .. "; install both from one release", 0)
    end

    ok, found = pcall(internal_version, library)
    if not ok or found ~= _M.INTERNAL_VERSION then
        error("resty.txid: " .. path_or_how .. " is of another release than these Lua files; install both from one", 0)
    end

    _M.engine = "native"
    _M.path = path_or_how

else
    if is_first_to_say() then
        _M.log("NOTICE", "resty.txid: " .. FILE .. " was not found, so ids are made in plain LuaJIT; to use it, "
                         .. path_or_how)
    end

    _M.engine = "pure"
    library = setmetatable({}, {
        __index = function(_, name)
            error("resty.txid: " .. name .. " needs " .. FILE .. ", which was not found; " .. path_or_how, 0)
        end,
    })
end

_M.C = library


-- Returns the library for a module that cannot do without it, so that an error is one of nginx's start, and not one of
-- each request.
function _M.needed_by(module)
    if _M.engine == "pure" then
        error(module .. " needs " .. FILE .. ", which was not found; " .. path_or_how, 0)
    end
    return library
end


-- Its seconds and its milliseconds. Under a name of our own, so that another module's declaration cannot conflict.
ffi.cdef[[
const long *volatile txid_nginx_cached_time __asm__("ngx_cached_time");
]]


local function cached_ms()
    local time = ffi.C.txid_nginx_cached_time
    return tonumber(time[0]) * 1000 + tonumber(time[1])
end


local function ms_of_ngx_now()
    -- ngx.now() is a fraction just above or just below the millisecond.
    return (floor(ngx_now() * 1000 + 0.5))
end


-- Returns a function for nginx's cached time, or nil outside nginx. ngx.now() divides the time that is read here, and
-- so an id would take 3 ns more; it serves where the time is laid out in another way, or where tests replace it.
local function nginx_clock()
    if not ngx_now then
        return nil
    end
    local is_readable, ms = pcall(cached_ms)
    return is_readable and ms == ms_of_ngx_now() and cached_ms or ms_of_ngx_now
end

_M.nginx_ms = nginx_clock()


-- nginx's cached time; outside nginx, the system's clock.
_M.clock_ms = _M.nginx_ms or function()
    return (library.txid_clock_ms())
end


return _M
