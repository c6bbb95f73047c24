-- Trace ids of six kinds, and the traceparent and b3 headers that carry them.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.trace"
local SPAN_ID_LEN = lib.SPAN_ID_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local bad_argument = args.bad_argument
local byte = string.byte
local check_string = args.check_string
local check_table = args.check_table
local clock_ms = lib.clock_ms
local dotted = text.dotted
local error = error
local explain_format = text.explain_format
local ffi_new = ffi.new
local ffi_str = ffi.string
local find = string.find
local host_word = args.host_word
local integer_ms = args.integer_ms
local ipv4 = args.ipv4
local rfc3339 = text.rfc3339
local sub = string.sub
local tonumber = tonumber
local type = type


local buf = ffi_new("char[?]", lib.SKYWALKING_MAX_LEN)
local b3_parts = ffi_new("txid_b3_parts")
local skywalking_parts = ffi_new("txid_skywalking_parts")
local sofa_parts = ffi_new("txid_sofa_parts")
local trace_id_parts = ffi_new("txid_trace_id_parts")
local traceparent_parts = ffi_new("txid_traceparent_parts")


local _M = {}


-- Returns a trace id that sorts by time, of this moment or stamped with `ms`. Its time counts from `epoch_ms`, by
-- default 1970.
function _M.id(ms, epoch_ms)
    local epoch = epoch_ms and integer_ms(epoch_ms, "id", 2) or 0
    if ms then
        C.txid_trace_id(buf, integer_ms(ms, "id"), epoch)
    else
        C.txid_trace_id_now(buf, clock_ms(), epoch)
    end
    return (ffi_str(buf, TRACE_ID_LEN))
end


-- The same with the host: `address` is its IPv4 or IPv6 address, by default the host's own.
function _M.host_id(ms, address, epoch_ms)
    local word = host_word(address, 2, "host_id")
    local epoch = epoch_ms and integer_ms(epoch_ms, "host_id", 3) or 0
    if ms then
        C.txid_trace_host_id(buf, integer_ms(ms, "host_id"), epoch, word)
    else
        C.txid_trace_host_id_now(buf, clock_ms(), epoch, word)
    end
    return (ffi_str(buf, TRACE_ID_LEN))
end


-- Returns a random trace id, never all zeros.
function _M.otel_trace_id()
    C.txid_otel_trace_id(buf)
    return (ffi_str(buf, TRACE_ID_LEN))
end


-- Returns a random span id, never all zeros.
local function span_id()
    C.txid_span_id(buf)
    return (ffi_str(buf, SPAN_ID_LEN))
end
_M.span_id = span_id


-- Returns a SOFATracer id. `address` is the host's IPv4 address, by default its own.
function _M.sofa(address)
    return (ffi_str(buf, C.txid_sofa_now(buf, clock_ms(), ipv4(address, 1, "sofa"))))
end


-- Returns a SkyWalking id.
function _M.skywalking()
    return (ffi_str(buf, C.txid_skywalking_now(buf, clock_ms())))
end


local function read_trace_id(s, epoch)
    if C.txid_trace_id_read(s, #s, trace_id_parts) < 0 then
        return nil, explain_format(lib.FORMAT_TRACE_ID, s)
    end

    local ms = tonumber(trace_id_parts.ms + epoch)
    return { ms = ms, time = rfc3339(ms), sequence = trace_id_parts.sequence }
end


-- Returns the fields of an id of id() whose time counts from `epoch_ms`. Returns nil and the reason for an invalid id.
function _M.decode_id(s, epoch_ms)
    check_string(s, "decode_id")

    local decoded, err = read_trace_id(s, epoch_ms and integer_ms(epoch_ms, "decode_id", 2) or 0)
    if not decoded then
        return nil, err
    end
    decoded.random = sub(s, 17)
    return decoded
end


-- The same for host_id(): `host` is its IPv4 address, or the four words of its IPv6 address folded, in dotted notation.
function _M.decode_host_id(s, epoch_ms)
    check_string(s, "decode_host_id")

    local decoded, err = read_trace_id(s, epoch_ms and integer_ms(epoch_ms, "decode_host_id", 2) or 0)
    if not decoded then
        return nil, err
    end
    decoded.host = dotted(trace_id_parts.host)
    decoded.random = sub(s, 25)
    return decoded
end


-- Returns the fields of an id of sofa(). Returns nil and the reason for an invalid id.
function _M.decode_sofa(s)
    check_string(s, "decode_sofa")

    if C.txid_sofa_read(s, #s, sofa_parts) < 0 then
        return nil, explain_format(lib.FORMAT_SOFA, s)
    end

    local ms = tonumber(sofa_parts.ms)
    return {
        address = dotted(sofa_parts.ipv4),
        ms = ms,
        time = rfc3339(ms),
        sequence = sofa_parts.sequence,
        pid = sofa_parts.pid,
    }
end


-- Returns the fields of an id of skywalking(). Returns nil and the reason for an invalid id.
function _M.decode_skywalking(s)
    check_string(s, "decode_skywalking")

    if C.txid_skywalking_read(s, #s, skywalking_parts) < 0 then
        return nil, explain_format(lib.FORMAT_SKYWALKING, s)
    end

    local ms = tonumber(skywalking_parts.ms)
    return {
        instance = ffi_str(skywalking_parts.instance, TRACE_ID_LEN),
        thread = skywalking_parts.thread,
        ms = ms,
        time = rfc3339(ms),
        sequence = skywalking_parts.sequence,
    }
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

    if C.txid_traceparent_read(header, #header, traceparent_parts) < 0 then
        return nil, explain_format(lib.FORMAT_TRACEPARENT, header)
    end

    return {
        trace_id = ffi_str(traceparent_parts.trace_id, TRACE_ID_LEN),
        span_id = ffi_str(traceparent_parts.span_id, SPAN_ID_LEN),
        sampled = traceparent_parts.sampled,
        random = traceparent_parts.random,
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

    return { trace_id = _M.otel_trace_id(), span_id = span_id(), sampled = sampled ~= false, random = true }
end


-- Returns a new span of the same trace.
function traceparent.child(parent)
    check_traceparent(parent, "child")

    return { trace_id = parent.trace_id, span_id = span_id(), sampled = parent.sampled, random = parent.random }
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

    if C.txid_b3_read(header, #header, b3_parts) < 0 then
        return nil, explain_format(lib.FORMAT_B3, header)
    end

    -- Repetitive on purpose: LuaJIT would start a trace in a shared function, and could not finish it.
    local self = {}
    local trace_id, parent_span_id = b3_parts.trace_id, b3_parts.parent_span_id
    if trace_id[0] ~= 0 then
        self.trace_id = ffi_str(trace_id, trace_id[TRACE_ID_LEN / 2] == 0 and TRACE_ID_LEN / 2 or TRACE_ID_LEN)
        self.span_id = ffi_str(b3_parts.span_id, SPAN_ID_LEN)
    end
    if parent_span_id[0] ~= 0 then
        self.parent_span_id = ffi_str(parent_span_id, SPAN_ID_LEN)
    end

    local sampled = b3_parts.sampled
    if sampled ~= 0 then
        self.sampled = sampled ~= byte("0")
        self.debug = sampled == byte("d") or nil
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

    return { trace_id = _M.otel_trace_id(), span_id = span_id(), sampled = sampled ~= false }
end


-- Returns a new span of the parent's trace, or of a new trace if the parent has none.
function b3.child(parent)
    check_table(parent, "child")

    return {
        trace_id = parent.trace_id or _M.otel_trace_id(),
        span_id = span_id(),
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
