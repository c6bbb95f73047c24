-- The span of a request, a txid_span, in the headers that are sent upstream, and as a table.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local SPAN_ID_LEN = lib.SPAN_ID_LEN
local TRACEPARENT_LEN = lib.TRACEPARENT_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local byte = string.byte
local ffi_str = ffi.string
local req_clear_header = ngx.req.clear_header
local req_set_header = ngx.req.set_header
local var = ngx.var


local _M = {}


local function trace_id(span)
    return (ffi_str(span.trace_id, TRACE_ID_LEN))
end
_M.trace_id = trace_id


local function span_id(span)
    return (ffi_str(span.span_id, SPAN_ID_LEN))
end
_M.span_id = span_id


local function parent_span_id(span)
    return span.parent_span_id_len ~= 0 and ffi_str(span.parent_span_id, SPAN_ID_LEN) or nil
end


local function traceparent(span)
    return (ffi_str(span.traceparent, TRACEPARENT_LEN))
end


local function b3(span)
    return (ffi_str(span.b3, span.b3_len))
end


local function send_traceparent(span)
    req_set_header("traceparent", traceparent(span))
    -- tracestate belongs to the trace that was not continued.
    if not span.is_continued and var.http_tracestate then
        req_clear_header("tracestate")
    end
end


local function send_b3(span, kinds)
    req_set_header("X-B3-TraceId", trace_id(span))
    req_set_header("X-B3-SpanId", span_id(span))
    req_set_header("X-B3-ParentSpanId", parent_span_id(span))
    req_set_header("X-B3-Sampled", span.sampled_len ~= 0 and (span.sampled == byte("1") and "1" or "0") or nil)
    req_set_header("X-B3-Flags", span.flags_len ~= 0 and "1" or nil)
    -- A receiver that finds the single header looks at no other.
    if not kinds.b3_single then
        req_clear_header("b3")
    end
end


-- In the headers of these kinds: a table with a field for each of them. Not a loop over them, which LuaJIT does not
-- compile with what is around it.
function _M.send(kinds, trace_id_header, span)
    if kinds.traceparent then
        send_traceparent(span)
    end
    if kinds.b3 then
        send_b3(span, kinds)
    end
    if kinds.b3_single then
        req_set_header("b3", b3(span))
    end
    if trace_id_header then
        req_set_header(trace_id_header, trace_id(span))
    end
end


-- The fields of resty.txid.trace, and the headers.
function _M.as_table(span)
    local is_debug = span.flags_len ~= 0
    local sampled
    if is_debug then
        sampled = true

    elseif span.sampled_len ~= 0 then
        sampled = span.sampled == byte("1")
    end
    return {
        trace_id = trace_id(span),
        span_id = span_id(span),
        parent_span_id = parent_span_id(span),
        sampled = sampled,
        debug = is_debug or nil,
        random = span.traceparent[TRACEPARENT_LEN - 1] >= byte("2"),
        continued = span.is_continued,
        traceparent = traceparent(span),
        b3 = b3(span),
    }
end


return _M
