# What txid_error_log adds to the lines of the error log.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the id on the lines of the error log
--- http_config
txid_accept all;
txid_error_log on;
--- config
location = /t { root /nowhere; }
--- more_headers
X-Request-Id: mine-123
--- error_code: 404
--- response_body_like: 404
--- error_log
failed (2: No such file or directory), client: 127.0.0.1, txid: mine-123, server: localhost, request: "GET /t HTTP/1.1"
--- no_error_log
[alert]



=== TEST 2: a long request does not push the id off the line
--- http_config
txid_accept all;
txid_error_log on;
--- config
location = /t { root /nowhere; }
--- request eval
"GET /t?" . 'a' x 4000
--- more_headers
X-Request-Id: mine-123
--- error_code: 404
--- response_body_like: 404
--- error_log
client: 127.0.0.1, txid: mine-123, server: localhost
--- no_error_log
[alert]



=== TEST 3: by default, no line of the error log has one
--- http_config
txid_accept all;
--- config
location = /t { content_by_lua_block { ngx.log(ngx.WARN, "look") ngx.say("done") } }
--- more_headers
X-Request-Id: mine-123
--- response_body
done
--- error_log
look
--- no_error_log
txid: mine



=== TEST 4: redirects and subrequests have the same
--- http_config
txid_error_log $http_x_key;
--- config
location = /t { content_by_lua_block { ngx.log(ngx.WARN, "before") ngx.location.capture("/sub") ngx.exec("/second") } }
location = /sub { content_by_lua_block { ngx.log(ngx.WARN, "in between") } }
location = /second { content_by_lua_block { ngx.log(ngx.WARN, "after") ngx.say("done") } }
--- more_headers
X-Key: mine
--- response_body
done
--- error_log eval
[qr/before.*, http_x_key: mine,/, qr/in between.*, http_x_key: mine,.*, subrequest: "\/sub", /, qr/after.*, http_x_key: mine,/]



=== TEST 5: what cannot be had is a dash, and later what it has become
--- http_config
txid_error_log $upstream_status;
log_format status "$upstream_status";
--- config
access_log logs/status.log status;
location = /t {
    access_by_lua_block { ngx.log(ngx.WARN, "early") }
    proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/inner;
    log_by_lua_block { local _ = ngx.var.upstream_status ngx.log(ngx.WARN, "late") }
}
location = /inner { access_log off; return 201; }
--- error_code: 201
--- error_log eval
[qr/early.*, upstream_status: -,/, qr/late.*, upstream_status: 201,/]



=== TEST 6: who reads it later has what it has become
--- http_config
txid_error_log $request_body;
--- config
location = /t {
    add_header Body $request_body;
    proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/inner;
}
location = /inner { return 204; }
--- request
POST /t
hello
--- error_code: 204
--- response_headers
Body: hello



=== TEST 7: what could end a line or a quotation is escaped, and a long value is cut off
--- http_config
txid_error_log $decoded;
map $uri $decoded { "~(?s)^/t/(?<rest>.*)$" $rest; }
--- config
location /t { content_by_lua_block { ngx.log(ngx.WARN, "look") ngx.say("done") } }
--- request eval
'GET /t/a%0A%22%5Cb%C3%A9%1F%20%7E%7F' . 'x' x 400
--- response_body
done
--- error_log eval
qr/client: 127.0.0.1, decoded: a\\x0A\\x22\\x5Cb\\xC3\\xA9\\x1F ~\\x7Fx{210,225}, server/
--- no_error_log
[alert]



=== TEST 8: a rejected request has one line, with it and the peer of the connection
--- http_config
txid_accept all;
txid_error_log $request_id;
set_real_ip_from 127.0.0.1;
--- config
txid_on_invalid reject;
--- lua
local http = require "support.http"
ngx.say((http.send("GET / HTTP/1.0\r\nX-Request-Id: not fine\r\nX-Real-IP: 192.0.2.7\r\n\r\n"):match("^HTTP/1.1 (%d+)")))
local log = assert(io.open(ngx.config.prefix() .. "logs/error.log")):read("*a")
for level, line in log:gmatch("%[(%a+)%][^\n]* client sent (.-), server") do
    ngx.say(level, ": ", (line:gsub("%x+$", string.len)))
end
--- response_body
400
info: an invalid "X-Request-Id" header, client: 127.0.0.1, request_id: 32



=== TEST 9: it is read after realip has replaced the address
--- http_config
txid_error_log $remote_addr;
set_real_ip_from 127.0.0.1;
--- config
location = /t { content_by_lua_block { ngx.log(ngx.WARN, "look") ngx.say(ngx.var.remote_addr) } }
--- more_headers
X-Real-IP: 192.0.2.7
--- response_body
192.0.2.7
--- error_log
, remote_addr: 192.0.2.7,



=== TEST 10: a server says off, or its own
--- http_config
txid_error_log $request_id;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    txid_error_log off;
    location / { content_by_lua_block { ngx.log(ngx.WARN, "without") } }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    txid_error_log on;
    location / { content_by_lua_block { ngx.log(ngx.WARN, "own") } }
}
--- lua
local http = require "support.http"
http.send("GET / HTTP/1.0\r\n\r\n", $TEST_NGINX_RAND_PORT_1)
http.send("GET / HTTP/1.0\r\n\r\n", $TEST_NGINX_RAND_PORT_2)
ngx.say("done")
--- response_body
done
--- error_log eval
[qr/without, client: 127.0.0.1, server/, qr/own, client: 127.0.0.1, txid: [0-9a-v]{20}, server/]



=== TEST 11: an escape for which there is no room is left out, at each length; an empty value is a dash
--- http_config
txid_error_log $decoded;
map $uri $decoded { "~(?s)^/t/(?<rest>.*)$" $rest; }
--- config
location /t/ { content_by_lua_block { ngx.log(ngx.WARN, "look") } }
--- lua
local http = require "support.http"
local log = assert(io.open(ngx.config.prefix() .. "logs/error.log"))
for length = 240, 262 do
    assert(http.get("/t/" .. ("x"):rep(length) .. "%0A%22"))
    local shown = log:read("*a"):match("look[^\n]*, decoded: (%S*), server")
    ngx.say(length, " ", (shown:gsub("^x+", string.len)))
end
assert(http.get("/t/" .. ("%0A"):rep(100)))
ngx.say((select(2, log:read("*a"):match("look[^\n]*, decoded: (%S*), server"):gsub("\\x0A", ""))))
assert(http.get("/t/"))
ngx.say((log:read("*a"):match("look[^\n]*, decoded: (%S*), server")))
--- response_body eval
CORE::join '', map("$_ " . ($_ < 252 ? "$_\\x0A" : 252) . ($_ < 248 ? '\x22' : '') . "\n", 240 .. 262), "63\n-\n"
