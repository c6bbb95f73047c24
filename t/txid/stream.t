# Ids in nginx's stream module.

use lib 't/support';
use Test::Nginx::Socket::Lua::Stream;
use Suite qw(nginx_has);

plan(nginx_has('ngx_stream_lua_module')
    ? 'no_plan'
    : (skip_all => 'this nginx has no stream Lua module, which Debian does not package and OpenResty has'));

run_tests();

__DATA__

=== TEST 1: an id in the content phase
--- stream_server_config
content_by_lua_block {
    local txid = require "resty.txid"
    ngx.say(txid())
}
--- stream_response_like: ^[0-9a-v]{19}[0g]$



=== TEST 2: the time is the one that nginx has cached
--- stream_server_config
content_by_lua_block {
    local ms = require("support.decode")(require "resty.txid"())
    ngx.say(math.abs(ms - ngx.now() * 1000) < 0.5)
}
--- stream_response
true



=== TEST 3: in every phase of stream
--- stream_config
lua_shared_dict seen 1m;
init_by_lua_block {
    function make_id()
        require("support.seen").add(require "resty.txid"(0))
    end
    make_id()
}
init_worker_by_lua_block {
    make_id()
    ngx.timer.at(0, make_id)
}
upstream balanced {
    server 0.0.0.1:1;
    balancer_by_lua_block {
        make_id()
        assert(require("ngx.balancer").set_current_peer("127.0.0.1", $TEST_NGINX_RAND_PORT_1))
    }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    preread_by_lua_block { make_id() }
    content_by_lua_block {
        make_id()
        local keys
        require "support.wait_until"(function()
            keys = ngx.shared.seen:get_keys(0)
            return #keys == 6
        end)
        ngx.say(#keys, " ids")
    }
}
--- stream_server_config
proxy_pass balanced;
--- stream_response
6 ids



=== TEST 4: the hot path is compiled
--- stream_server_config
content_by_lua_block {
    local txid = require "resty.txid"
    ngx.say(require("support.trace")(function() return txid() end))
}
--- stream_response
compiled

