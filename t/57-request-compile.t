# Neither id() nor handle() leaves compiled code, a request's second id() costs next to nothing, and what is kept for a
# request goes with it.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

no_long_string();
run_tests();

__DATA__

=== TEST 1: id() and handle(), for a new request and again
--- http_config
map "" $request_txid { default ""; }
log_format ids "$request_txid";
init_by_lua_block { request = require "resty.txid.request" }
--- config
location = /t {
    content_by_lua_block {
        local trace = require "support.trace"
        local function anew()
            ngx.ctx = {}
            return request.id()
        end

        -- Said at the end, as the header has to be open.
        local lines = {}
        lines[1] = "id: " .. trace(function() return request.id() end)
        lines[2] = "id, anew: " .. trace(anew)
        lines[3] = "handle: " .. trace(function() return request.handle() end)
        ngx.req.set_header("X-Request-Id", "7f3a")
        request.configure { accept = { "10.0.0.0/8", "127.0.0.0/8" } }
        lines[4] = "id, anew, the client's: " .. trace(anew) .. ", " .. anew()
        request.configure { accept = true, format = "uuid.v7" }
        lines[5] = "id, anew, the client's: " .. trace(anew) .. ", " .. anew()
        ngx.req.clear_header("X-Request-Id")
        lines[6] = "id, anew, in another format: " .. trace(anew) .. ", " .. #anew()
        ngx.say(table.concat(lines, "\n"))
    }
}
--- response_body
id: compiled
id, anew: compiled
handle: compiled
id, anew, the client's: compiled, 7f3a
id, anew, the client's: compiled, 7f3a
id, anew, in another format: compiled, 36



=== TEST 2: a second id() costs under 100 ns
--- http_config
init_by_lua_block { request = require "resty.txid.request" }
--- config
location = /t {
    content_by_lua_block {
        local id, best = request.id(), math.huge
        for _ = 1, 20 do
            local begun = os.clock()
            for _ = 1, 100000 do
                assert(request.id() == id)
            end
            best = math.min(best, (os.clock() - begun) / 100000 * 1e9)
        end
        ngx.say(best < 100 and "under 100 ns" or best)
    }
}
--- response_body
under 100 ns



=== TEST 3: nothing is kept of the requests that are over
--- http_config
init_by_lua_block { request = require "resty.txid.request" }
--- config
location = /one { content_by_lua_block { ngx.say(request.id()) } }
location = /t {
    content_by_lua_block {
        local http = require "support.http"
        local function memory_after(requests)
            for _ = 1, requests do
                assert(http.get("/one"))
            end
            collectgarbage()
            collectgarbage()
            return collectgarbage("count")
        end
        local before = memory_after(500)
        local grown = memory_after(2000) - before
        ngx.say(grown < 50 and "no more than before" or grown .. " KB more")
    }
}
--- response_body
no more than before
--- timeout: 20
