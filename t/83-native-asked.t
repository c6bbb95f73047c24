# Lines of the error log with any variable, ids in one of several headers, and times of formats.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua::Stream 'no_plan';
use State;
use Suite;

run_tests();

__DATA__

=== TEST 1: the lines of the error log have nginx's own id, which is the access log's
--- http_config
txid_error_log $request_id;
log_format ids "$request_id";
--- config
access_log logs/ids.log ids;
location = /t { root /nowhere; }
location = /see {
    access_log off;
    content_by_lua_block {
        local id = assert(io.open(ngx.config.prefix() .. "logs/ids.log")):read("*l")
        local log = assert(io.open(ngx.config.prefix() .. "logs/error.log")):read("*a")
        ngx.say(#id, " ", log:find("client: 127.0.0.1, request_id: " .. id .. ", server: localhost", 1, true) ~= nil)
    }
}
--- request eval
["GET /t", "GET /see"]
--- error_code eval
[404, 200]
--- response_body_like eval
[qr/404/, qr/^32 true$/]
--- no_error_log
[alert]



=== TEST 2: redirects and subrequests have the same
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
[qr/before.*, http_x_key: mine,/, qr/in between.*, http_x_key: mine,/, qr/after.*, http_x_key: mine,/]



=== TEST 3: what cannot be had is a dash, and later what it has become
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



=== TEST 4: who reads it later has what it has become
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



=== TEST 5: what could end a line or a quotation is escaped, and a long value is cut off
--- http_config
txid_error_log $decoded;
map $uri $decoded { "~(?s)^/t/(?<rest>.*)$" $rest; }
--- config
location /t { content_by_lua_block { ngx.log(ngx.WARN, "look") ngx.say("done") } }
--- request eval
'GET /t/a%0A%22%5Cb%C3%A9' . 'x' x 400
--- response_body
done
--- error_log eval
qr/client: 127.0.0.1, decoded: a\\x0A\\x22\\x5Cb\\xC3\\xA9x{220,235}, server/
--- no_error_log
[alert]



=== TEST 6: a rejected request's line has it
--- http_config
txid_accept all;
txid_error_log $request_id;
--- config
txid_on_invalid reject;
location = /t { return 200; }
--- more_headers
X-Request-Id: not fine
--- error_code: 400
--- response_body_like: 400
--- error_log eval
qr/client sent an invalid "x-request-id" header, client: 127.0.0.1, request_id: [0-9a-f]{32},/



=== TEST 7: it is read after realip has replaced the address
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



=== TEST 8: a server says off, or its own
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



=== TEST 9: the first header with a valid id counts, and its value is what the first name gets
--- http_config
txid_accept all;
txid_header CF-Ray X-Correlation-Id X-Request-Id;
--- config
location = /t { return 200 "$request_txid\n"; }
--- request eval
[("GET /t") x 8]
--- more_headers eval
["CF-Ray: ray\nX-Request-Id: id", "X-Request-Id: id\nX-Correlation-Id: correlation", "X-Request-Id: id",
 "CF-Ray: not valid\nX-Request-Id: id", "CF-Ray: a\nCF-Ray: b\nx-correlation-id: correlation", "X-Request-Id: \tid\t",
 "CF-Ray: not valid\nX-Correlation-Id: a b", "X-Other: id"]
--- response_body_like eval
[qr/^ray$/, qr/^correlation$/, qr/^id$/, qr/^id$/, qr/^correlation$/, qr/^id$/, qr/^[0-9a-v]{20}$/, qr/^[0-9a-v]{20}$/]



=== TEST 10: a request is rejected if ids came, and none is valid
--- http_config
txid_accept all;
txid_header CF-Ray X-Request-Id;
--- config
txid_on_invalid reject;
location = /t { return 200 "$request_txid\n"; }
--- request eval
[("GET /t") x 4]
--- more_headers eval
["CF-Ray: not valid\nX-Request-Id: id", "CF-Ray: not valid", "X-Request-Id: not valid", "A: b"]
--- error_code eval
[200, 400, 400, 200]



=== TEST 11: of those who are not accepted, none counts
--- http_config
txid_accept 10.0.0.0/8;
txid_header CF-Ray X-Request-Id;
--- config
location = /t { return 200 "$request_txid\n"; }
--- more_headers
X-Request-Id: id
--- response_body_like: ^[0-9a-v]{20}$



=== TEST 12: times of the formats that this server makes, and of others
--- http_config
txid_variable $other snowflake node=3 state=DIR/asked layout=discord;
txid_time $arg_id $time;
txid_time $arg_id $xid format=xid;
txid_time $arg_id $iso iso8601 format=trace_id(epoch=2020-01-01);
txid_time $arg_id $number format=snowflake(layout=instagram);
--- config
location = /t { return 200 "[$time] [$xid] [$iso] [$number]\n"; }
--- request eval
[map {"GET /t?id=$_"} 'b2fr5nvmbtcu7vl9phl0', '9m4e2mr0ui3e8a215n4g', '00000000800000000000000000000001', '175928847299117063', '']
--- response_body_like eval
[qr/^\[1522545688537\] \[1486861023000\] \[\] \[\]$/,
qr/^\[\d*\] \[1300816219000\] \[\] \[\]$/,
qr/^\[\] \[\] \[2020-01-01T00:00:00.256Z\] \[\]$/,
qr/^\[1462015105796\] \[\] \[\] \[\d{13}\]$/,
qr/^\[\] \[\] \[\] \[\]$/]



=== TEST 13: and of the one that its own ids have
--- http_config
txid_time $arg_id $time;
--- config
txid_format trace_id(epoch=2020-01-01);
location = /t { return 200 "[$time]\n"; }
--- request
GET /t?id=00000000800000000000000000000001
--- response_body
[1577836800256]



=== TEST 14: and in stream
--- stream_config
map $remote_addr $old { default b2fr5nvmbtcu7vl9phl0; }
map $remote_addr $number { default 175928847299117063; }
txid_variable $other snowflake node=4 state=DIR/asked-in-stream layout=discord;
txid_time $old $ms;
txid_time $old $iso iso8601 format=xid;
txid_time $number $of_number;
--- stream_server_config
return "$ms $iso $of_number\n";
--- stream_response
1522545688537 2017-02-12T00:57:03.000Z 1462015105796
