# With the module in nginx, Lua takes the id and the span from it, and refuses options that would have no effect.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: one trace for a request, in Lua, in the log and upstream
--- http_config
txid_accept 127.0.0.0/8;
txid_trace traceparent b3_single;
map $http_a $share { default off; b 100%; c 0; }
txid_sample $share;
init_by_lua_block { request = require "resty.txid.request" }
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    location / {
        rewrite_by_lua_block { request.handle() }
        proxy_set_header traceparent $txid_traceparent;
        proxy_set_header tracestate $txid_tracestate;
        proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2;
        header_filter_by_lua_block {
            request.handle()
            local span, var = request.span(), ngx.var
            ngx.header["Seen"] = table.concat({
                tostring(span.trace_id == var.txid_trace_id), tostring(span.span_id == var.txid_span_id),
                tostring(span.traceparent == var.txid_traceparent), tostring(span.b3 == var.txid_b3),
                tostring(span.parent_span_id), tostring(span.sampled), tostring(span.debug), tostring(span.random),
                tostring(span.continued), tostring(request.id() == var.request_txid), tostring(span.threshold),
                var.txid_traceparent,
            }, " ")
        }
    }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    location / { return 200 "$http_traceparent $http_x_request_id"; }
}
--- lua
local http = require "support.http"
local function try(header)
    local response = http.send("GET / HTTP/1.0\r\n" .. header .. "\r\n\r\n", $TEST_NGINX_RAND_PORT_1)
    local seen, traceparent = response:match("Seen: (.*) (%S+)\r\n")
    local sent, id = response:match("\r\n\r\n(%S+) (%S+)$")
    ngx.say(seen, " ", traceparent == sent, " ", id == response:match("X%-Request%-Id: (%S+)"))
end
try("A: b")
try("A: c")
try("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\r\ntracestate: ot=th:8")
local came = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
try(came .. "\r\n" .. came)
try("b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-d")
try("b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7")
--- response_body
true true true true nil true nil true false true 0 true true
true true true true nil false nil true false true nil true true
true true true true 00f067aa0ba902b7 false nil false true true nil true true
true true true true nil true nil true false true nil true true
true true true true 00f067aa0ba902b7 true true false false true nil true true
true true true true 00f067aa0ba902b7 nil nil false false true nil true true



=== TEST 2: Lua files of another release
--- http_config
init_by_lua_block { require("resty.txid.lib").INTERNAL_VERSION = 99 _, err = pcall(require, "resty.txid.request") }
--- lua
ngx.say(err)
--- response_body
resty.txid.request: ngx_http_txid_module is of another release than these Lua files; install both from one



=== TEST 3: options without an effect
--- lua
local configure = require("resty.txid.request").configure
local function try(...)
    local ok, err = pcall(configure, ...)
    ngx.say(ok and "fine" or err)
end
try { accept = true }
try { accept = { "10.0.0.0/8" } }
try { accept = function() return false end }
try { on_invalid = "reject" }
try { trace = "b3" }
try { trace = { "traceparent", "b3" }, trace_id_header = "X-Trace-Id" }
try { trace_ids = "sorted" }
try { trace_random_flag = false }
try { format = "uuid_v7" }
try { valid = "a" }
try { sample = "1%" }
try { server_timing = true }
try { header = "X-Id", response = false, upstream = false }
try { accept = {}, on_invalid = "replace", trace = "off", trace_id_header = false, trace_ids = { "random" }, format = "txid" }
try { accept = false, valid = false }
--- response_body_like
^resty.txid.request: accept has no effect beside ngx_http_txid_module, which decides: use its directive txid_accept
resty.txid.request: accept has .*
resty.txid.request: accept has .*
resty.txid.request: on_invalid has no effect beside ngx_http_txid_module, which decides: use its directive txid_on_invalid
resty.txid.request: trace has no effect beside ngx_http_txid_module, which decides: use its directive txid_trace
resty.txid.request: trace.* has no effect .*
resty.txid.request: trace_ids has .*
resty.txid.request: trace_random_flag has .*
resty.txid.request: format has .*
resty.txid.request: valid has no effect beside ngx_http_txid_module, which decides: leave it out
resty.txid.request: sample has no .* use its directive txid_sample
resty.txid.request: server_timing has no .* use add_header Server-Timing 'traceparent;desc="\$txid_traceparent", trace;desc=\$txid_traceparent'
fine
fine
fine$



=== TEST 4: a timer has an id of its own, and no span
--- http_config
init_by_lua_block { request = require "resty.txid.request" }
--- lua
local id, again, span
assert(ngx.timer.at(0, function() id, again, span = request.id(), request.id(), tostring(request.span()) end))
require "support.wait_until"(function() return span end)
ngx.say(#id, " ", id == again, " ", id ~= request.id(), " ", span)
--- response_body
20 true true nil
