# A reload under load loses no request and repeats no id, and a worker that ends can still make some.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

master_on();
workers(2);
worker_connections(256);
log_level('warn');
run_tests();

__DATA__

=== TEST 1: three reloads while eight clients send requests without a pause
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict reloads 100k;
init_by_lua_block {
    generation = ngx.shared.reloads:incr("generation", 1, 0)
    txid = require "resty.txid"
    request = require "resty.txid.request"
    request.configure { accept = true }
    seen = require "support.seen"
    for _ = 1, 100 do
        seen.add(txid(0))
    end
}
init_worker_by_lua_block {
    seen.add(txid(0))
}
exit_worker_by_lua_block {
    seen.add(txid(0))
    -- It has no request whose headers could be read.
    ngx.shared.reloads:set("length at exit", #request.id())
}
--- config
location = /id {
    content_by_lua_block {
        for _ = 1, 20 do
            seen.add(txid(0))
        end
        ngx.print(generation)
    }
}
--- lua
-- During a reload, old workers finish their requests. So this request continues in the worker that received it.
local http = require "support.http"
local kill = require "support.kill"
local wait_until = require "support.wait_until"
local master = require("ngx.process").get_master_pid()

local running = true
local asked, lost, newest = 0, {}, 0

local function client()
    while running do
        local answered_by, err = http.get("/id")
        asked = asked + 1
        if answered_by then
            newest = math.max(newest, answered_by)
        else
            lost[#lost + 1] = err
        end
    end
end

local clients = {}
for i = 1, 8 do
    clients[i] = ngx.thread.spawn(client)
end

local function go_on()
    local asked_before = asked
    wait_until(function() return asked > asked_before + 100 end)
end

for next_generation = 2, 4 do
    go_on()
    kill(master, "HUP")
    wait_until(function() return newest == next_generation end)
end
go_on()
running = false
for i = 1, 8 do
    ngx.thread.wait(clients[i])
end

ngx.say("generations: ", newest)
ngx.say("ids: ", #ngx.shared.seen:get_keys(0) > 20 * asked)
ngx.say("lost: ", #lost, " ", lost[1])
wait_until(function() return ngx.shared.reloads:get("length at exit") end)
ngx.say("id of a worker that ends: ", ngx.shared.reloads:get("length at exit"))
--- response_body
generations: 4
ids: true
lost: 0 nil
id of a worker that ends: 20
