# The id of the trace as that of the request, where decisions.t does not tell.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the span first
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "b3", trace_ids = "sorted", format = "same_as_trace" }
}
--- lua
local span = request.span()
ngx.say(request.id() == span.trace_id, " ", request.span().traceparent == span.traceparent)
--- response_body
true true



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
