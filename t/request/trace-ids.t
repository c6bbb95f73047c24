# Trace ids that sort by time, and the id of the trace as that of the request.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: random, sorted, and continued
--- http_config
map "" $request_txid { default ""; }
map "" $txid_trace_id { default ""; }
init_by_lua_block { request = require "resty.txid.request" }
--- lua
local inspect = require "resty.txid.inspect"
local header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

local function is_now(ms)
    return math.abs(ms - ngx.now() * 1000) < 5000
end

-- The id, whether it is that of the trace, and the flags.
local function anew(trace_ids, begins_with_span)
    require "support.anew"()
    request.configure { accept = true, trace = { "traceparent", "b3" }, trace_ids = trace_ids, format = "same_as_trace" }
    local first = begins_with_span and request.span()
    local id, span = request.id(), request.span()
    assert(not first or first.traceparent == span.traceparent)
    local sent, flags = span.traceparent:match("^00%-(%x+)%-%x+%-(%d%d)$")
    return id, id == span.trace_id and id == sent, flags
end

local lines = {}
local function say(...)
    lines[#lines + 1] = table.concat({ ... }, " ")
end

local id, is_same, flags = anew(nil)
say("random:", tostring(is_same), flags, tostring(not is_now(inspect(id, "trace_id").ms)))
id, is_same, flags = anew("sorted")
say("sorted:", tostring(is_same), flags, tostring(is_now(inspect(id, "trace_id").ms)))
id, is_same, flags = anew("sorted", true)
say("the span first:", tostring(is_same), flags, tostring(is_now(inspect(id, "trace_id").ms)))
id, is_same, flags = anew { "sorted", "epoch=2020-01-01" }
say("from another day:", tostring(is_same), flags, tostring(is_now(inspect(id, "trace_id", 1577836800000).ms)))
ngx.req.set_header("traceparent", header)
say("continued:", (anew("sorted")))
ngx.req.set_header("X-Request-Id", "mine")
say("with an id that is accepted:", (anew("sorted")), request.span().trace_id)
ngx.say(table.concat(lines, "\n"))
--- response_body
random: true 03 true
sorted: true 03 true
the span first: true 03 true
from another day: true 03 true
continued: 4bf92f3577b34da6a3ce929d0e0e4736
with an id that is accepted: mine 4bf92f3577b34da6a3ce929d0e0e4736



=== TEST 2: handle() sends it everywhere, and a timer has one as well
--- http_config
map "" $request_txid { default ""; }
map "" $txid_trace_id { default ""; }
log_format ids "$request_txid $txid_trace_id";
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "b3", trace_ids = "sorted", format = "same_as_trace" }
}
--- config
location = /t {
    rewrite_by_lua_block { request.handle() }
    content_by_lua_block {
        local id
        assert(ngx.timer.at(0, function() id = request.id() end))
        require("support.wait_until")(function() return id end)
        ngx.say(#id, " ", id ~= request.id(), " ", ngx.header["Server-Timing"])
        ngx.say(ngx.var.request_txid == request.id(), " ", ngx.var.txid_trace_id == request.id(), " ",
            ngx.header["X-Request-Id"] == request.id(), " ", ngx.var.http_x_b3_traceid == request.id())
    }
}
--- response_body
32 true nil
true true true true
