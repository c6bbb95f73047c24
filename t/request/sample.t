# resty.txid.request: how many of the traces that begin here are recorded.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: what is no share
--- lua
local request = require "resty.txid.request"
local function try(options) ngx.say(select(2, pcall(request.configure, options))) end
try { trace = "b3", sample = "1" }
try { trace = "b3", sample = 1 }
try { trace = "b3", sample = { "1%" } }
try { trace = "b3", sample = "$" }
try { sample = "1%" }
try { sample = "$rate" }
--- response_body
resty.txid.request: sample: "1" is not a sampling ratio: write a percentage such as 0.1%, a fraction such as 1/1000, or 0
resty.txid.request: sample must be "off", a ratio such as "1%" or "1/1000", or "$variable", not 1
resty.txid.request: sample must be "off", a ratio such as "1%" or "1/1000", or "$variable", not this table
resty.txid.request: sample: "$" is not a sampling ratio: write a percentage such as 0.1%, a fraction such as 1/1000, or 0
resty.txid.request: sample has no effect, because trace is off: leave it out, or set trace
resty.txid.request: sample has no effect, because trace is off: leave it out, or set trace



=== TEST 2: the span, and the variable
--- http_config
map "" $txid_trace_sampled { default ""; }
log_format sampled "$txid_trace_sampled";
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent", sample = "$arg_rate" }
}
--- config
location = /t {
    rewrite_by_lua_block { request.handle() }
    content_by_lua_block {
        local span = request.span()
        ngx.say(span.sampled, " ", span.threshold, " ", ngx.var.txid_trace_sampled)
    }
}
--- request eval
["GET /t?rate=0", "GET /t?rate=100%", "GET /t?rate=99.9999999%", "GET /t?rate=off"]
--- response_body eval
["false nil 0\n", "true 0 1\n", "true 000000044b82f8 1\n", "true nil 1\n"]



=== TEST 3: a variable without a share is logged once, and one that cannot be read counts for nothing; a trace that goes on needs none
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { accept = true, trace = "traceparent", sample = "$arg_rate", format = "same_as_trace" }
}
init_worker_by_lua_block { at_start = request.span().sampled }
--- config
location = /span { content_by_lua_block { ngx.say(request.span().sampled, " ", request.span().threshold) } }
--- lua
local http = require "support.http"
ngx.say(at_start)
local parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\r\n"
ngx.print((http.send("GET /span?rate=x HTTP/1.0\r\n" .. parent .. "\r\n"):match("\r\n\r\n(.*)$")))
ngx.print((http.get("/span?rate=1")), (http.get("/span")), (http.get("/span?rate=0")))
local log = io.open(ngx.config.prefix() .. "logs/error.log")
ngx.say(select(2, log:read("*a"):gsub("is not a sampling ratio", "")))
log:close()
--- response_body
true
false nil
true nil
true nil
false nil
1
--- error_log eval
qr/\[warn\] .* resty\.txid\.request: sample: \$arg_rate is "1", which is not a sampling ratio; such traces are sampled/
