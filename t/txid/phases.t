# Ids can be made in every phase.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: from init to log, in timers, for the balancer and for TLS
--- http_config
lua_shared_dict phases 1m;

init_by_lua_block {
    -- Stores one id for each phase. A repeated id is stored once, so the count is too low.
    function make_id()
        local id = require "resty.txid"(0)
        if ngx.shared.phases:safe_add(id, true) then
            ngx.shared.phases:safe_add(ngx.get_phase(), id)
        end
    end

    function phases()
        local names = {}
        for _, key in ipairs(ngx.shared.phases:get_keys(0)) do
            local id = ngx.shared.phases:get(key)
            if type(id) == "string" and id:find("^00000000[0-7][0-9a-v]+[0g]$") then
                names[#names + 1] = key
            end
        end
        table.sort(names)
        return names
    end

    make_id()
}

init_worker_by_lua_block {
    make_id()
    ngx.timer.at(0, make_id)
}

upstream balanced {
    server 0.0.0.1;
    balancer_by_lua_block {
        make_id()
        assert(require("ngx.balancer").set_current_peer("127.0.0.1", ngx.var.server_port))
    }
}

server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1 ssl;
    ssl_certificate $TEST_NGINX_CERTIFICATE;
    ssl_certificate_key $TEST_NGINX_CERTIFICATE;
    ssl_client_hello_by_lua_block { make_id() }
    ssl_certificate_by_lua_block { make_id() }
}
--- config
location = /proxied {
    set_by_lua_block $unused { make_id() return "" }
    rewrite_by_lua_block { make_id() }
    access_by_lua_block { make_id() }
    header_filter_by_lua_block { make_id() }
    body_filter_by_lua_block { make_id() }
    log_by_lua_block { make_id() }
    proxy_pass http://balanced/upstream;
}
location = /upstream {
    content_by_lua_block {
        make_id()
        ngx.say("content")
    }
}
--- lua
assert(require("support.http").get("/proxied"))

local socket = ngx.socket.tcp()
assert(socket:connect("127.0.0.1", $TEST_NGINX_RAND_PORT_1))
assert(socket:sslhandshake(false, "localhost", false))
socket:close()

require "support.wait_until"(function() return #phases() == 13 end)
ngx.say(table.concat(phases(), "\n"))
--- response_body
access
balancer
body_filter
content
header_filter
init
init_worker
log
rewrite
set
ssl_cert
ssl_client_hello
timer
