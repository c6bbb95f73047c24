# Trace context: an accepted trace is continued, and the configured headers are sent upstream.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

# The first line of a block's config is the argument of configure(). The upstream prints the headers that it got, with this hop's
# span as SPAN, a new trace as TRACE, and everything else unchanged.
add_block_preprocessor(sub {
    my ($block) = @_;
    my ($options, $rest) = $block->config =~ /\A([^\n]*)\n(.*)\z/s;
    $block->set_value(http_config => <<"END");
lua_shared_dict agree 1m;
map "" \$txid_trace_id { default ""; }
map "" \$txid_span_id { default ""; }
log_format trace "\$txid_trace_id \$txid_span_id";
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure $options

    function send(name, lines)
        local socket = ngx.socket.tcp()
        assert(socket:connect("127.0.0.1", \$TEST_NGINX_RAND_PORT_1))
        assert(socket:send("GET / HTTP/1.0\\r\\n" .. lines .. "\\r\\n\\r\\n"))
        local body = assert(socket:receive("*a")):match("\\r\\n\\r\\n(.*)")
        ngx.say(name, ": ", body)
    end
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            local headers, lines = ngx.req.get_headers(), {}
            for _, name in ipairs { "traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid",
                                    "x-b3-sampled", "x-b3-flags", "x-trace-id" } do
                local value = headers[name]
                if value then
                    lines[#lines + 1] = name .. "=" .. (type(value) == "table" and table.concat(value, "|") or value)
                end
            end
            ngx.print(table.concat(lines, " "))
        }
    }
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    server_rewrite_by_lua_block { request.handle() }
    location / { content_by_lua_block { ngx.exec("/second") } }
    location /second {
        content_by_lua_block {
            local body = ngx.location.capture("/upstream").body
            body = body:gsub(ngx.var.txid_span_id, "SPAN")
            if not ngx.req.raw_header():find(ngx.var.txid_trace_id:sub(17), 1, true) then
                body = body:gsub(ngx.var.txid_trace_id, "TRACE")
            end
            ngx.print(body)
        }
    }
    location /upstream { proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2; }
}
END
    $block->set_value(config => "location = /t { content_by_lua_block {\n$rest\n} }\n");
});

no_long_string();
run_tests();

__DATA__

=== TEST 1: traceparent
--- config
{ accept = true, trace = "traceparent" }
local trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
local parent = "00-" .. trace_id .. "-00f067aa0ba902b7-"
send("nothing comes in", "A: b")
send("sampled", "traceparent: " .. parent .. "01")
send("not sampled", "traceparent: " .. parent .. "00")
send("random", "traceparent: " .. parent .. "03")
send("with tracestate", "traceparent: " .. parent .. "01\r\ntracestate: a=1,b@c=2\r\nTracestate: d=3 ")
send("tracestate alone", "tracestate: a=1")
send("wrong", "traceparent: 00-" .. ("0"):rep(32) .. "-00f067aa0ba902b7-01\r\ntracestate: a=1")
send("in upper case", "traceparent: " .. parent:upper() .. "01")
send("twice", "traceparent: " .. parent .. "01\r\ntraceparent: " .. parent .. "01\r\ntracestate: a=1")
send("of another kind", "b3: " .. trace_id .. "-00f067aa0ba902b7-1")
--- response_body
nothing comes in: traceparent=00-TRACE-SPAN-03
sampled: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-01
not sampled: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-00
random: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-03
with tracestate: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-01 tracestate=a=1,b@c=2|d=3
tracestate alone: traceparent=00-TRACE-SPAN-03
wrong: traceparent=00-TRACE-SPAN-03
in upper case: traceparent=00-TRACE-SPAN-03
twice: traceparent=00-TRACE-SPAN-03
of another kind: traceparent=00-TRACE-SPAN-03 b3=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1



=== TEST 2: from a network that is not accepted, a new trace
--- config
{ accept = { "10.0.0.0/8" }, trace = "traceparent" }
send("a good one", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntracestate: a=1")
--- response_body
a good one: traceparent=00-TRACE-SPAN-03



=== TEST 3: b3 in several headers
--- config
{ accept = true, trace = "b3" }
local trace_id = "X-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\r\n"
send("nothing comes in", "A: b")
send("sampled", trace_id .. "X-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Sampled: 1")
send("undecided, with a parent", trace_id .. "X-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-ParentSpanId: 05e3ac9a4f6e3b90")
send("debug", trace_id .. "X-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Flags: 1")
send("64 bits", "X-B3-TraceId: a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Sampled: 0")
send("no more than not to sample", "X-B3-Sampled: 0")
send("wrong", "X-B3-TraceId: nonsense\r\nX-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-ParentSpanId: 05e3ac9a4f6e3b90")
send("twice", trace_id .. trace_id .. "X-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Flags: 1")
--- response_body
nothing comes in: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1
sampled: x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=1
undecided, with a parent: x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7
debug: x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-flags=1
64 bits: x-b3-traceid=0000000000000000a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=0
no more than not to sample: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=0
wrong: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1
twice: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1



=== TEST 4: b3 in one header
--- config
{ accept = true, trace = "b3-single" }
send("nothing comes in", "A: b")
send("sampled", "b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1")
send("undecided", "b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7")
send("not to sample", "b3: 0")
send("wrong", "b3: 4bf92f3577b34da6a3ce929d0e0e4736")
--- response_body
nothing comes in: b3=TRACE-SPAN-1
sampled: b3=4bf92f3577b34da6a3ce929d0e0e4736-SPAN-1-00f067aa0ba902b7
undecided: b3=4bf92f3577b34da6a3ce929d0e0e4736-SPAN
not to sample: b3=TRACE-SPAN-0
wrong: b3=TRACE-SPAN-1



=== TEST 5: several kinds: the first that came in counts, and all go out
--- config
{ accept = true, trace = { "traceparent", "b3", "b3-single" } }
local b3 = "b3: a3ce929d0e0e4736-00f067aa0ba902b7-0"
send("nothing comes in", "A: b")
send("the last", b3)
send("undecided", b3:sub(1, -3))
send("two", b3 .. "\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
--- response_body
nothing comes in: traceparent=00-TRACE-SPAN-03 b3=TRACE-SPAN-1 x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1
the last: traceparent=00-0000000000000000a3ce929d0e0e4736-SPAN-00 b3=0000000000000000a3ce929d0e0e4736-SPAN-0-00f067aa0ba902b7 x-b3-traceid=0000000000000000a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=0
undecided: traceparent=00-0000000000000000a3ce929d0e0e4736-SPAN-01 b3=0000000000000000a3ce929d0e0e4736-SPAN x-b3-traceid=0000000000000000a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7
two: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-01 b3=4bf92f3577b34da6a3ce929d0e0e4736-SPAN-1-00f067aa0ba902b7 x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=1



=== TEST 6: x-trace-id beside X-B3-TraceId
--- config
{ accept = true, trace = "b3", trace_id_header = "X-Trace-Id" }
send("nothing comes in", "A: b")
send("it comes alone", "X-Trace-Id: 4bf92f3577b34da6a3ce929d0e0e4736")
send("wrong", "X-Trace-Id: 4bf92f3577b34da6a3ce929d0e0e473g")
send("zeros", "X-Trace-Id: " .. ("0"):rep(32))
send("beside b3", "X-Trace-Id: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nX-B3-TraceId: a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7")
--- response_body
nothing comes in: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1 x-trace-id=TRACE
it comes alone: x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-trace-id=4bf92f3577b34da6a3ce929d0e0e4736
wrong: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1 x-trace-id=TRACE
zeros: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1 x-trace-id=TRACE
beside b3: x-b3-traceid=0000000000000000a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-trace-id=0000000000000000a3ce929d0e0e4736



=== TEST 7: a traceparent beside a b3 that counts: tracestate is passed on only with its own trace
--- config
{ accept = true, trace = { "b3", "traceparent" } }
local state = "\r\ntracestate: a=1\r\nX-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Sampled: 1"
send("the same trace", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03" .. state)
send("another", "traceparent: 00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-03" .. state)
--- response_body
the same trace: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-03 tracestate=a=1 x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=1
another: traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-SPAN-01 x-b3-traceid=4bf92f3577b34da6a3ce929d0e0e4736 x-b3-spanid=SPAN x-b3-parentspanid=00f067aa0ba902b7 x-b3-sampled=1



=== TEST 8: a client's b3, which has precedence, does not stay beside the X-B3- headers
--- config
{ trace = "b3" }
local b3 = "b3: 4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-d"
send("many headers", b3)
request.configure { trace = { "b3-single", "b3" } }
send("both", b3)
--- response_body
many headers: x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1
both: b3=TRACE-SPAN-1 x-b3-traceid=TRACE x-b3-spanid=SPAN x-b3-sampled=1



=== TEST 9: wrong settings
--- config
{}
local function try(options) ngx.say(select(2, pcall(request.configure, options))) end
try { trace = true }
try { trace = "b4" }
try { trace = {} }
try { trace = { "b3", "x" } }
try { trace = { "b3", traceparent = true } }
try { trace_id_header = "X-Trace-Id" }
try { trace = "b3", trace_id_header = "X:" }
ngx.say(request.span())
--- response_body
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single" or a list of these, not true
resty.txid.request: trace: "b4" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace: "" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace: "x" is not one of off, traceparent, b3 and b3_single
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single" or a list of these, not this table (it has the key "traceparent")
resty.txid.request: trace_id_header is "X-Trace-Id", but trace is off
resty.txid.request: trace_id_header: "X:" is not the name of a header
nil
