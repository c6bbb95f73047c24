-- Tells whether this nginx has ngx_http_txid_module, whose variables are then the id and the span of the request.

local ffi = require "ffi"


local C = ffi.C
local match = string.match
local pcall = pcall
local sub = string.sub
local var = ngx.var


-- Every module is an ngx_module_t; here, only its existence matters.
ffi.cdef[[
extern char ngx_http_txid_module;
]]


local _M = {
    is_loaded = pcall(function() return C.ngx_http_txid_module end),
}


-- The fields of resty.txid.request.span().
function _M.span()
    local trace_id, traceparent = var.txid_trace_id, var.txid_traceparent
    local came_in = var.http_traceparent
    local is_debug = var.txid_b3_flags == "1"
    local sampled = var.txid_b3_sampled
    local is_continued = came_in ~= nil and sub(came_in, 4, 35) == trace_id
    return {
        trace_id = trace_id,
        span_id = var.txid_span_id,
        parent_span_id = var.txid_parent_span_id,
        sampled = is_debug or sampled and sampled == "1",
        debug = is_debug or nil,
        random = sub(traceparent, -1) >= "2",
        continued = is_continued,
        threshold = not is_continued and match(var.txid_tracestate or "", "^ot=th:(%x+)") or nil,
        traceparent = traceparent,
        b3 = var.txid_b3,
    }
end


return _M
