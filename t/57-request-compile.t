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
        request.configure { format = "uuid.v7" }
        lines[4] = "id, anew, in another format: " .. trace(anew) .. ", " .. #anew()
        ngx.say(table.concat(lines, "\n"))
    }
}
--- response_body
id: compiled
id, anew: compiled
handle: compiled
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



=== TEST 3: nothing is kept of a request that is over
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    contexts = setmetatable({}, { __mode = "v" })
}
--- config
location = /one {
    content_by_lua_block {
        ngx.say(request.id())
        contexts[#contexts + 1] = ngx.ctx
    }
}
location = /t {
    content_by_lua_block {
        local http = require "support.http"
        assert(http.get("/one"))
        ngx.say(contexts[1] ~= nil)
        collectgarbage()
        ngx.say(contexts[1] ~= nil)
    }
}
--- response_body
true
false
