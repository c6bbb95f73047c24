-- Finds the address of the peer of a request's connection. realip replaces it in $remote_addr by one that the client
-- may have made up.

local base = require "resty.core.base"
local ffi = require "ffi"


local C = ffi.C
local band = bit.band
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local find = string.find
local get_request = base.get_request
local pcall = pcall


-- Every module is an ngx_module_t; here, only its existence matters. The two functions of nginx have names of our own,
-- because other modules may declare them in another way. ngx.var's way to them hashes the name each time, which takes
-- more than all the rest.
ffi.cdef[[
extern char ngx_http_realip_module;
typedef struct { uint32_t bits; const char *data; } txid_ngx_variable;
typedef struct { size_t len; const char *data; char text[20]; } txid_ngx_str;
uintptr_t txid_ngx_hash_key(const char *data, size_t len) __asm__("ngx_hash_key");
txid_ngx_variable *txid_ngx_http_get_variable(void *request, txid_ngx_str *name, uintptr_t key)
    __asm__("ngx_http_get_variable");
]]

local HAS_REALIP = find(ngx.config.nginx_configure(), "http_realip_module", 1, true)
                   or pcall(function() return C.ngx_http_realip_module end)
local NAME = HAS_REALIP and "realip_remote_addr" or "remote_addr"
local KEY = C.txid_ngx_hash_key(NAME, #NAME)
-- The bits of an ngx_variable_value_t.
local LEN = 0xfffffff
local NOT_FOUND = 0x40000000

local name = ffi_new("txid_ngx_str", #NAME, nil, NAME)
name.data = name.text
local _M = {}


-- Returns where the text is, and its length. It is valid until the caller waits. Without an address, it is empty, and
-- then the peer is one that only "all" contains.
function _M.bytes()
    local value = C.txid_ngx_http_get_variable(get_request(), name, KEY)
    if value == nil then
        error("resty.txid.request: the peer's address cannot be read here", 0)
    end
    local bits = value.bits
    if band(bits, NOT_FOUND) ~= 0 then
        return value.data, 0
    end
    return value.data, band(bits, LEN)
end


function _M.address()
    local bytes, length = _M.bytes()
    return ffi_str(bytes, length)
end


return _M
