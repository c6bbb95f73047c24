# Cases in which ngx.ctx or the connection does not belong to one request: TLS handshakes, from whose ngx.ctx requests inherit;
# phases without a request; and several threads that request the id at the same time.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: a handshake's id is not that of any request, on its connection or on others
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent" }
    seen = {}
    function note(id)
        assert(request.span())
        seen[#seen + 1] = id
    end
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2 ssl;
    access_log off;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    ssl_client_hello_by_lua_block { note(request.id()) }
    ssl_certificate_by_lua_block { note(request.id()) }
    location / { content_by_lua_block { ngx.say(request.id(), " ", request.span().span_id) } }
}
--- lua
local http = require "support.http"
local spans = {}
local function ask(socket)
    local id, span = http.ask(socket, "/", "\n(%w+) (%x+)\n")
    seen[#seen + 1] = id
    spans[span] = true
end

local tls = http.connect($TEST_NGINX_RAND_PORT_2)
assert(tls:sslhandshake(false, "localhost", false))
ngx.say("one id a handshake: ", #seen == 2 and seen[1] == seen[2])

local plain = {}
for i = 1, 3 do
    plain[i] = http.connect($TEST_NGINX_RAND_PORT_1)
    ask(plain[i])
    ask(plain[i])
end
ask(tls)
ask(tls)

local ids, count, span_count = {}, 0, 0
for i = 1, #seen do
    count = count + (ids[seen[i]] and 0 or 1)
    ids[seen[i]] = true
end
for _ in pairs(spans) do
    span_count = span_count + 1
end
ngx.say("ids: ", count, ", spans of requests: ", span_count)
--- response_body
one id a handshake: true
ids: 9, spans of requests: 8



=== TEST 2: in phases without a request, whatever clients send
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { accept = { "127.0.0.1" }, trace = "traceparent" }
    lengths = {}
    function note(phase)
        lengths[phase] = #request.id() .. " " .. #request.span().span_id
        assert((rawget(ngx.ctx, "txid_connection") or 0) == 0, "kept for a connection")
    end
}
init_worker_by_lua_block { note("init_worker") }
ssl_session_fetch_by_lua_block { note("ssl_session_fetch") }
ssl_session_store_by_lua_block { note("ssl_session_store") }
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1 ssl;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    ssl_client_hello_by_lua_block { note("ssl_client_hello") }
}
# The phases of one handshake have one ngx.ctx, so that here each is the first one that asks.
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2 ssl;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    ssl_certificate_by_lua_block { note("ssl_cert") }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_3 ssl;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    # With a ticket, the server looks for no session.
    ssl_protocols TLSv1.2;
    ssl_session_tickets off;
}
--- lua
local function handshake(port, session)
    local socket = ngx.socket.tcp()
    assert(socket:connect("127.0.0.1", port))
    return assert(socket:sslhandshake(session, "localhost", false))
end

handshake($TEST_NGINX_RAND_PORT_1)
handshake($TEST_NGINX_RAND_PORT_2)
handshake($TEST_NGINX_RAND_PORT_3, handshake($TEST_NGINX_RAND_PORT_3))
for _, phase in ipairs { "init_worker", "ssl_client_hello", "ssl_cert", "ssl_session_fetch", "ssl_session_store" } do
    ngx.say(phase, ": ", lengths[phase])
end
--- response_body
init_worker: 20 16
ssl_client_hello: 20 16
ssl_cert: 20 16
ssl_session_fetch: 20 16
ssl_session_store: 20 16



=== TEST 3: in init_by_lua, where there is not even a fake request
--- http_config
init_by_lua_block {
    local request = require "resty.txid.request"
    id_ok, id_err = pcall(request.id)
}
--- config
location = /t {
    content_by_lua_block { ngx.say(id_ok, " ", id_err) }
}
--- response_body_like
^false .*no request found



=== TEST 4: settings whose functions wait, while other threads and subrequests ask for the id
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure {
        accept = function() ngx.sleep(0.01) return true end,
        valid = function() ngx.sleep(0.01) return false end,
        format = function() ngx.sleep(0.01) return require "resty.txid"() end,
        trace = "traceparent",
    }
    function id_and_span() return request.id() .. " " .. request.span().span_id end
}
--- config
location = /sub { content_by_lua_block { ngx.print(id_and_span()) } }
location = /threads {
    content_by_lua_block {
        local one, other = ngx.thread.spawn(id_and_span), ngx.thread.spawn(id_and_span)
        local _, first = ngx.thread.wait(one)
        local _, second = ngx.thread.wait(other)
        ngx.say(first == second and first == id_and_span())
    }
}
--- lua
local first, second = ngx.location.capture_multi { { "/sub" }, { "/sub" } }
ngx.say(first.body == second.body and first.body == id_and_span())
ngx.print((require("support.http").get("/threads")))
--- more_headers
X-Request-Id: b,ad
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
--- response_body
true
true



=== TEST 5: while a function of the settings waits, other requests do not change what this one has sent
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    local function wait()
        waiting = waiting + 1
        -- In pairs.
        local both = waiting + waiting % 2
        require "support.wait_until"(function() return waiting >= both end)
    end
    waiting = 0
    function in_accept(address) wait() return address == "127.0.0.1" end
    function in_valid(id) wait() return id ~= "no" end
    function in_format() wait() return require "resty.txid"() end
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / { content_by_lua_block { ngx.print(request.id(), " ", request.span().trace_id) } }
}
--- config
location = /send {
    proxy_bind $arg_from;
    proxy_set_header X-Request-Id $arg_id;
    proxy_set_header X-Other-Id $arg_other;
    proxy_set_header traceparent "00-$arg_trace$arg_trace-$arg_trace-01";
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1/;
}
--- lua
-- Two requests at once; what came back of what they sent.
local function send(...)
    waiting = 0
    local all = {}
    for i, sent in ipairs { ... } do
        all[i] = { ("/send?from=%s&id=%s&trace=%s&other=%s"):format(sent.from, sent.id, sent.trace, sent.other or "") }
    end
    local kept = {}
    for i, response in ipairs { ngx.location.capture_multi(all) } do
        local id, trace = response.body:match("^(%S+) (%x+)$")
        local sent = select(i, ...)
        kept[i] = (id == (sent.other or sent.id) and id or "new") .. " " .. (trace == sent.trace:rep(2) and "continued" or "new")
    end
    ngx.say(table.concat(kept, ", "))
end
local one = { from = "127.0.0.1", id = "one", trace = ("a"):rep(16) }
local two = { from = "127.0.0.1", id = "two", trace = ("b"):rep(16) }
local other = { from = "127.0.0.2", id = "other", trace = ("c"):rep(16) }

request.configure { accept = in_accept, trace = "traceparent" }
send(one, two)
one.id, two.id, one.other, two.other = "no", "no", "1", "2"
request.configure { accept = { "127.0.0.1" }, header = { "X-Request-Id", "X-Other-Id" }, valid = in_valid, trace = "traceparent" }
send(one, two)
one.id, other.id, two.id, one.other, two.other = "", "", "", nil, nil
request.configure { accept = { "127.0.0.1" }, format = in_format, trace = "traceparent" }
send(one, two)
send(one, other)
send(other, one)
--- response_body
one continued, two continued
1 continued, 2 continued
new continued, new continued
new continued, new new
new new, new continued



=== TEST 6: the log phase comes after nginx has cleaned up: it has the id and the span of its own request, and of no earlier one
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent" }
    function id_and_span() return request.id() .. " " .. request.span().span_id end
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location /asks { content_by_lua_block { early = id_and_span() ngx.say(#early) } }
    location /sends { content_by_lua_block { request.handle() early = id_and_span() ngx.say(#early) } }
    location /redirects { content_by_lua_block { early = id_and_span() ngx.exec("/no") } }
    location /ends { content_by_lua_block { early = id_and_span() ngx.exit(444) } }
    location /no { content_by_lua_block { ngx.say("no") } }
    log_by_lua_block {
        late = id_and_span()
        is_still = id_and_span() == late
    }
}
--- lua
local http = require "support.http"
local socket
local seen, count = {}, 0
for _, path in ipairs { "/asks", "/no", "/no", "/sends", "/no", "/redirects", "/no", "/ends", "/no" } do
    early, late, is_still = nil, nil, nil
    socket = socket or http.connect($TEST_NGINX_RAND_PORT_1)
    if not http.ask(socket, path, "") then
        socket = nil
    end
    require "support.wait_until"(function() return late end)
    count = count + (seen[late] and 0 or 1)
    seen[late] = true
    ngx.say(path, " ", early and early == late and "the same" or early and "another" or "new", " ", is_still)
end
ngx.say(count, " ids")
--- response_body
/asks the same true
/no new true
/no new true
/sends the same true
/no new true
/redirects the same true
/no new true
/ends the same true
/no new true
9 ids



=== TEST 7: ids of any length, of many requests at once
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    length, made = 0, 0
    request.configure { format = function()
        made = made + 1
        return ("x"):rep(length) .. made
    end }
}
--- config
location = /one {
    content_by_lua_block {
        local id = request.id()
        ngx.sleep(0.01)
        ngx.say(id == request.id() and id)
    }
}
--- lua
local function ask()
    return (require("support.http").get("/one"))
end
local seen, count, longest = {}, 0, 0
for _, each in ipairs { 0, 34, 35, 36, 37, 1000 } do
    length = each
    local threads = {}
    for i = 1, 20 do
        threads[i] = ngx.thread.spawn(ask)
    end
    for i = 1, 20 do
        local _, id = ngx.thread.wait(threads[i])
        count = count + (seen[id] and 0 or 1)
        seen[id] = true
        longest = math.max(longest, #id)
    end
end
ngx.say(count, " ids, up to ", longest > 1000 and "over 1000" or longest)
--- response_body
120 ids, up to over 1000



=== TEST 8: a timer whose ngx.ctx inherits from that of a request has an id and a span of its own
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent", format = function() ngx.sleep(0.01) return require "resty.txid"() end }
}
--- lua
local id, span, is_same
assert(ngx.timer.at(0, function()
    ngx.ctx = setmetatable({}, { __index = { txid_id = "inherited", txid_span = "inherited" } })
    local one, other = ngx.thread.spawn(request.id), ngx.thread.spawn(request.id)
    id, span = select(2, ngx.thread.wait(one)), request.span().span_id
    is_same = id == select(2, ngx.thread.wait(other)) and id == request.id() and span == request.span().span_id
end))
require "support.wait_until"(function() return is_same ~= nil end)
ngx.say(#id, " ", #span, " ", is_same)
--- response_body
20 16 true



=== TEST 9: while the upstream's certificate is looked at, the id and the span are those of the client's request
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent" }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1 ssl;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    location / { return 204; }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    location / {
        proxy_ssl_verify on;
        proxy_ssl_name localhost;
        proxy_ssl_trusted_certificate $TEST_NGINX_CERTIFICATE;
        lua_upstream_skip_openssl_default_verify on;
        proxy_ssl_verify_by_lua_block { seen = ngx.get_phase() .. " " .. request.id() .. request.span().span_id }
        header_filter_by_lua_block { ngx.header["Seen"] = tostring(seen == "proxy_ssl_verify " .. request.id() .. request.span().span_id) }
        proxy_pass https://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    }
}
--- config
location = /t { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2; }
--- error_code: 204
--- response_headers
Seen: true



=== TEST 10: the log phase has the span of handle(policy), and of no other request
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    policy = request.policy { trace = "traceparent" }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location /handled { content_by_lua_block { request.handle(policy) early = request.span().span_id ngx.say("yes") } }
    location /no { content_by_lua_block { ngx.say("no") } }
    log_by_lua_block {
        local line = request.span_line {}
        late = line and line:match('"spanId":"(%x+)"') or "none"
    }
}
--- lua
for _, path in ipairs { "/handled", "/no", "/handled" } do
    early, late = nil, nil
    local socket = require("support.http").connect($TEST_NGINX_RAND_PORT_1)
    require("support.http").ask(socket, path, "")
    require "support.wait_until"(function() return late end)
    ngx.say(path, " ", late == early or late)
end
--- response_body
/handled true
/no none
/handled true
