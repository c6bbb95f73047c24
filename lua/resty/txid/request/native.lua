-- Tells whether this nginx has ngx_http_txid_module, whose variables are then the id and the span of the request.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = ffi.C
local error = error
local ffi_cast = ffi.cast
local pcall = pcall
local require = require


-- Every module is an ngx_module_t; here, only its existence matters.
ffi.cdef[[
extern char ngx_http_txid_module;
extern const uint32_t ngx_http_txid_internal_version;
]]


local _M = {
    is_loaded = pcall(function() return C.ngx_http_txid_module end),
}

if _M.is_loaded then
    local ok, version = pcall(function() return C.ngx_http_txid_internal_version end)
    if not ok or version ~= lib.INTERNAL_VERSION then
        error("resty.txid.request: ngx_http_txid_module is of another release than these Lua files; install both from "
              .. "one", 0)
    end

    -- What the module has decided begins with the trace's id.
    local read = require("resty.txid.request.variable")("txid_trace_id")
    local span_ptr = ffi.typeof("const txid_span *")

    -- The txid_span of the request; nil without one, or without memory.
    function _M.span()
        local bytes, length = read()
        return (length or 0) ~= 0 and ffi_cast(span_ptr, bytes) or nil
    end
end


return _M
