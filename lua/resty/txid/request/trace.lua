-- The span of a request, a txid_span, as a table.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local SPAN_ID_LEN = lib.SPAN_ID_LEN
local SPAN_OF_NONE = lib.SPAN_OF_NONE
local SPAN_OF_TRACE = lib.SPAN_OF_TRACE
local TRACEPARENT_LEN = lib.TRACEPARENT_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local byte = string.byte
local ffi_str = ffi.string
local find = string.find
local header = ngx.header
local sub = string.sub
local tohex = require("bit").tohex
local type = type
local ZERO = byte("0")


local _M = {
    new = ffi.typeof("txid_span"),
}


local function trace_id(span)
    return span.of ~= SPAN_OF_NONE and ffi_str(span.trace_id, TRACE_ID_LEN) or nil
end
_M.trace_id = trace_id


local function span_id(span)
    return span.of < SPAN_OF_TRACE and ffi_str(span.span_id, SPAN_ID_LEN) or nil
end
_M.span_id = span_id


local function parent_span_id(span)
    return span.parent_span_id_len ~= 0 and ffi_str(span.parent_span_id, SPAN_ID_LEN) or nil
end


local function traceparent(span)
    return span.of < SPAN_OF_TRACE and ffi_str(span.traceparent, TRACEPARENT_LEN) or nil
end


-- "1" if the traceparent says that the trace is recorded, else "0".
function _M.sampled(span)
    return span.of < SPAN_OF_TRACE and (span.traceparent[TRACEPARENT_LEN - 1] % 2 == 1 and "1" or "0") or nil
end


-- Tells browsers the span, as OpenTelemetry's agents read it and as level 3 of W3C Trace Context names it, beside what
-- else the header says. (Here, ngx.header has what handle() or Lua has set, and in
-- header_filter_by_lua also what the upstream has sent.)
function _M.add_server_timing(span)
    local text = traceparent(span)
    local own = 'traceparent;desc="' .. text .. '", trace;desc=' .. text
    local others = header["Server-Timing"]
    local list = type(others) == "table" and others or { others }
    for i = 1, #list do
        if find(list[i], own, 1, true) then
            return
        end
    end
    list[#list + 1] = own
    header["Server-Timing"] = list
end


local function b3(span)
    return span.of < SPAN_OF_TRACE and ffi_str(span.b3, span.b3_len) or nil
end


-- The threshold of a trace that this hop has decided to record, as in its tracestate: 14 hexadecimal digits, without
-- zeros at the end; or nil.
local function threshold(span)
    if span.threshold < 0 or span.sampled == ZERO then
        return nil
    end
    local digits, count = tohex(span.threshold, 14), 14
    while count > 1 and byte(digits, count) == ZERO do
        count = count - 1
    end
    return sub(digits, 1, count)
end


-- The fields of resty.txid.trace, and the headers; nil if no trace came in, and none begins here.
function _M.as_table(span)
    if span.of == SPAN_OF_NONE then
        return nil
    end
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
        threshold = threshold(span),
        traceparent = traceparent(span),
        b3 = b3(span),
    }
end


return _M
