# Trace context: an accepted trace is continued, and the configured headers are sent upstream.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

add_block_preprocessor(sub {
    my ($block) = @_;
    return if defined $block->http_config;
    $block->set_value(http_config => 'init_by_lua_block { require("resty.txid.request") }');
});

run_tests();

__DATA__

=== TEST 2: wrong settings
--- lua
local request = require "resty.txid.request"
local function try(options) ngx.say(select(2, pcall(request.configure, options))) end
try { trace = true }
try { trace = "b4" }
try { trace = {} }
try { trace = { "b3", "x" } }
try { trace = { "b3", traceparent = true } }
try { trace_id_header = "X-Trace-Id" }
try { trace = "b3", trace_id_header = "X:" }
try { trace = "b3", trace_ids = "sort" }
try { trace = "b3", trace_ids = { "sorted", "epoch=x" } }
try { format = "same_as_trace" }
try { trace = "b3", trace_random_flag = "02" }
try { trace = "b3", trace_random_flag = 1 }
try { trace = "b3", trace_id_header = "x-request-id" }
try { trace = "b3", trace_id_header = "X-B3-TraceId" }
try { trace = "b3", trace_span = "none" }
try { trace_span = "pass" }
try { trace = "b3", trace_span = "pass", server_timing = true }
try { trace = "b3", trace_span = "pass", sample = "$uri" }
for _, given in ipairs { { attribute = {} }, { service = 5 }, { attributes = { 5 } } } do
    request.configure { trace = "b3" }
    ngx.say(select(2, pcall(request.span_line, given)))
end
--- response_body
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger" or a list of these, not true
resty.txid.request: trace: "b4" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger
resty.txid.request: trace: "" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger
resty.txid.request: trace: "x" is not one of off, traceparent, b3, b3_single, aws, gcp, datadog and jaeger
resty.txid.request: trace must be "off", "traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger" or a list of these, not this table (it has the key "traceparent")
resty.txid.request: trace_id_header is "X-Trace-Id", but trace is off
resty.txid.request: trace_id_header: "X:" is not the name of a header
resty.txid.request: trace_ids: "sort" is not random, sorted_seconds, or sorted, with the day epoch=2020-01-01 if time counts from it
resty.txid.request: trace_ids: "epoch=x" is not random, sorted_seconds, or sorted, with the day epoch=2020-01-01 if time counts from it
resty.txid.request: format is "same_as_trace", but trace is off
resty.txid.request: trace_random_flag must be true or false, not "02"
resty.txid.request: trace_random_flag must be true or false, not 1
resty.txid.request: trace_id_header is "x-request-id", and so is header; name another one
resty.txid.request: trace_id_header: "X-B3-TraceId" has a meaning of its own; name another header, such as X-Request-Id
resty.txid.request: trace_span: "none" is neither new nor pass
resty.txid.request: trace_span has no effect, because trace is off: leave it out, or set trace
resty.txid.request: server_timing is true, but trace_span is pass
resty.txid.request: sample has no effect, because trace_span is pass: leave one of them out
resty.txid.request: span_line: there is no option attribute; there are attributes, name, service
resty.txid.request: span_line: service must be a string, not number
resty.txid.request: span_line: the name of an attribute must be a string, not number



=== TEST 3: the fields of a span, whatever the client decided
--- lua
local request = require "resty.txid.request"
local trace_id, span_id = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
local lines = {}
local function span_of(name, value)
    require "support.anew"()
    request.configure { accept = true, trace = { "traceparent", "b3_single" } }
    ngx.req.clear_header("traceparent")
    ngx.req.clear_header("b3")
    ngx.req.set_header(name, value)
    local span = request.span()
    lines[#lines + 1] = ("%s: sampled %s, debug %s, random %s, continued %s, parent %s, %s"):format(
        value:gsub("%x%x%x%x%x+", "ID"), tostring(span.sampled), tostring(span.debug), tostring(span.random),
        tostring(span.continued), tostring(span.parent_span_id == span_id), (span.b3:gsub("%x%x%x%x%x+", "ID")))
end
for _, flags in ipairs { "00", "01", "02", "03" } do
    span_of("traceparent", "00-" .. trace_id .. "-" .. span_id .. "-" .. flags)
end
for _, decision in ipairs { "", "-0", "-1", "-d" } do
    span_of("b3", trace_id .. "-" .. span_id .. decision)
end
ngx.say(table.concat(lines, "\n"))
--- response_body
00-ID-ID-00: sampled false, debug nil, random false, continued true, parent true, ID-ID-0-ID
00-ID-ID-01: sampled true, debug nil, random false, continued true, parent true, ID-ID-1-ID
00-ID-ID-02: sampled false, debug nil, random true, continued true, parent true, ID-ID-0-ID
00-ID-ID-03: sampled true, debug nil, random true, continued true, parent true, ID-ID-1-ID
ID-ID: sampled nil, debug nil, random false, continued false, parent true, ID-ID
ID-ID-0: sampled false, debug nil, random false, continued false, parent true, ID-ID-0-ID
ID-ID-1: sampled true, debug nil, random false, continued false, parent true, ID-ID-1-ID
ID-ID-d: sampled true, debug true, random false, continued false, parent true, ID-ID-d-ID



=== TEST 4: a span is the same after a redirect, before the first of which it or the id was asked for
--- config
location = /id { content_by_lua_block {
request = require "resty.txid.request"
request.configure { trace = "traceparent" }
request.id()
ngx.exec("/span")
} }
location = /span { content_by_lua_block {
request = require "resty.txid.request"
request.configure { trace = "traceparent" }
ngx.req.set_header("X-Before", request.span().span_id)
ngx.exec("/again")
} }
location = /again { content_by_lua_block { ngx.say(request.span().span_id == ngx.var.http_x_before) } }
--- lua
local http = require "support.http"
ngx.print((http.get("/id")), (http.get("/span")))
--- response_body
true
true



=== TEST 5: each kind of trace that the error names is one
--- lua
local request = require "resty.txid.request"
local _, err = pcall(request.configure, { trace = true })
local count = 0
for kind in err:gmatch('"([%l%d_]+)"') do
    request.configure { trace = kind }
    count = count + 1
end
ngx.say(count)
--- response_body
8



=== TEST 6: browsers are told the trace, beside what the upstream says, and once
--- http_config
init_by_lua_block { require("resty.txid.request").configure { trace = "traceparent", server_timing = true } }
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    location / { add_header Server-Timing "db;dur=5"; return 200; }
}
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    header_filter_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
location = /late {
    header_filter_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1/t;
}
location = /see {
    content_by_lua_block {
        local http = require "support.http"
        for _, path in ipairs { "/t", "/late" } do
            local response = http.send("GET " .. path .. " HTTP/1.0\r\n\r\n", ngx.var.server_port)
            local values = {}
            for value in response:gmatch("Server%-Timing: ([^\r]*)") do
                values[#values + 1] = value:gsub('00%-%x+%-%x+%-03', "SPAN")
            end
            table.sort(values)
            ngx.say(table.concat(values, ", "))
        end
    }
}
--- request
GET /see
--- response_body
db;dur=5, traceparent;desc="SPAN", trace;desc=SPAN
db;dur=5, traceparent;desc="SPAN", trace;desc=SPAN



=== TEST 7: the line of a new span, which no subrequest has
--- config
location = /sub { content_by_lua_block { ngx.print(tostring(require("resty.txid.request").span_line {})) } }
--- lua
local request = require "resty.txid.request"
request.configure { trace = "traceparent" }
local line = request.span_line { attributes = { a = true } }
local trace_id, span_id = line:match('"traceId":"(%x+)","spanId":"(%x+)","flags":259,')
local span = request.span()
ngx.say(#trace_id, " ", trace_id == span.trace_id, " ", #span_id, " ", span_id == span.span_id)
ngx.say((trace_id .. span_id):find("[1-9a-f]") ~= nil, " ", line:find('{"key":"a","value":{"stringValue":"true"}}', 1, true) ~= nil)
ngx.say(ngx.location.capture("/sub").body)
request.configure { trace = "traceparent", sample = "0" }
require "support.anew"()
ngx.say(request.span_line {})
--- response_body
32 true 16 true
true true
nil
nil
