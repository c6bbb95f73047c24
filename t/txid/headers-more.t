# The id set with the headers-more module, on the response and on the request that goes upstream.

use lib 't/support';
use Test::Nginx::Socket::Lua;
use Suite qw(nginx_has);

plan(nginx_has('ngx_http_headers_more_filter_module')
    ? 'no_plan'
    : (skip_all => 'this nginx has no headers-more module'));

run_tests();

__DATA__

=== TEST 1: the upstream and the client get the same id
--- config
location = /traced {
    set_by_lua_block $lua_txid { local txid = require "resty.txid" return txid() }
    more_set_headers       "X-Request-Id: $lua_txid";
    more_set_input_headers "X-Request-Id: $lua_txid";
    proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/upstream;
}
location = /upstream {
    return 200 $http_x_request_id;
}
--- lua
local body, head = assert(require("support.http").get("/traced"))
ngx.say(#body, " ", head:match("X%-Request%-Id: (%S+)") == body)
--- response_body
20 true
