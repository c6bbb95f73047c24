# Which ids of clients the nginx module accepts, where decisions.t does not tell.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: with underscores_in_headers on, a name with underscores is still another header, and so is one with the same hash
--- http_config
underscores_in_headers on;
txid_accept all;
--- config
location = /t {
    return 200 "$http_x_request_id $request_txid\n";
}
--- more_headers
X_Request_Id: theirs-1
X-Request-Id: mine-1
X-Requesrkid: theirs-2
x_request-id: theirs-3
--- response_body_like: mine-1$



=== TEST 2: a variable says whose; nobody's but 1 is
--- http_config
map $http_who $is_ours { one 1; address $from; default $http_who; }
map $remote_addr $from { 192.0.2.7 1; }
txid_accept $is_ours;
txid_on_invalid reject;
txid_error_log on;
txid_trace traceparent;
set_real_ip_from 127.0.0.1;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    txid_accept 192.0.2.0/24;
    location / { return 200 $request_txid; }
}
--- config
location = /t {
    txid_response_header X-Id;
    if ($http_who = one) { txid_response_header X-Request-Id; }
    return 200 "$request_txid $txid_traceparent";
}
location = /networks { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
--- request eval
[("GET /t") x 6, "GET /networks"]
--- more_headers eval
my $trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
[(map { "X-Request-Id: mine
Who: $_
$trace" } "one", "1", "11", ""), "X-Request-Id: mine
Who: address
X-Real-IP: 192.0.2.7", "X-Request-Id: a b
Who: one",
    "X-Request-Id: mine
Who: one"]
--- error_code eval
[(200) x 5, 400, 200]
--- response_headers eval
["X-Request-Id: mine\nX-Id:", "X-Request-Id:\nX-Id: mine", ("") x 5]
--- response_body_like eval
[(qr/^mine 00-4bf9/) x 2, (qr/^[0-9a-v]{20} 00-(?!4bf9)/) x 2, qr/^mine /, qr/400 Bad/, qr/^[0-9a-v]{20}$/]



=== TEST 3: txid_handle removes from lists of 1 to 60 parts, whatever is between
--- http_config
txid_header X-Request-Id CF-Ray;
txid_trace traceparent;
txid_handle on;
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    txid_handle off;
    location / {
        content_by_lua_block {
            local headers = ngx.req.get_headers(0)
            local function count(name)
                local value = headers[name]
                return type(value) == "table" and #value or value and 1 or 0
            end
            ngx.print(count("Foo"), " ", count("CF-Ray"), count("b3"), " ", count("X-Request-Id"), count("traceparent"))
        }
    }
}
--- config
location = /t { proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1; }
location = /twice { rewrite ^ /t; }
--- request eval
[map { $_ % 2 ? "GET /t" : "GET /twice" } 1 .. 60]
--- more_headers eval
[map { CORE::join "\n", ("CF-Ray: a", "Foo: b", "b3: 0", "CF-Ray: c", ("Foo: d") x ($_ % 7)) x $_ } 1 .. 60]
--- response_body_like eval
[map { "^" . $_ * (1 + $_ % 7) . " 00 11\$" } 1 .. 60]
