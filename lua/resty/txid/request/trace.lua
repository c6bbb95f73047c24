-- The trace context of a request: continues the one that came in, or starts one, with a span for this hop.

local trace = require "resty.txid.trace"


local b3 = trace.b3
local find = string.find
local lower = string.lower
local rawget = rawget
local rep = string.rep
local req_clear_header = ngx.req.clear_header
local req_set_header = ngx.req.set_header
local traceparent = trace.traceparent
local type = type


local TRACE_ID_LEN = 32
local B3_HEADERS = { "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled", "X-B3-Flags" }

local _M = {}
local readers = {}
local writers = {}


-- Of repeated headers, none is used.
local function single(headers, name)
    local value = rawget(headers, name)
    return type(value) == "string" and value or nil
end


local function contains(list, wanted)
    for i = 1, #list do
        if list[i] == wanted then
            return true
        end
    end
    return false
end


function readers.traceparent(headers)
    local header = single(headers, "traceparent")
    return header and traceparent.parse(header)
end


readers["b3-single"] = function(headers)
    local header = single(headers, "b3")
    return header and b3.parse(header)
end


readers.b3 = b3.parse_headers


function writers.traceparent(span)
    req_set_header("traceparent", traceparent.tostring(span))
    -- tracestate belongs to the trace that was not continued.
    if not span.continued then
        req_clear_header("tracestate")
    end
end


writers["b3-single"] = function(span)
    req_set_header("b3", b3.tostring(span))
end


function writers.b3(span, kinds)
    local headers = b3.headers(span)
    for i = 1, #B3_HEADERS do
        req_set_header(B3_HEADERS[i], headers[B3_HEADERS[i]])
    end
    -- A receiver that finds the single header looks at no other.
    if not contains(kinds, "b3-single") then
        req_clear_header("b3")
    end
end


_M.kinds = readers


-- A header that holds only a trace id: 32 characters, or 16 as in older versions of B3.
local function bare_trace_id(headers, name)
    local id = name and lower(single(headers, lower(name)) or "")
    if id and (#id == TRACE_ID_LEN or #id == TRACE_ID_LEN / 2) and not find(id, "[^0-9a-f]") and find(id, "[^0]") then
        return { trace_id = id }
    end
    return nil
end


-- A span for this hop. `headers` are the request's, to continue a trace.
function _M.span(kinds, trace_id_header, headers)
    local parent, kind
    for i = 1, headers and #kinds or 0 do
        parent = readers[kinds[i]](headers)
        if parent then
            kind = kinds[i]
            break
        end
    end
    if headers and not parent then
        parent = bare_trace_id(headers, trace_id_header)
    end
    if not parent then
        return traceparent.new()
    end

    local span = b3.child(parent)
    -- A trace id of 64 bits is the right half of one of 128 bits, which all other formats require.
    span.trace_id = rep("0", TRACE_ID_LEN - #span.trace_id) .. span.trace_id
    -- A trace that came in as another kind may be the one of traceparent and tracestate as well.
    local same = kind == "traceparent" and parent or readers.traceparent(headers)
    if same and same.trace_id == span.trace_id then
        span.random = same.random
        span.continued = true
    end
    -- Unlike the others, a traceparent must say whether to sample. Then the default is that of a new trace.
    if span.sampled == nil and contains(kinds, "traceparent") then
        span.sampled = true
    end
    return span
end


-- Sends the span upstream in the configured formats.
function _M.send(kinds, trace_id_header, span)
    for i = 1, #kinds do
        writers[kinds[i]](span, kinds)
    end
    if trace_id_header then
        req_set_header(trace_id_header, span.trace_id)
    end
end


return _M
