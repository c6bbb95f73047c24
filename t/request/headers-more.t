# Traces beside the headers-more module.

use lib 't/support';
use Test::Nginx::Socket::Lua;
use Suite qw(nginx_has);

plan(nginx_has('ngx_http_headers_more_filter_module')
    ? 'no_plan'
    : (skip_all => 'this nginx has no headers-more module'));

run_tests();

__DATA__

=== TEST 1: handle() does not overwrite a value that is the configuration's
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "b3" }
}
--- config
location = /set {
    more_set_input_headers "X-B3-Sampled: 0";
    access_by_lua_block {
        local var = ngx.var
        ngx.header["Before"] = var.http_x_b3_sampled
        request.handle()
    }
    content_by_lua_block { ngx.say(ngx.req.get_headers()["X-B3-Sampled"]) }
}
--- lua
local http = require "support.http"
for _ = 1, 2 do
    local response = http.send("GET /set HTTP/1.0\r\n\r\n", ngx.var.server_port)
    ngx.say(response:match("Before: (%d)"), " ", response:match("\r\n\r\n(%d)"))
end
--- request
GET /t
--- response_body
0 1
0 1
