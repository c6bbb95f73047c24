# Where ngx.ctx is not a request's own: a gateway may use its tables again.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

no_long_string();
run_tests();

__DATA__

=== TEST 1: a table that was ngx.ctx of a request that is over, and is that of another one now
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    free = {}
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    rewrite_by_lua_block { require("resty.core.ctx").get_ctx_table(table.remove(free)) }
    location / { content_by_lua_block { ngx.say(request.id()) ngx.flush(true) } }
    location /slow { content_by_lua_block { ngx.say(request.id()) ngx.flush(true) ngx.sleep(1) } }
    log_by_lua_block {
        free[#free + 1] = ngx.ctx
        require "table.clear"(ngx.ctx)
    }
}
--- config
location = /t {
    content_by_lua_block {
        local function connect()
            local socket = ngx.socket.tcp()
            assert(socket:connect("127.0.0.1", $TEST_NGINX_RAND_PORT_1))
            return socket
        end

        local function ask(socket, path)
            assert(socket:send("GET " .. path .. " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            local line
            repeat
                line = assert(socket:receive())
            until line:find("^[0-9a-v]+$") and #line == 20
            return line
        end

        local one, other = connect(), connect()
        ask(one, "/")
        require "support.wait_until"(function() return #free == 1 end)
        local slow = ask(other, "/slow")
        ngx.say(#free, " ", ask(one, "/") ~= slow)
    }
}
--- response_body
0 true
