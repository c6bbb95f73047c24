-- Finds the address of the peer of a request's connection. realip replaces it in $remote_addr by one that the client
-- may have made up.

local ffi = require "ffi"
local variable = require "resty.txid.request.variable"


local error = error
local ffi_str = ffi.string
local find = string.find
local pcall = pcall


-- Every module is an ngx_module_t; here, only its existence matters.
ffi.cdef[[
extern char ngx_http_realip_module;
]]

local HAS_REALIP = find(ngx.config.nginx_configure(), "http_realip_module", 1, true)
                   or pcall(function() return ffi.C.ngx_http_realip_module end)
local read = variable(HAS_REALIP and "realip_remote_addr" or "remote_addr")
local _M = {}


-- Returns where the text is, and its length. It is valid until the caller waits. Without an address, it is empty, and
-- then the peer is one that only "all" contains.
function _M.bytes()
    local bytes, length = read()
    if not length then
        error("resty.txid.request: the peer's address cannot be read here", 0)
    end
    return bytes, length
end


function _M.address()
    local bytes, length = _M.bytes()
    return ffi_str(bytes, length)
end


return _M
