-- The span of a request that ends, as a line of OTLP/JSON.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local variable = require "resty.txid.request.variable"


local L = lib.C
local SPAN_LINE_MAX_LEN = lib.SPAN_LINE_MAX_LEN
local SPAN_OF_THIS_HOP = lib.SPAN_OF_THIS_HOP
local TRACEPARENT_LEN = lib.TRACEPARENT_LEN
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local ngx = ngx
local pairs = pairs
local start_time = ngx.req.start_time
local tostring = tostring
local type = type


local MODULE = "resty.txid.request: span_line: "
local TAKES = { service = "string", name = "string", attributes = "table" }

-- Where each text is.
local method, path = variable("request_method"), variable("request_uri")
local scheme, host, client = variable("scheme"), variable("host"), variable("remote_addr")
local protocol, user_agent = variable("server_protocol"), variable("http_user_agent")
local tracestate = variable("http_tracestate")

local line = ffi_new("char[?]", SPAN_LINE_MAX_LEN)
local texts = ffi_new("txid_span_texts")
local capacity, attributes = 0, nil


local function check(given)
    for key, value in pairs(given) do
        if type(value) ~= TAKES[key] then
            error(MODULE .. (TAKES[key] and key .. " must be a " .. TAKES[key] .. ", not " .. type(value)
                             or "there is no option " .. tostring(key) .. "; there are attributes, name, service"), 4)
        end
    end
end


local function set(text, value)
    text.data, text.len = value, #value
end


local function read(text, from)
    local data, len = from()
    text.data, text.len = data, data ~= nil and len or 0
end


-- No memory is allocated between this and the call that reads it, so no text is collected.
local function set_attributes(given)
    local count, held = 0, {}
    for _ in pairs(given) do
        count = count + 1
    end
    if count > capacity then
        attributes, capacity = ffi_new("txid_attribute[?]", count), count
    end
    count = 0
    for key, value in pairs(given) do
        if type(key) ~= "string" then
            error(MODULE .. "the name of an attribute must be a string, not " .. type(key), 4)
        end
        held[count + 1] = tostring(value)
        set(attributes[count].key, key)
        set(attributes[count].value, held[count + 1])
        count = count + 1
    end
    texts.attributes, texts.attribute_count = attributes, count
end


-- Returns the line of a span, a txid_span, in a request with this id; nil if the trace is not recorded.
return function(span, id, given)
    check(given)
    if span.of ~= SPAN_OF_THIS_HOP or span.traceparent[TRACEPARENT_LEN - 1] % 2 == 0 then
        return nil
    end
    set(texts.service, given.service or "nginx")
    set(texts.name, given.name or "")
    set(texts.request_id, id)
    read(texts.method, method)
    read(texts.path, path)
    read(texts.scheme, scheme)
    read(texts.host, host)
    read(texts.client, client)
    read(texts.protocol, protocol)
    read(texts.user_agent, user_agent)
    if span.is_continued then
        read(texts.tracestate, tracestate)
    end
    texts.status, texts.start_ms = ngx.status, floor(start_time() * 1000 + 0.5)
    texts.attribute_count = 0
    if given.attributes then
        set_attributes(given.attributes)
    end
    return ffi_str(line, L.txid_span_line(span, texts, line))
end
