# Trace ids of several kinds, and resty.txid.trace: the headers that carry them.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: trace ids that sort, with and without a host, and with an epoch
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local function host(options) return maker.new("trace_host_id", options) end
local id = maker.new "trace_id"
for sequence = 0, 2 do
    local it = inspect(id(1522545688552), "trace_id")
    assert(it.sequence == sequence and #it.random == 16)
end
local it = inspect(id(1522545688553), "trace_id")
ngx.say(it.ms, " ", it.time, " ", it.sequence)
it = inspect(host { address = "10.209.52.143" }(1522545688554), "trace_host_id")
ngx.say(it.ms, " ", it.time, " ", it.sequence, " ", it.host, " ", #it.random)
ngx.say(inspect(host { address = "2001:db8::7" }(), "trace_host_id").host)

local epoch = 1500000000000
local since = maker.new("trace_id", { epoch = epoch })
it = since(1522545688552)
local from_epoch = inspect(it, "trace_id", epoch)
ngx.say(inspect(it, "trace_id").ms, " ", from_epoch.ms, " ", from_epoch.time)
it = host { address = "10.0.0.7", epoch = "2017-07-14T02:40:00Z" }(1522545688552LL)
ngx.say(inspect(it, "trace_host_id", epoch).ms)
ngx.say(math.abs(inspect(since(), "trace_id", epoch).ms - ngx.now() * 1000) < 2)
--- response_body
1522545688553 2018-04-01T01:21:28.553Z 0
1522545688554 2018-04-01T01:21:28.554Z 0 10.209.52.143 8
32.1.13.191
22545688552 1522545688552 2018-04-01T01:21:28.552Z
1522545688552
true



=== TEST 2: a random word is used for 5000 ids
--- lua
local host = require("resty.txid.maker").new("trace_host_id", { address = "10.0.0.7" })
local words, runs = nil, 0
for _ = 1, 10000 do
    local word = host():sub(25)
    if word ~= words then
        words, runs = word, runs + 1
    end
end
-- Two; three if the first was already in use; and one more if a second has passed.
ngx.say(runs >= 2 and runs <= 4)
--- response_body
true



=== TEST 3: SOFATracer's and SkyWalking's
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local sofa, skywalking = maker.new("sofa", { address = "10.209.52.143" }), maker.new "skywalking"
local it = inspect(sofa(), "sofa")
ngx.say(it.address, " ", it.pid == ngx.worker.pid(), " ", math.abs(it.ms - ngx.now() * 1000) < 2)
ngx.say(inspect(sofa(), "sofa").sequence - it.sequence)

local id = skywalking()
it = inspect(id, "skywalking")
ngx.say(id:match("^%x+%.%d+%.%d+$") == id, " ", it.thread, " ", math.abs(it.ms - ngx.now() * 1000) < 2)
local next_one = inspect(skywalking(), "skywalking")
ngx.say(next_one.instance == it.instance, " ", next_one.sequence - it.sequence)
--- response_body
10.209.52.143 true true
1
true 0 true
true 1



=== TEST 4: a traceparent is read, passed on and written
--- lua
local traceparent = require("resty.txid.trace").traceparent
local parent = traceparent.parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
ngx.say(parent.trace_id, " ", parent.span_id, " ", parent.sampled, " ", parent.random)
ngx.say(traceparent.tostring(parent))
local child = traceparent.child(parent)
ngx.say(child.trace_id, " ", child.span_id ~= parent.span_id, " ", #child.span_id, " ", traceparent.tostring(child):sub(-3))

for _, sampled in ipairs { true, false } do
    local text = traceparent.tostring(traceparent.new(sampled))
    assert(traceparent.tostring(traceparent.parse(text)) == text)
    ngx.say(#text, " ", text:sub(-3))
end
ngx.say(traceparent.tostring(traceparent.new()):sub(-3), " ", traceparent.tostring(traceparent.child(traceparent.new())):sub(-3))
--- response_body
4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 true false
00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
4bf92f3577b34da6a3ce929d0e0e4736 true 16 -01
55 -03
55 -02
-03 -03



=== TEST 5: b3 in one header
--- lua
local b3 = require("resty.txid.trace").b3
for _, text in ipairs { "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1", "1", "64fe8b2a57d3eff7-e457b5a2e4d86bd1-d" } do
    local it = b3.parse(text)
    assert(b3.tostring(it) == text)
    ngx.say(it.trace_id, " ", it.span_id, " ", it.parent_span_id, " ", it.sampled, " ", it.debug)
end

local parent = b3.parse("80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-0")
local child = b3.child(parent)
assert(child.trace_id == parent.trace_id and child.parent_span_id == parent.span_id and child.sampled == false)
assert(b3.parse(b3.tostring(child)).parent_span_id == parent.span_id)
assert(#b3.child(b3.parse("d")).trace_id == 32 and b3.child(b3.parse("d")).debug)
assert(b3.tostring(b3.new()):match("^%x+%-%x+%-1$") and b3.tostring(b3.new(false)):match("%-0$"))
ngx.say(select(2, b3.parse("x")))
--- response_body
80f198ee56343ba864fe8b2a57d3eff7 e457b5a2e4d86bd1 nil nil nil
nil nil nil true nil
64fe8b2a57d3eff7 e457b5a2e4d86bd1 nil true true
character 1 is 'x', not one of 0, 1 and d



=== TEST 6: b3 in several headers, as a client sends them
--- lua
local b3 = require("resty.txid.trace").b3
local it = b3.parse_headers(ngx.req.get_headers())
ngx.say(it.trace_id, " ", it.span_id, " ", it.parent_span_id, " ", it.sampled, " ", it.debug)

local headers = b3.headers(it)
ngx.say(headers["X-B3-TraceId"], " ", headers["X-B3-SpanId"], " ", headers["X-B3-ParentSpanId"], " ",
        headers["X-B3-Sampled"], " ", headers["X-B3-Flags"])
it = b3.parse_headers(headers)
ngx.say(it.parent_span_id, " ", it.sampled, " ", b3.parse_headers({ ["X-B3-Flags"] = "1" }).debug)
ngx.say(b3.parse_headers({ ["x-b3-sampled"] = "0" }).sampled)
for _, sampled in ipairs { "1", "true", "false" } do
    ngx.say(b3.parse_headers({ ["x-b3-sampled"] = sampled }).sampled)
end
local debug = b3.parse_headers({ ["x-b3-flags"] = "1" })
ngx.say(debug.debug, " ", debug.sampled)
headers = b3.headers(debug)
ngx.say(headers["X-B3-Sampled"], " ", headers["X-B3-Flags"])
ngx.say(b3.parse_headers({ ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = it.span_id,
                           ["x-b3-parentspanid"] = it.parent_span_id }).sampled)

local trace = { ["x-b3-traceid"] = it.trace_id }
for _, headers in ipairs {
    {}, { ["x-b3-flags"] = "0" }, trace, { ["x-b3-spanid"] = it.span_id }, { ["x-b3-parentspanid"] = it.span_id },
    { ["x-b3-traceid"] = { it.trace_id, it.trace_id }, ["x-b3-spanid"] = it.span_id },
    { ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = { it.span_id, it.span_id } },
    { ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = it.span_id, ["x-b3-parentspanid"] = { "1", "1" } },
    { ["x-b3-sampled"] = { "1", "1" } },
    { ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = "x" },
    { ["x-b3-traceid"] = it.span_id .. "-" .. it.span_id, ["x-b3-spanid"] = "1" },
    { ["x-b3-traceid"] = "-" .. it.trace_id, ["x-b3-spanid"] = it.span_id },
    { ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = it.span_id .. "-0-" .. it.span_id },
    { ["x-b3-traceid"] = it.trace_id, ["x-b3-spanid"] = it.span_id, ["x-b3-sampled"] = "yes" },
} do
    local value, err = b3.parse_headers(headers)
    assert(value == nil)
    ngx.say(err)
end
--- more_headers
X-B3-TraceId: 80f198ee56343ba864fe8b2a57d3eff7
X-B3-ParentSpanId: 05e3ac9a4f6e3b90
X-B3-SpanId: e457b5a2e4d86bd1
X-B3-Sampled: 1
--- response_body
80f198ee56343ba864fe8b2a57d3eff7 e457b5a2e4d86bd1 05e3ac9a4f6e3b90 true nil
80f198ee56343ba864fe8b2a57d3eff7 e457b5a2e4d86bd1 05e3ac9a4f6e3b90 1 nil
05e3ac9a4f6e3b90 true true
false
true
true
false
true true
nil 1
nil
no X-B3- headers
no X-B3- headers
X-B3-TraceId and X-B3-SpanId must both be present
X-B3-TraceId and X-B3-SpanId must both be present
X-B3-TraceId and X-B3-SpanId must both be present
an X-B3- header is repeated
an X-B3- header is repeated
an X-B3- header is repeated
an X-B3- header is repeated
as a b3 header: a b3 header has 1, 33, 35, 49, 51, 52 or 68 characters, not 34
an X-B3- header contains a dash
an X-B3- header contains a dash
an X-B3- header contains a dash
X-B3-Sampled is neither 0 nor 1



=== TEST 7: a wrong argument is an error at the caller's level
--- lua
local trace = require "resty.txid.trace"
local caller = debug.getinfo(1, "S").short_src
local function say_error(call, ...)
    local arguments, count = { ... }, select("#", ...)
    local ok, err = pcall(function() local value = call(unpack(arguments, 1, count)) return value end)
    assert(not ok and err:sub(1, #caller) == caller, err)
    ngx.say((err:gsub("^.-:%d+: ", "")))
end
say_error(trace.traceparent.parse)
say_error(trace.traceparent.child, "00-")
say_error(trace.traceparent.child, 5)
say_error(trace.traceparent.tostring, {})
say_error(trace.traceparent.tostring, { trace_id = ("1"):rep(32) })
say_error(trace.b3.parse, {})
say_error(trace.b3.parse_headers, "x")
say_error(trace.b3.child)
say_error(trace.b3.tostring, "0")
say_error(trace.b3.tostring, { trace_id = ("1"):rep(32) })
say_error(trace.b3.headers, "0")
say_error(trace.b3.headers, { trace_id = 1, span_id = ("1"):rep(16) })
say_error(trace.b3.new, "0")
say_error(trace.traceparent.new, "0")
--- response_body
bad argument #1 to 'parse' (string expected, got nil)
bad argument #1 to 'child' (a table with trace_id and span_id expected, got string)
bad argument #1 to 'child' (a table with trace_id and span_id expected, got number)
bad argument #1 to 'tostring' (a table with trace_id and span_id expected, got table)
bad argument #1 to 'tostring' (a table with trace_id and span_id expected, got table)
bad argument #1 to 'parse' (string expected, got table)
bad argument #1 to 'parse_headers' (table expected, got string)
bad argument #1 to 'child' (table expected, got nil)
bad argument #1 to 'tostring' (table expected, got string)
bad argument #1 to 'tostring' (a table with both trace_id and span_id as strings, or neither, expected)
bad argument #1 to 'headers' (table expected, got string)
bad argument #1 to 'headers' (a table with both trace_id and span_id as strings, or neither, expected)
bad argument #1 to 'new' (boolean expected, got string)
bad argument #1 to 'new' (boolean expected, got string)
