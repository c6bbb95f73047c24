-- Sends the span of a request upstream.

local req_clear_header = ngx.req.clear_header
local req_set_header = ngx.req.set_header


local _M = {}
local writers = {}


function writers.traceparent(span)
    req_set_header("traceparent", span.traceparent)
    -- tracestate belongs to the trace that was not continued.
    if not span.continued then
        req_clear_header("tracestate")
    end
end


function writers.b3_single(span)
    req_set_header("b3", span.b3)
end


function writers.b3(span, kinds)
    local sampled
    if span.sampled ~= nil and not span.debug then
        sampled = span.sampled and "1" or "0"
    end
    req_set_header("X-B3-TraceId", span.trace_id)
    req_set_header("X-B3-SpanId", span.span_id)
    req_set_header("X-B3-ParentSpanId", span.parent_span_id)
    req_set_header("X-B3-Sampled", sampled)
    req_set_header("X-B3-Flags", span.debug and "1" or nil)
    -- A receiver that finds the single header looks at no other.
    if not kinds.b3_single then
        req_clear_header("b3")
    end
end


-- In the headers of these kinds: a list, with a field for each of them.
function _M.send(kinds, trace_id_header, span)
    for i = 1, #kinds do
        writers[kinds[i]](span, kinds)
    end
    if trace_id_header then
        req_set_header(trace_id_header, span.trace_id)
    end
end


return _M
