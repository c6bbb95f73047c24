# More of handle(): errors that nginx generates, ids from the upstream, rejection, options, and the log.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

add_block_preprocessor(sub {
    my ($block) = @_;
    my $config = $block->http_config;
    # handle() can write only to a variable that the configuration uses somewhere, as in this log_format.
    my $variable = "map '' \$request_txid { default ''; }\nlog_format ids \$request_txid;\n";
    $config = "init_by_lua_block {\n    agree = require 'support.agree'\n    request = require 'resty.txid.request'\n}\n$config"
        unless $config =~ /init_by_lua/;
    $block->set_value(http_config => "lua_shared_dict agree 1m;\n$variable$config") unless $block->name =~ /without/;
});

run_tests();

__DATA__

=== TEST 1: errors that nginx makes itself
--- http_config
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    location / { content_by_lua_block { ngx.sleep(10) } }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    lingering_timeout 100ms;
    client_max_body_size 10;
    large_client_header_buffers 2 1k;
    rewrite_by_lua_block { request.handle() }
    header_filter_by_lua_block { request.handle() }
    log_by_lua_block { agree.note("log", ngx.var.request_txid) }
    location = /403 { deny all; }
    location = /500 { content_by_lua_block { error("on purpose") } }
    location = /502 { proxy_pass http://127.0.0.1:1; }
    location = /503 { return 503; }
    location = /504 { proxy_read_timeout 100ms; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2; }
    location = /301 { return 301 /; }
}
--- lua
local function send(request)
    ngx.say((agree.report($TEST_NGINX_RAND_PORT_1, request, 2)))
end
for _, path in ipairs { "/403", "/404", "/500", "/502", "/503", "/504", "/301" } do
    send(path)
end
send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world")
send("GET /" .. ("a"):rep(2000) .. " HTTP/1.1\r\nHost: a\r\n\r\n")
send("GET / HTTP/1.1\r\nHost: a\r\nA: " .. ("a"):rep(2000) .. "\r\n\r\n")
send("GET / HTTP/1.1\r\n\r\n")
send("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n")
send("GET / HTTP/9.1\r\nHost: a\r\n\r\n")
send("nonsense\r\n\r\n")
--- response_body
403 1 id: log response
404 1 id: log response
500 1 id: log response
502 1 id: log response
503 1 id: log response
504 1 id: log response
301 1 id: log response
413 1 id: log response
414 1 id: log response
400 1 id: log response
400 1 id: log response
400 1 id: log response
505 1 id: log response
400 1 id: log response
--- no_error_log
[alert]



=== TEST 2: an upstream that sends its own id
--- http_config
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    location / { content_by_lua_block {
        agree.note("upstream", ngx.var.http_x_request_id)
        ngx.header["X-Request-Id"] = "upstreams-own"
    } }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    rewrite_by_lua_block { request.handle() }
    location = /hidden { proxy_hide_header X-Request-Id; proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2; }
    location = /filtered {
        header_filter_by_lua_block { request.handle() }
        proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    }
}
--- lua
ngx.say((agree.report($TEST_NGINX_RAND_PORT_1, "/hidden")))
ngx.say((agree.report($TEST_NGINX_RAND_PORT_1, "/filtered")))
--- response_body
200 1 id: response upstream
200 1 id: response upstream



=== TEST 3: "reject" answers with 400 or the server's page, and has the id once, in the response and in the log
--- http_config
init_by_lua_block {
    agree = require "support.agree"
    request = require "resty.txid.request"
    request.configure { accept = true, on_invalid = "reject" }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    rewrite_by_lua_block { request.handle() }
    header_filter_by_lua_block { request.handle() }
    location / { content_by_lua_block { agree.note("content", request.id()) ngx.say("content") } }
    location /page { error_page 400 /400.html; content_by_lua_block { ngx.say("content") } }
    location = /400.html { content_by_lua_block { ngx.say("our page") } }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    access_log off;
    log_by_lua_block { agree.note("log", ngx.var.request_txid) }
    location / { rewrite_by_lua_block { request.handle() } }
    location = /early {
        access_by_lua_block { agree.note("access", request.id()) }
        try_files /no/such/file @late;
    }
    location @late {
        error_page 400 = /page;
        rewrite_by_lua_block { request.handle() }
        content_by_lua_block { agree.note("content", request.id()) ngx.say("content") }
    }
    location = /page {
        rewrite_by_lua_block { request.handle() }
        content_by_lua_block { agree.note("page", request.id()) ngx.exit(400) }
    }
}
--- lua
local function send(path, id)
    local verdict, response = agree.report($TEST_NGINX_RAND_PORT_1, "GET " .. path
        .. " HTTP/1.0\r\nX-Request-Id: " .. id .. "\r\n\r\n")
    ngx.say(verdict, response:find("our page") and ", our page" or "")
end
send("/", "good")
send("/", "b,ad")
send("/", "")
send("/", "good\r\nX-Request-Id: good")
send("/page", "b,ad")
for _, path in ipairs { "/", "/early" } do
    ngx.say((agree.report($TEST_NGINX_RAND_PORT_2, "GET " .. path .. " HTTP/1.0\r\nX-Request-Id: b,ad\r\n\r\n")))
end
--- response_body
200 1 id: content response
400 1 id: response
400 1 id: response
400 1 id: response
400 1 id: response, our page
400 1 id: log response
400 1 id: access log page response



=== TEST 4: neither upstream nor in the response, under another name, of another format
--- http_config
init_by_lua_block {
    agree = require "support.agree"
    request = require "resty.txid.request"
    request.configure { header = "X-Amzn-Trace", format = function() return "made-" .. ngx.var.uri end, response = false }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / {
        rewrite_by_lua_block { request.handle() }
        content_by_lua_block {
            assert(ngx.req.get_headers(0, true)["X-Amzn-Trace"], "another name")
            ngx.say(ngx.var.http_x_amzn_trace, " ", ngx.var.http_x_request_id, " ", ngx.header["X-Amzn-Trace"],
                " ", ngx.var.request_txid)
        }
    }
    location /response {
        rewrite_by_lua_block {
            request.configure { upstream = false, format = "txid" }
            request.handle()
        }
        content_by_lua_block { ngx.say(ngx.var.http_x_request_id, " ", #ngx.header["X-Request-Id"]) }
    }
}
--- lua
local http = require "support.http"
ngx.print((http.get("/a", $TEST_NGINX_RAND_PORT_1)))
ngx.print((http.get("/response", $TEST_NGINX_RAND_PORT_1)))
--- response_body
made-/a nil nil made-/a
nil 20



=== TEST 5: without $request_txid
--- http_config
init_by_lua_block { request = require "resty.txid.request" }
--- config
location = /t {
    rewrite_by_lua_block { request.handle() request.handle() }
    content_by_lua_block { ngx.say(request.id() == ngx.header["X-Request-Id"]) }
}
--- response_body
true



=== TEST 6: request.log logs the id, and the line of the caller
--- http_config
--- config
location = /t {
    content_by_lua_block {

        request.log(ngx.WARN, "n = ", 1)
        ngx.say(request.id())
    }
    log_by_lua_block { request.log(ngx.WARN, "the end") }
}
--- response_body_like: ^[0-9a-v]{20}$
--- error_log eval
[qr/content_by_lua\(nginx.conf:\d+\):3: \[[0-9a-v]{20}\] n = 1/, qr/log_by_lua\(nginx.conf:\d+\):1: \[[0-9a-v]{20}\] the end/]



=== TEST 7: a timer has its own id, whatever clients send, and no request's headers
--- http_config
init_by_lua_block { request = require "resty.txid.request" request.configure { accept = true } }
--- lua
local wait_until = require "support.wait_until"
local id, again, read, set
assert(ngx.timer.at(0, function()
    id, again = request.id(), request.id()
    request.log(ngx.WARN, "in a timer")
    local headers = require "resty.txid.request.headers"
    read, set = { pcall(headers.all) }, { pcall(headers.change, require("ffi").new("txid_changed_headers", { count = 1 })) }
end))
wait_until(function() return set end)
ngx.say(#id, " ", id == again, " ", id ~= request.id())
ngx.say(read[2], ", ", set[2])
--- response_body_like
^20 true true
resty.txid.request: the request's headers cannot be read here, (?:resty.txid.request: the request's headers cannot be set here|.* needs libtxid.so.*)
--- error_log
] in a timer



=== TEST 8: a lua-nginx-module whose C functions are not known, with headers that come in once, twice, and in another trace
--- http_config
init_by_lua_block {
    ngx.config.ngx_lua_version = 1002003
    request = require "resty.txid.request"
    request.configure { accept = { "10.0.0.0/8", "127.0.0.1" }, header = { "X-Id", "X-Request-Id" } }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    location / { return 200 "[$http_x_id] [$http_x_request_id]\n"; }
}
--- config
location = /t {
    rewrite_by_lua_block { request.handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
[("GET /t") x 5]
--- more_headers eval
["X-Id: one", "X-Id: a\nX-Id: b\nX-Request-Id: two", "X-Id: not valid", "X-Request-Id: three",
 CORE::join("\n", (map {"A-$_: b"} 1 .. 110), "X-Id: late")]
--- response_body_like eval
[qr/^\[one\] \[\]$/, qr/^\[two\] \[two\]$/, qr/^\[[0-9a-v]{20}\] \[\]$/, qr/^\[three\] \[three\]$/, qr/^\[late\] \[\]$/]



=== TEST 9: a subrequest that is the first to ask has the id of its parent, and of what the parent becomes
--- http_config
--- config
location = /sub { content_by_lua_block { ngx.print(request.id()) } }
location = /next { content_by_lua_block { ngx.say(request.id()) } }
location = /first {
    content_by_lua_block {
        local id = ngx.location.capture("/sub").body
        ngx.header["Of-Sub"] = id
        ngx.header["Of-Parent"] = request.id()
        ngx.exec("/next")
    }
}
--- lua
local http = require "support.http"
local seen = {}
for i = 1, 2 do
    local body, head = http.get("/first")
    local sub, parent = head:match("Of%-Sub: (%S+)"), head:match("Of%-Parent: (%S+)")
    seen[i] = parent
    ngx.say(#sub, " ", sub == parent, " ", parent .. "\n" == body)
end
ngx.say(seen[1] ~= seen[2])
--- response_body
20 true true
20 true true
true



=== TEST 10: in header_filter, the request is left as it came, and not rejected
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { accept = true, on_invalid = "reject" }
}
--- config
location = /t {
    header_filter_by_lua_block {
        request.handle()
        ngx.header["Came"] = tostring(ngx.var.http_x_request_id)
    }
    content_by_lua_block { ngx.say("done") }
}
--- more_headers
X-Request-Id: b,ad
--- response_headers
Came: b,ad



=== TEST 12: the versions of lua-nginx-module whose C functions are known, and one notice for each other one
--- http_config
--- lua
for _, version in ipairs { 10019, 10020, 10032, 10033 } do
    ngx.config.ngx_lua_version = version
    package.loaded["resty.txid.request.headers"] = nil
    ngx.say(version, " ", require("resty.txid.request.headers").is_known)
end
local log = assert(io.open(ngx.config.prefix() .. "logs/error.log")):read("*a")
for version in log:gmatch("%[notice%][^\n]* this release knows lua%-nginx%-module 0%.10%.20 to 0%.10%.32, and this is (%S+); with ngx%.req ") do
    ngx.say(version)
end
--- response_body
10019 false
10020 true
10032 true
10033 false
0.10.19
0.10.33



=== TEST 13: a request that begins in another way is refused, with the library and without
--- http_config
--- lua
local base, ffi = require "resty.core.base", require "ffi"
local get_request, unlike = base.get_request, ffi.new("struct { uint32_t signature; void *connection; }")
base.get_request = function() return unlike end
package.loaded["resty.txid.request.store"], package.loaded["resty.txid.request.kept"] = nil, nil
local store = require "resty.txid.request.store"
local kept = require("resty.txid.lib").engine == "native" and require "resty.txid.request.kept" or store
base.get_request = get_request
ngx.say(select(2, pcall(store.start)))
ngx.say(select(2, pcall(kept.start)))
--- response_body_like chop
store\.lua:\d+: resty\.txid\.request: this nginx lays out its requests in an unknown way
\S*(kept\.lua:\d+: resty\.txid\.request: no memory, or|store\.lua:\d+: resty\.txid\.request:) this nginx lays out its requests in an unknown way
$



=== TEST 14: a table that was the ngx.ctx of a finished request, and is that of another one now, on another connection
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    free = {}
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    rewrite_by_lua_block { require("resty.core.ctx").get_ctx_table(table.remove(free)) }
    location / { content_by_lua_block { ngx.say(request.id()) } }
    location /parent { content_by_lua_block { ngx.say(ngx.location.capture("/").body) } }
    location /slow { content_by_lua_block { slow = request.id() repeat ngx.sleep(0.01) until free.is_over ngx.say(slow) } }
    log_by_lua_block {
        free[#free + 1] = ngx.ctx
        require "table.clear"(ngx.ctx)
    }
}
--- lua
local http, wait_until = require "support.http", require "support.wait_until"
local one, other = http.connect($TEST_NGINX_RAND_PORT_1), http.connect($TEST_NGINX_RAND_PORT_1)
local id = "\n(" .. ("[0-9a-v]"):rep(20) .. ")\n"
http.ask(one, "/", id)
wait_until(function() return #free == 1 end)
ngx.thread.spawn(http.ask, other, "/slow", id)
wait_until(function() return slow end)
ngx.say(#free, " ", http.ask(one, "/parent", id) ~= slow)
free.is_over = true
--- response_body
0 true



=== TEST 15: a table of a finished request, which a timer uses as its ngx.ctx
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    adopted = 0
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / { content_by_lua_block { ngx.sleep(0.01) ngx.say(request.id()) } }
    location /redirected { content_by_lua_block { ngx.exec("/") } }
    log_by_lua_block {
        ngx.timer.at(0, function(_, ctx)
            ngx.ctx = ctx
            adopted = adopted + 1
            ngx.sleep(1)
        end, ngx.ctx)
    }
}
--- lua
local http = require "support.http"
local socket = http.connect($TEST_NGINX_RAND_PORT_1)
local ids, count = {}, 0
for i, path in ipairs { "/", "/", "/redirected", "/redirected" } do
    local id = http.ask(socket, path, "\n(" .. ("[0-9a-v]"):rep(20) .. ")\n")
    count = count + (ids[id] and 0 or 1)
    ids[id] = true
    require "support.wait_until"(function() return adopted == i end)
end
ngx.say(count)
--- response_body
4
