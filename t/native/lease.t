# 64-bit ids of the nginx modules on a node that a real txid-agent leases. Lua only reads them.

use lib 't/support';
use Native;
# Before the plan: without an agent there is nothing to test.
use Agent;
use Test::Nginx::Socket::Lua 'no_plan';
use State;
use Suite;

Agent::start('orders');
# Nothing listens on this port.
Agent::start('later', '--store', 'etcd://127.0.0.1:1/txid');

master_on();
run_tests();

__DATA__

=== TEST 1: ids have the node that the agent has leased, and none repeats over reloads
--- http_config
txid_variable $order snowflake node=lease state=DIR/run-orders/orders;
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new {
        layout = "snowflake", node = "lease", state = "DIR/run-orders/orders",
    }
    assert(require "support.until_leased"(order_id))
}
--- config
location = /order { return 200 "$order $order $pid"; }
--- lua
local http, kill, wait_until = require "support.http", require "support.kill", require "support.wait_until"
local node, seen, pids = order_id:stats().node, {}, {}
local function one()
    local id, again, pid = assert(http.get("/order")):match("^(%d+) (%d+) (%d+)$")
    assert(again == id, "two ids in one request")
    assert(not seen[id], "an id twice")
    assert(order_id:decode(id).node == node, "another node")
    seen[id], seen[order_id()] = true, true
    local is_new = not pids[pid]
    pids[pid] = true
    return is_new
end
for _ = 1, 3 do
    ngx.say(wait_until(one))
    for _ = 1, 100 do
        one()
    end
    kill(require("ngx.process").get_master_pid(), "HUP")
end
--- response_body
true
true
true



=== TEST 2: without a lease there is no variable, and the log says why
--- http_config
txid_variable $order snowflake node=lease state=DIR/run-later/later;
--- config
location = /t { content_by_lua_block { ngx.say(ngx.var.order) } }
--- response_body
nil
--- error_log eval
qr/\[error\].* txid: no id: later has no lease; txid-agent has not reached its store yet/
--- no_error_log
[alert]
