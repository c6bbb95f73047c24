-- Tells whether this nginx has ngx_http_txid_module, whose $request_txid is then the id of the request.

local ffi = require "ffi"


local C = ffi.C
local pcall = pcall


-- Every module is an ngx_module_t; here, only its existence matters.
ffi.cdef[[
extern char ngx_http_txid_module;
]]


return {
    is_loaded = pcall(function() return C.ngx_http_txid_module end),
}
