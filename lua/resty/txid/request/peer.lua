-- Finds the address of the peer of a request's connection. realip replaces it in $remote_addr by one that the client
-- may have made up.

local base = require "resty.core.base"
local ffi = require "ffi"
require "resty.core.var"


local C = ffi.C
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local find = string.find
local get_request = base.get_request
local pcall = pcall


-- Every module is an ngx_module_t; here, only its existence matters.
ffi.cdef[[
extern char ngx_http_realip_module;
]]

local HAS_REALIP = find(ngx.config.nginx_configure(), "http_realip_module", 1, true)
                   or pcall(function() return C.ngx_http_realip_module end)
local NAME = HAS_REALIP and "realip_remote_addr" or "remote_addr"

local data = ffi_new("char *[1]")
local err = ffi_new("char *[1]")
local len = ffi_new("size_t[1]")
local lowercase = ffi_new("char[?]", #NAME)
local _M = {}


-- Returns where the text is, and its length. It is valid until the caller waits. Without an address, it is empty, and
-- then the peer is one that only "all" contains.
function _M.bytes()
    local rc = C.ngx_http_lua_ffi_var_get(get_request(), NAME, #NAME, lowercase, 0, data, len, err)
    if rc == 0 then
        return data[0], len[0]
    end
    if rc == base.FFI_DECLINED then
        return data[0], 0
    end
    error("resty.txid.request: the peer's address cannot be read here", 0)
end


function _M.address()
    local bytes, length = _M.bytes()
    return ffi_str(bytes, length)
end


return _M
