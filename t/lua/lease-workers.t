# A leased node and all workers of an nginx: reloads, and a node that changes.

use lib 't/support';
# Before the plan: without an agent there is nothing to test.
use Agent;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

Agent::start('reloads');
# A short interval, so that it soon notices that its node was taken.
Agent::start('moved', '--lease-time', '2s');

master_on();
workers(4);
worker_connections(256);
run_tests();

__DATA__

=== TEST 1: three reloads while the lease is held: ids continue, and none repeats
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict generations 100k;
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new {
        layout = "snowflake", node = "lease", state = "DIR/run-reloads/reloads",
    }
    seen = require "support.seen"
    generation = ngx.shared.generations:incr("newest", 1, 0)
    assert(require "support.until_leased"(order_id))
    seen.add(order_id())
}
init_worker_by_lua_block {
    local last = ""
    local function some()
        for _ = 1, 200 do
            local id = assert(order_id())
            assert(id > last, "an id that is not greater than the one before in its worker")
            last = id
            seen.add(id)
        end
        ngx.shared.generations:incr("runs of " .. generation, 1, 0)
    end
    ngx.timer.every(0.01, function() some() end)
}
--- lua
local kill, wait_until = require "support.kill", require "support.wait_until"
local generations, master = ngx.shared.generations, require("ngx.process").get_master_pid()
local node = order_id:stats().node
for next_generation = 2, 4 do
    kill(master, "HUP")
    ngx.say(wait_until(function()
        return (generations:get("runs of " .. next_generation) or 0) > 20
    end))
end
ngx.say(order_id:stats().node == node, " ", #ngx.shared.seen:get_keys(0) > 12000)
--- response_body
true
true
true
true true



=== TEST 2: the node changes while workers make ids: ids continue, increase in each worker, and none repeats
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict nodes 100k;
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new {
        layout = "snowflake", node = "lease", state = "DIR/run-moved/moved",
    }
    seen = require "support.seen"
    assert(require "support.until_leased"(order_id))
}
init_worker_by_lua_block {
    local last = ""
    ngx.timer.every(0.005, function()
        for _ = 1, 50 do
            local id = order_id()
            if id then
                assert(id > last, "an id that is not greater than the one before in its worker")
                last = id
                seen.add(id)
                ngx.shared.nodes:incr(order_id:decode(id).node, 1, 0)
            end
        end
    end)
}
--- lua
local wait_until = require "support.wait_until"
local nodes = ngx.shared.nodes
for changes = 1, 3 do
    local node = order_id:stats().node
    wait_until(function() return (nodes:get(node) or 0) > 1000 end)
    os.execute("DIR/txid-agent release --store file://DIR/store moved " .. node .. " > /dev/null")
    ngx.say(wait_until(function()
        local now = order_id:stats().node
        return now and now ~= node and (nodes:get(now) or 0) > 1000
    end))
end
ngx.say(#nodes:get_keys())
--- response_body
true
true
true
4
