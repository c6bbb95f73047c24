-- The span of a request in its traceparent and b3 headers.

local args = require "resty.txid.args"
local ffi = require "ffi"
-- First, so that the error is this module's.
require("resty.txid.lib").needed_by "resty.txid.trace"
local maker = require "resty.txid.maker"
local text = require "resty.txid.text"


local bad_argument = args.bad_argument
local check_string = args.check_string
local check_table = args.check_table
local error = error
local ffi_str = ffi.string
local find = string.find
local read = text.read
local type = type


local new_span_id = maker.new "span_id"
local new_trace_id = maker.new "otel_trace_id"


local _M = {}


-- The text of part #`place` of what was read. They have the order of the text.
local function part(parts, place)
    return (ffi_str(parts.list[place].text, parts.list[place].text_len))
end


local function check_traceparent(value, name)
    if type(value) ~= "table" or type(value.trace_id) ~= "string" or type(value.span_id) ~= "string" then
        bad_argument(1, name, "a table with trace_id and span_id", value)
    end
end


-- The traceparent header of W3C Trace Context, level 2, as a table: `trace_id`, `span_id`, and the booleans `sampled`
-- and `random`, which says that the last 14 characters of the trace id are random.
local traceparent = {}


-- Returns the header as a table; or nil and the reason if it is invalid: ignore it, and start a new trace.
function traceparent.parse(header)
    check_string(header, "parse")

    local parts, err = read("traceparent", header)
    if not parts then
        return nil, err
    end

    return {
        trace_id = part(parts, 0),
        span_id = part(parts, 1),
        sampled = parts.list[3].number ~= 0,
        random = parts.list[2].number ~= 0,
    }
end


local function check_sampled(sampled)
    if sampled ~= nil and type(sampled) ~= "boolean" then
        bad_argument(1, "new", "boolean", sampled)
    end
end


-- Starts a new trace, sampled unless `sampled` is false.
function traceparent.new(sampled)
    check_sampled(sampled)

    return { trace_id = new_trace_id(), span_id = new_span_id(), sampled = sampled ~= false, random = true }
end


-- Returns a new span of the same trace.
function traceparent.child(parent)
    check_traceparent(parent, "child")

    return { trace_id = parent.trace_id, span_id = new_span_id(), sampled = parent.sampled, random = parent.random }
end


-- Returns the header, in version 00.
function traceparent.tostring(self)
    check_traceparent(self, "tostring")

    local flags = self.random and (self.sampled and "03" or "02") or (self.sampled and "01" or "00")
    return "00-" .. self.trace_id .. "-" .. self.span_id .. "-" .. flags
end


_M.traceparent = traceparent


-- Zipkin's b3 header, and its X-B3- headers, as a table: `trace_id` (32 or 16 characters), `span_id`, and, if known,
-- `parent_span_id`, `sampled` (a boolean) and `debug` (true). A header may contain only the sampling decision.
local b3 = {}


-- Returns the single header as a table. Returns nil and the reason for an invalid header.
function b3.parse(header)
    check_string(header, "parse")

    local parts, err = read("b3", header)
    if not parts then
        return nil, err
    end

    -- The ids, unless there is only a decision; the decision; and the parent, which needs one.
    local self, count = {}, parts.count
    if count > 1 then
        self.trace_id, self.span_id = part(parts, 0), part(parts, 1)
    end
    if count ~= 2 then
        local sampled = part(parts, count == 1 and 0 or 2)
        self.sampled = sampled ~= "0"
        self.debug = sampled == "d" or nil
    end
    if count == 4 then
        self.parent_span_id = part(parts, 3)
    end
    return self
end


local SAMPLED = { ["0"] = false, ["1"] = true, ["false"] = false, ["true"] = true }


-- Returns the X-B3- headers as a table, from one as ngx.req.get_headers() returns it; or nil and the reason if they are
-- invalid.
function b3.parse_headers(headers)
    check_table(headers, "parse_headers")

    local trace_id = headers["x-b3-traceid"] or headers["X-B3-TraceId"]
    local own_id = headers["x-b3-spanid"] or headers["X-B3-SpanId"]
    local parent_id = headers["x-b3-parentspanid"] or headers["X-B3-ParentSpanId"]
    local sampled = headers["x-b3-sampled"] or headers["X-B3-Sampled"]
    local flags = headers["x-b3-flags"] or headers["X-B3-Flags"]
    -- A repeated header is a table.
    if type(trace_id or "") ~= "string" or type(own_id or "") ~= "string" or type(parent_id or "") ~= "string"
       or type(sampled or "") ~= "string"
    then
        return nil, "an X-B3- header is repeated"
    end

    local self
    -- A dash would turn one field of the single header into two.
    if find((trace_id or "") .. (own_id or "") .. (parent_id or ""), "-", 1, true) then
        return nil, "an X-B3- header contains a dash"

    elseif trace_id and own_id then
        -- The single header cannot have a parent without a sampling decision, so add one, which is replaced below.
        local err
        self, err = b3.parse(trace_id .. "-" .. own_id .. (parent_id and "-0-" .. parent_id or ""))
        if not self then
            return nil, "as a b3 header: " .. err
        end

    elseif trace_id or own_id or parent_id then
        return nil, "X-B3-TraceId and X-B3-SpanId must both be present"

    elseif not sampled and flags ~= "1" then
        return nil, "no X-B3- headers"

    else
        self = {}
    end

    if sampled and SAMPLED[sampled] == nil then
        return nil, "X-B3-Sampled is neither 0 nor 1"
    end
    self.sampled = SAMPLED[sampled]
    if flags == "1" then
        self.sampled, self.debug = true, true
    end
    return self
end


-- Starts a new trace, sampled unless `sampled` is false.
function b3.new(sampled)
    check_sampled(sampled)

    return { trace_id = new_trace_id(), span_id = new_span_id(), sampled = sampled ~= false }
end


-- Returns a new span of the parent's trace, or of a new trace if the parent has none.
function b3.child(parent)
    check_table(parent, "child")

    return {
        trace_id = parent.trace_id or new_trace_id(),
        span_id = new_span_id(),
        parent_span_id = parent.span_id,
        sampled = parent.sampled,
        debug = parent.debug,
    }
end


-- Checks the ids of a table before it is written.
local function check_ids(self, name)
    local has_ids = type(self.trace_id) == "string" and type(self.span_id) == "string"
    if not has_ids and (self.trace_id ~= nil or self.span_id ~= nil) then
        error("bad argument #1 to '" .. name .. "' (a table with both trace_id and span_id as strings, or neither, "
              .. "expected)", 3)
    end
end


-- Returns the single header. It cannot hold a parent without a sampling decision.
function b3.tostring(self)
    check_table(self, "tostring")
    check_ids(self, "tostring")

    local sampled = self.debug and "d" or self.sampled and "1" or self.sampled == false and "0" or nil
    if not self.trace_id then
        return sampled
    end

    local header = self.trace_id .. "-" .. self.span_id
    if not sampled then
        return header
    end

    header = header .. "-" .. sampled
    return self.parent_span_id and header .. "-" .. self.parent_span_id or header
end


-- Returns the X-B3- headers by name.
function b3.headers(self)
    check_table(self, "headers")
    check_ids(self, "headers")

    local sampled
    if self.sampled ~= nil and not self.debug then
        sampled = self.sampled and "1" or "0"
    end
    return {
        ["X-B3-TraceId"] = self.trace_id,
        ["X-B3-SpanId"] = self.span_id,
        ["X-B3-ParentSpanId"] = self.parent_span_id,
        ["X-B3-Sampled"] = sampled,
        ["X-B3-Flags"] = self.debug and "1" or nil,
    }
end


_M.b3 = b3


return _M
