# One id a request: the same in both logs, in the response, and in the request that the upstream gets.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: with nginx's own directives
--- http_config
log_format agent "$lua_txid $http_user_agent";
log_format addr  "$lua_txid $remote_addr $status";

server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / {
        return 200 $http_x_request_id;
    }
}
--- config
location = /traced {
    set_by_lua_block $lua_txid { local txid = require "resty.txid" return txid() }
    access_log logs/agents.log agent;
    access_log logs/addrs.log addr;
    add_header X-Request-Id $lua_txid always;
    proxy_set_header X-Request-Id $lua_txid;
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- lua
local http = require "support.http"
local wait_until = require "support.wait_until"

local function ids_in(name)
    local file = assert(io.open(ngx.config.prefix() .. "logs/" .. name))
    local ids = {}
    for line in file:lines() do
        ids[#ids + 1] = line:match("^%S+")
    end
    file:close()
    return ids
end

local upstream, distinct = {}, {}
for i = 1, 20 do
    local body, head = assert(http.get("/traced"))
    upstream[i] = body
    distinct[body] = true
    if head:match("X%-Request%-Id: (%S+)") ~= body then
        ngx.say("the upstream got ", body, ", the client ", head)
    end
end

wait_until(function() return #ids_in("addrs.log") == 20 end)
local expected = table.concat(upstream, " ")
ngx.say(table.concat(ids_in("agents.log"), " ") == expected)
ngx.say(table.concat(ids_in("addrs.log"), " ") == expected)

local count = 0
for id in pairs(distinct) do
    count = count + (id:find("^[0-9a-v]+[0g]$") and #id == 20 and 1 or 0)
end
ngx.say(count, " ids")
--- response_body
true
true
20 ids



=== TEST 2: a client's own header does not get through to the upstream
--- config
location = /t {
    set_by_lua_block $lua_txid { local txid = require "resty.txid" return txid() }
    proxy_set_header X-Request-Id $lua_txid;
    proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/upstream;
}
location = /upstream {
    return 200 $http_x_request_id;
}
--- more_headers
X-Request-Id: mine
--- response_body_like: ^[0-9a-v]{19}[0g]$
