-- Whether this nginx has ngx_http_txid_module, with which $request_txid is the id of a request.

local ffi = require "ffi"


local C = ffi.C
local pcall = pcall


-- Of the ngx_module_t that every module is, it only counts whether it is there.
ffi.cdef[[
extern char ngx_http_txid_module;
]]


return {
    is_loaded = pcall(function() return C.ngx_http_txid_module end),
}
