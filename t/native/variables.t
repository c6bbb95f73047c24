# The variables and headers of the nginx modules.

use lib 't/support';
use Native qw(nginx_has_stream);
use Test::Nginx::Socket::Lua::Stream 'no_plan';
use State;
use Suite;

run_tests();

__DATA__

=== TEST 1: each variable has its format, and is the same whenever it is read
--- lua
for name, pattern in pairs {
    txid = "^[0-9a-v]{19}[0g]$",
    request_txid = "^[0-9a-v]{19}[0g]$",
    txid_strong = "^[0-9a-v]{19}[0g]$",
    txid_uuid_v1 = "^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    txid_uuid_v4 = "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    txid_uuid_v7 = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    txid_flake = "^[0-9A-Za-z]{22}$",
    txid_unique_id = "^[0-9A-Za-z_-]{27}$",
    txid_trace_id = "^[0-9a-f]{32}$",
    txid_span_id = "^[0-9a-f]{16}$",
    txid_traceparent = "^00-[0-9a-f]{32}-[0-9a-f]{16}-03$",
    txid_b3 = "^[0-9a-f]{32}-[0-9a-f]{16}-1$",
    txid_b3_sampled = "^1$",
} do
    local value = ngx.var[name]
    if not ngx.re.find(value, pattern, "jo") then
        ngx.say(name, " is ", value)
    end
    if ngx.var[name] ~= value then
        ngx.say(name, " is another the second time")
    end
end
ngx.say(ngx.var.txid_b3_flags, " ", ngx.var.txid_parent_span_id, " ", ngx.var.txid_tracestate)
ngx.say(ngx.var.txid_traceparent == "00-" .. ngx.var.txid_trace_id .. "-" .. ngx.var.txid_span_id .. "-03")
--- response_body
nil nil nil
true



=== TEST 2: each request has its own id, with the time of that moment
--- config
location = /one { return 200 "$txid $request_txid $txid_strong $txid_uuid_v1 $txid_uuid_v4 $txid_uuid_v7 $txid_flake $txid_unique_id $txid_trace_id $txid_span_id"; }
--- lua
local inspect = require "resty.txid.inspect"
local seen, count = {}, 0
local before = math.floor(ngx.now() * 1000)
local latest = {}
for _ = 1, 100 do
    latest = {}
    for id in require("support.http").get("/one"):gmatch("%S+") do
        seen[id] = true
        count = count + 1
        latest[#latest + 1] = id
    end
end
ngx.update_time()
local distinct = 0
for _ in pairs(seen) do
    distinct = distinct + 1
end
for place, format in pairs { "txid", "txid", "txid", "uuid_v1", [6] = "uuid_v7", [7] = "flake" } do
    local ms = inspect(latest[place], format).ms
    if ms < before or ms > ngx.now() * 1000 + 1 then
        ngx.say(format, " ", ms - before, " ms after the first")
    end
end
ngx.say(count, " ", distinct)
--- response_body
1000 1000
--- no_error_log
[error]
[crit]



=== TEST 3: variables cannot be overwritten, not even by a map, as Lua needs it without the module
--- http_config
map "" $request_txid { volatile; default ""; }
--- lua
for _, name in ipairs { "txid", "request_txid", "txid_trace_id" } do
    local before = ngx.var[name]
    ngx.say(name, " ", #before, " ", pcall(function() ngx.var[name] = "mine" end), " ", ngx.var[name] == before)
end
--- response_body_like
^txid 20 false.* true
request_txid 20 false.* true
txid_trace_id 32 false.* true
--- no_error_log
[alert]



=== TEST 4: the time in an id of this moment, which nothing else is
--- http_config
txid_time $txid $ms;
txid_time $arg_id $given;
--- config
location = /t { return 200 "$ms $given"; }
location = /see { content_by_lua_block {
    local http = require "support.http"
    local function seconds(of)
        return math.abs(ngx.time() - tonumber(of) / 1000) <= 2
    end
    -- An xid of now.
    local digits, number, id = "0123456789abcdefghijklmnopqrstuv", ngx.time() * 8, ""
    for _ = 1, 7 do
        local value = number % 32
        id, number = digits:sub(value + 1, value + 1) .. id, (number - value) / 32
    end
    local response = http.send("GET /t?id=" .. id .. "7vl9phl0mbtc0 HTTP/1.0\r\n\r\n", $TEST_NGINX_SERVER_PORT)
    local ms, given = response:match("\r\n\r\n(%d+) (%d+)$")
    ngx.say(seconds(ms), " ", seconds(given))
} }
--- request
GET /see
--- response_body
true true



=== TEST 5: ids that need options
--- http_config
txid_variable $order snowflake node=17 state=DIR/orders;
txid_variable $sony snowflake layout=sonyflake node=1 state=DIR/sony;
txid_variable $short unique_id_short address=10.0.0.7;
txid_variable $hosted trace_host_id address=10.0.0.7;
txid_variable $walked skywalking;
--- config
location = /t { return 200 "$order $order $sony $short $hosted $walked"; }
--- response_body_like chomp
^(\d{19}) \1 \d{18,19} [0-9A-Za-z@-]{24} [0-9a-f]{16}0a000007[0-9a-f]{8} [0-9a-f]{32}\.\d+\.\d{17}$



=== TEST 6: the response's header replaces those of the upstream, unless it is off
--- http_config
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    location / {
        # nginx keeps twenty headers in one place, and the others in the next.
        content_by_lua_block {
            ngx.header["X-Request-ID"] = "upstream"
            for i = 1, 25 do
                ngx.header["X-" .. i] = i
            end
            ngx.print(ngx.var.http_x_request_id)
        }
        add_header x-request-id again;
        add_header X-Other-Name "of the same length";
        add_header X-Request-Id-Of-It longer;
    }
}
--- config
txid_response_header X-Request-Id;
location = /on { proxy_set_header X-Request-Id $request_txid; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
location = /off { txid_response_header off; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- lua
local http = require "support.http"
for _, path in ipairs { "/on", "/off" } do
    local response = http.send("GET " .. path .. " HTTP/1.0\r\n\r\n")
    local lines = {}
    for value in response:gmatch("\r\n[Xx]%-[Rr]equest%-[Ii][Dd]: ([^\r]*)") do
        lines[#lines + 1] = response:find("\r\n\r\n" .. value, 1, true) and "the body's" or value
    end
    ngx.say(path, ": ", table.concat(lines, ", "))
    assert(not response:find("\r\n[Oo][Ff]*:"), response)
    assert(response:find("X-Other-Name: of the same length\r\n", 1, true), response)
    assert(response:find("X-Request-Id-Of-It: longer\r\n", 1, true), response)
end
--- response_body
/on: the body's
/off: upstream, again



=== TEST 7: every response has the header
--- http_config
txid_response_header X-Request-Id;
log_format ids $request_txid;
--- config
lingering_close always;
lingering_timeout 50ms;
location = /400 { return 400; }
location = /page { error_page 404 /t; return 404; }
location = /204 { return 204; }
location = /301 { return 301 /; }
location = /t { return 200 $request_txid; }
location = /large { client_max_body_size 10; proxy_pass http://127.0.0.1:1; }
location = /all {
    content_by_lua_block {
        local http = require "support.http"
        for _, request in ipairs {
            "GET /t HTTP/1.1\r\nHost: a\r\n", "GET /t HTTP/1.0\r\n", "HEAD /t HTTP/1.1\r\nHost: a\r\n", "GET /none HTTP/1.1\r\nHost: a\r\n",
            "GET /400 HTTP/1.1\r\nHost: a\r\n", "GET /page HTTP/1.1\r\nHost: a\r\n", "GET /204 HTTP/1.1\r\nHost: a\r\n",
            "GET /301 HTTP/1.1\r\nHost: a\r\n", "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n",
            "GET / HTTP/1.1\r\nA\1: b\r\n", "GET / HTTP/1.1\r\n", "NONSENSE\r\n", "GET / HTTP/9.9\r\nHost: a\r\n",
            "GET /" .. ("a"):rep(40000) .. " HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\nA: " .. ("a"):rep(40000) .. "\r\n",
            "TRACE / HTTP/1.1\r\nHost: a\r\n",
        } do
            local body = request:find("^POST") and ("x"):rep(100) or ""
            local response = http.send(request .. "Connection: close\r\n\r\n" .. body)
            local _, count = response:gsub("\r\nX%-Request%-Id: [0-9a-v]*[0g]\r\n", "")
            ngx.say(response:match("^HTTP/1.1 (%d+)"), " ", count)
        end
    }
}
--- request
GET /all
--- response_body
200 1
200 1
200 1
404 1
400 1
404 1
204 1
301 1
413 1
400 1
400 1
400 1
505 1
414 1
400 1
405 1
--- no_error_log
[alert]



=== TEST 8: without the system's randomness, strong ids are still made, and the log says so once
--- config
location = /strong { return 200 $txid_strong; }
--- lua
if not (jit.os == "Linux" and (jit.arch == "x64" or jit.arch == "arm64")) then
    return ngx.say(1)
end

local log = assert(io.open(ngx.config.prefix() .. "logs/error.log"))
local http = require "support.http"
require "support.without_randomness"()
local seen = {}
for _ = 1, 600 do
    local id = http.get("/strong")
    assert(#id == 20 and not seen[id])
    seen[id] = true
end
local _, times = log:read("*a"):gsub("%[crit%][^\n]* txid: the operating system gave no randomness, so ids could be guessed, client: ", "")
ngx.say(times)
--- response_body
1
--- error_log
[crit]
--- no_error_log
[error]



=== TEST 9: a 64-bit id that cannot be made is left out, and the log says why
--- http_config
txid_variable $order snowflake node=1 layout=time_bits=1,node_bits=10,sequence_bits=12 state=DIR/ended;
--- config
location = /order { return 200 "[$order$order]"; }
--- lua
local http = require "support.http"
ngx.say((http.get("/order")), (http.get("/order")))
local log = assert(io.open(ngx.config.prefix() .. "logs/error.log"))
ngx.say(select(2, log:read("*a"):gsub("%[error%][^\n]* txid: no id: [^()\n]+, client: ", "")))
--- response_body
[][]
2
--- no_error_log
[alert]



=== TEST 10: the header of the answer is that of the request alone; $txid_tracestate is the one of this moment
--- http_config
txid_accept all;
txid_trace traceparent;
--- config
txid_response_header X-Request-Id;
# In a configuration that names it, nginx keeps the value of a variable unless it is told not to.
set $named $txid_tracestate;
location = /t {
    auth_request /sub;
    auth_request_set $of_auth $sent_http_x_request_id;
    content_by_lua_block {
        local function trace_state() return ngx.var.txid_tracestate end
        local before = trace_state()
        ngx.req.set_header("tracestate", "b=2")
        ngx.say(before, " ", trace_state(), " ", ngx.location.capture("/sub").header["X-Request-Id"])
        ngx.say("auth: '", ngx.var.of_auth, "'")
        ngx.req.clear_header("tracestate")
        ngx.say(trace_state())
    }
}
location = /sub { return 200 "sub"; }
--- more_headers
traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
tracestate: a=1
X-Request-Id: mine-123
--- response_headers
X-Request-Id: mine-123
--- response_body
a=1 b=2 nil
auth: ''
nil



=== TEST 11: a subrequest with its own variables has the ids of its request, whichever is evaluated first
--- config
location = /sub { content_by_lua_block { ngx.print(ngx.var[ngx.var.args]) } }
--- lua
local names = { "txid", "txid_strong", "txid_uuid_v7", "request_txid", "txid_trace_id", "txid_span_id" }
for i, name in ipairs(names) do
    local before = i % 2 == 0 and ngx.var[name]
    local inside = ngx.location.capture("/sub?" .. name).body
    ngx.say(name, " ", #inside > 0 and inside == ngx.var[name] and inside == (before or inside))
end
--- response_body
txid true
txid_strong true
txid_uuid_v7 true
request_txid true
txid_trace_id true
txid_span_id true



=== TEST 12: a server has a format of its own, or that around it
--- http_config
txid_trace traceparent;
txid_format same_as_trace;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    location / { return 200 $request_txid; }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    server_name flake;
    txid_format flake;
    location / { return 200 $request_txid; }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    server_name uuid;
    txid_format uuid_v7;
    location / { return 200 $request_txid; }
}
--- lua
local http = require "support.http"
for _, host in ipairs { "other", "flake", "uuid" } do
    local id = http.send("GET / HTTP/1.0\r\nHost: " .. host .. "\r\n\r\n", $TEST_NGINX_RAND_PORT_1):match("\r\n\r\n(.*)$")
    ngx.say(host, " ", #id, " ", (id:gsub("%x+", "x")))
end
--- response_body_like
^other 32 x
flake 22 .*
uuid 36 x-x-x-x-x$



=== TEST 13: $txid_datadog_origin is the one of this moment, and none without its trace
--- http_config
txid_accept all;
txid_trace datadog;
--- config
# A variable that is set hides one that is found by its prefix.
set $named $txid_datadog_origin;
--- lua
local function origin() return ngx.var.txid_datadog_origin end
local before = origin()
ngx.req.set_header("x-datadog-origin", "synthetics")
ngx.say(before, " ", origin())
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["x-datadog-trace-id: 1\nx-datadog-parent-id: 2\nx-datadog-origin: rum", "x-datadog-origin: rum"]
--- response_body eval
["rum synthetics\n", "nil nil\n"]
