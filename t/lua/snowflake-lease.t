# resty.txid.snowflake on a node that a real txid-agent leases.

use lib 't/support';
# Before the plan: without an agent there is nothing to test.
use Agent;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

Agent::start('orders');
Agent::start('short', '--lease-time', '2s');
Agent::start('ended');
# Nothing listens on this port.
Agent::start('later', '--store', 'etcd://127.0.0.1:1/txid');

run_tests();

__DATA__

=== TEST 1: ids increase, and have the node that the agent has leased
--- http_config
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new {
        layout = "snowflake", node = "lease", state = "DIR/run-orders/orders",
    }
}
--- lua
assert(require "support.wait_until"(order_id))
local stats = order_id:stats()
local last = ""
for _ = 1, 20000 do
    local id = assert(order_id())
    assert(id > last)
    assert(order_id:decode(id).node == stats.node)
    last = id
end
ngx.say(stats.lease_left_ms > 40000 and stats.lease_left_ms <= 60000, " ", stats.renewals >= 1, " ",
        stats.failures)
--- response_body
true true 0



=== TEST 2: a node that is not leased has no lease in its stats
--- lua
local stats = require "resty.txid.snowflake".new { layout = "leaf", node = 5, state = "DIR/own" }:stats()
ngx.say(stats.node, " ", stats.lease_left_ms, " ", stats.renewals, " ", stats.failures)
--- response_body
5 nil nil nil



=== TEST 3: without an agent there is no generator
--- lua
local snowflake = require "resty.txid.snowflake"
local function try(options)
    options.node = "lease"
    local _, err = pcall(snowflake.new, options)
    ngx.say((err:gsub("/%S+/", "")))
end
try { layout = "snowflake", state = "DIR/run-nobody/nobody" }
try { layout = "sonyflake", state = "DIR/run-orders/orders" }
os.execute("cp DIR/run-orders/orders DIR/copy && chmod 666 DIR/copy")
try { layout = "snowflake", state = "DIR/copy" }
--- response_body
cannot make a generator: nobody does not exist; txid-agent makes it, so start that first, with --node
cannot make a generator: orders belongs to the layout time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1288834974657, not to time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=1409529600000
cannot make a generator: copy is a copy of a lease; remove it, and txid-agent will make a new one



=== TEST 4: a generator may be made before there is a lease
--- http_config
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new {
        layout = "snowflake", node = "lease", state = "DIR/run-later/later",
    }
}
--- lua
ngx.say(order_id())
ngx.say(select(2, order_id:next()))
local stats = order_id:stats()
ngx.say(stats.node, " ", stats.lease_left_ms, " ", stats.renewals, " ", stats.failures > 0)
--- response_body
nillater has no lease; txid-agent has not reached its store yet
later has no lease; txid-agent has not reached its store yet
nil 0 0 true



=== TEST 5: a lease that is not renewed ends, and ids continue when it is renewed again
--- lua
local kill, wait_until = require "support.kill", require "support.wait_until"
local order_id = require "resty.txid.snowflake".new {
    layout = "snowflake", node = "lease", state = "DIR/run-short/short",
}
local agent = tonumber(io.open("DIR/short.pid"):read("*a"))
assert(wait_until(order_id))
local before = order_id()
kill(agent, "STOP")
ngx.sleep(1)
ngx.say(wait_until(function() return not order_id() end))
local _, err = order_id()
ngx.say((err:gsub("%d", "0")))
kill(agent, "CONT")
ngx.say(wait_until(order_id))
ngx.say(order_id() > before)
--- response_body
true
the lease of short ended at 0000-00-00T00:00:00.000Z; txid-agent last reached its store at 0000-00-00T00:00:00.000Z
true
true



=== TEST 6: a lease that was given back says so
--- lua
local kill, wait_until = require "support.kill", require "support.wait_until"
local order_id = require "resty.txid.snowflake".new {
    layout = "snowflake", node = "lease", state = "DIR/run-ended/ended",
}
assert(wait_until(order_id))
kill(tonumber(io.open("DIR/ended.pid"):read("*a")), "TERM")
ngx.say(wait_until(function() return not order_id() end))
ngx.say(wait_until(function()
    local _, err = order_id()
    return err == "ended has no lease; txid-agent gave the node back when it was stopped"
end))
--- response_body
true
true
