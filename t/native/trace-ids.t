# The nginx module: trace ids that sort by time, and the id of the trace as that of the request.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: sorted, from a day, without the flag, and continued
--- http_config
txid_accept all;
txid_trace traceparent b3;
txid_trace_ids sorted epoch=2020-01-01;
txid_format same_as_trace;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    txid_trace_random_flag off;
    location / { return 200 "$request_txid $txid_trace_id $txid_traceparent"; }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    txid_format ksuid;
    location / { return 200 $request_txid; }
}
--- config
location = /one { return 200 "$request_txid $txid_trace_id $txid_traceparent"; }
--- lua
local inspect = require "resty.txid.inspect"
local http = require "support.http"
local last, before = "", math.floor(ngx.now() * 1000)
local function show(answer, format, epoch)
    local id, trace_id, sent, flags = answer:match("^(%x+) (%x+) 00%-(%x+)%-%x+%-(%d%d)$")
    local ms = inspect(id, format, epoch).ms
    ngx.update_time()
    ngx.say(id == trace_id and id == sent, " ", flags, " ", ms >= before and ms <= ngx.now() * 1000 + 1, " ", id > last)
    last = id
end
show(http.get("/one"), "trace_id", 1577836800000)
show(http.get("/one"), "trace_id", 1577836800000)
show(http.get("/", $TEST_NGINX_RAND_PORT_1), "trace_id", 1577836800000)
ngx.say(#http.get("/", $TEST_NGINX_RAND_PORT_2), " of its own format")
for _, header in ipairs {
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "X-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7",
    "X-Request-Id: mine",
} do
    local answer = http.send("GET /one HTTP/1.0\r\n" .. header .. "\r\n\r\n", ngx.var.server_port)
    ngx.say((answer:match("\r\n\r\n(%w+) %x+ ")))
end
--- response_body
true 03 true true
true 03 true true
true 01 true true
27 of its own format
4bf92f3577b34da6a3ce929d0e0e4736
4bf92f3577b34da6a3ce929d0e0e4736
mine
