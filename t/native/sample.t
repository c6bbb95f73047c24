# The nginx module: how many of the traces that begin here are recorded. tests/samplers compares this with others' samplers.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the share of the location, which a server, a block of http and a variable may give
--- http_config
map $arg_rate $rate { default $arg_rate; "" 1/2; }
txid_accept 127.0.0.0/8;
txid_trace traceparent b3 datadog;
txid_sample 0%;
--- config
location = /none { return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate $txid_b3_sampled $txid_datadog_sampling_priority $txid_datadog_tags"; }
location = /all { txid_sample 100%; return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate $txid_b3_sampled $txid_datadog_sampling_priority $txid_datadog_tags"; }
location = /off { txid_sample off; return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate $txid_b3_sampled $txid_datadog_sampling_priority $txid_datadog_tags"; }
location = /rate { txid_sample $rate; return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate"; }
--- lua
local http = require "support.http"
for _, path in ipairs { "/none", "/all", "/off", "/rate?rate=0", "/rate?rate=100%", "/rate?rate=off" } do
    local said = http.get(path):gsub("00%-%x+%-%x+", "00-ID"):gsub("tid=%x+", "tid=ID")
    ngx.say(path, ": ", said)
end
local seen = {}
for _ = 1, 200 do
    local sampled, random, state = http.get("/rate"):match("^([01]) 00%-%x+(%x)%x%x%x%x%x%x%x%x%x%x%x%x%x%-%x+%-0[23] ?(.*)$")
    seen[sampled .. " " .. tostring(random >= "8") .. " " .. state] = true
end
for _, line in ipairs { "0 false ", "1 true ot=th:8" } do
    ngx.say(line, ": ", seen[line])
    seen[line] = nil
end
ngx.say(next(seen))
--- response_body
/none: 0 00-ID-02  0 0 _dd.p.tid=ID,_dd.p.ksr=0
/all: 1 00-ID-03 ot=th:0 1 1 _dd.p.tid=ID,_dd.p.dm=-1,_dd.p.ksr=1
/off: 1 00-ID-03  1 1 _dd.p.tid=ID
/rate?rate=0: 0 00-ID-02 
/rate?rate=100%: 1 00-ID-03 ot=th:0
/rate?rate=off: 1 00-ID-03 
0 false : true
1 true ot=th:8: true
nil



=== TEST 2: a variable without a share is logged once, and the trace is recorded; one that goes on needs none
--- http_config
txid_accept all;
txid_trace traceparent;
txid_sample $arg_rate;
--- config
location = /rate { return 200 "$txid_trace_sampled [$txid_tracestate]"; }
--- lua
local http = require "support.http"
local parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\r\n"
ngx.say((http.send("GET /rate?rate=x HTTP/1.0\r\n" .. parent .. "\r\n"):match("\r\n\r\n(.*)$")))
for _, rate in ipairs { "a%22b", "", "1", "0" } do
    ngx.say((http.get("/rate?rate=" .. rate)))
end
local log = io.open(ngx.config.prefix() .. "logs/error.log")
ngx.say(select(2, log:read("*a"):gsub("txid_sample: ", "")))
log:close()
--- response_body
0 []
1 []
1 []
1 []
0 []
1
--- error_log eval
qr{\[warn\] .* txid_sample: "a%22b" is not a sampling ratio: write a percentage such as 0\.1%, a fraction such as 1/1000, or 0; such traces are sampled}



=== TEST 3: of an accepted peer, the decision and all of tracestate go on, however long; of others nothing
--- http_config
txid_trace traceparent b3_single;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    txid_accept 127.0.0.0/8;
    txid_sample 0;
    location / { return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate"; }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    txid_sample 100%;
    location / { return 200 "$txid_trace_sampled $txid_traceparent $txid_tracestate"; }
}
--- lua
local http = require "support.http"
local members, long = {}, { "ot=th:8;rv:ffffffffffffff" }
for i = 1, 32 do
    members[i] = "m" .. i .. "=" .. i
end
for i = 2, 10 do
    long[i] = "m" .. i .. "=" .. ("x"):rep(50)
end
local function ask(port, ...)
    local head = table.concat({ "GET / HTTP/1.0", ... }, "\r\n")
    local sampled, flags, state = http.send(head .. "\r\n\r\n", port):match("\r\n\r\n([01]) 00%-%x+%-%x+%-(%d%d) ?(.*)$")
    return sampled .. " " .. flags .. " " .. state
end
local parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"
for _, state in ipairs { "ot=th:fd70a4;rv:ffffffffffffff,a=b", table.concat(members, ","), table.concat(long, ",") } do
    for _, flags in ipairs { "0", "1", "3" } do
        ngx.say(#state, " ", ask($TEST_NGINX_RAND_PORT_1, parent .. flags, "tracestate: " .. state) == (flags == "0" and "0" or "1") .. " 0" .. flags .. " " .. state,
                " ", ask($TEST_NGINX_RAND_PORT_2, parent .. flags, "tracestate: " .. state))
    end
end
ngx.say(ask($TEST_NGINX_RAND_PORT_1, "b3: d"), ask($TEST_NGINX_RAND_PORT_1, "b3: 1"), ask($TEST_NGINX_RAND_PORT_1, "A: b"))
ngx.say(ask($TEST_NGINX_RAND_PORT_1, parent .. "x", "tracestate: ot=th:0"))
ngx.say(ask($TEST_NGINX_RAND_PORT_1, "b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"))
--- response_body
34 true 1 03 ot=th:0
34 true 1 03 ot=th:0
34 true 1 03 ot=th:0
205 true 1 03 ot=th:0
205 true 1 03 ot=th:0
205 true 1 03 ot=th:0
512 true 1 03 ot=th:0
512 true 1 03 ot=th:0
512 true 1 03 ot=th:0
1 03 1 03 0 02 
0 02 
0 00 ot=rv:1269f09d742174



=== TEST 4: a redirect keeps the decision, and a subrequest that is the first to ask gets that of its request
--- config
location = /first { txid_sample 0; set $first "$txid_trace_sampled"; rewrite ^ /second; }
location = /second { txid_sample 100%; return 200 "$first $txid_trace_sampled [$txid_tracestate]"; }
location = /late { txid_sample 0; rewrite ^ /second; }
location = /parent { txid_sample 0; auth_request /child; content_by_lua_block { ngx.print(ngx.var.txid_trace_sampled) } }
location = /child { txid_sample 100%; set $of_child $txid_trace_id; return 200; }
--- lua
local http = require "support.http"
ngx.say((http.get("/first")))
ngx.say((http.get("/late")))
ngx.say((http.get("/parent")))
--- response_body
0 0 []
 1 [ot=th:0]
0



=== TEST 5: a share that depends on the trace is none
--- http_config
map $txid_trace_id $by_itself { default 0; }
txid_sample $by_itself;
--- config
location = /cycle { return 200 "$txid_trace_sampled [$txid_tracestate]"; }
--- lua
ngx.say((require("support.http").get("/cycle")))
--- response_body_like: ^[01] \[\]$
--- no_error_log
[alert]
[emerg]
--- error_log: cycle while evaluating variable "txid_trace_id"
