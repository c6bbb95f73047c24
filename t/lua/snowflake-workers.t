# One state for all workers: no 64-bit id repeats over kills, reloads and a restart of the generators.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

master_on();
workers(4);
worker_connections(256);
log_level('warn');
run_tests();

__DATA__

=== TEST 1: four workers on one file, one of them killed and replaced
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict pids 100k;
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new { layout = "snowflake", node = 17, state = "DIR/made/orders" }
    seen = require "support.seen"
    seen.add(order_id())
}
init_worker_by_lua_block {
    for _ = 1, 50000 do
        seen.add(order_id())
    end
    ngx.shared.pids:set(ngx.worker.id(), ngx.worker.pid())
}
--- lua
ngx.say("replaced: ", require "support.replace_worker"(ngx.shared.pids))
ngx.say(#ngx.shared.seen:get_keys(0), " ids")
ngx.say(order_id:stats().issued > 50000, " ", order_id:stats().refused)
--- timeout: 120
--- response_body
replaced: true
250001 ids
true 0
--- error_log eval
qr/\[alert\].* exited on signal 9/
--- no_error_log
[error]



=== TEST 2: without a file, the workers share the state that was made in init_by_lua
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict pids 100k;
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new { layout = "snowflake", node = 17 }
    -- A second one of the same layout and node is the same.
    again = require "resty.txid.snowflake".new { layout = "snowflake", node = 17 }
    seen = require "support.seen"
    seen.add(order_id())
}
init_worker_by_lua_block {
    for _ = 1, 10000 do
        seen.add(order_id())
        seen.add(again())
    end
    ngx.shared.pids:set(ngx.worker.id(), ngx.worker.pid())
}
--- lua
local pids = ngx.shared.pids
local wait_until = require "support.wait_until"
wait_until(function() return #pids:get_keys() == 4 end)
ngx.say(#ngx.shared.seen:get_keys(0), " ids")

local ok, err = pcall(function()
    local made = require "resty.txid.snowflake".new { layout = "snowflake", node = 17 }
    return made
end)
ngx.say(ok, " ", err:match("made in init_by_lua when nginx starts"))
--- timeout: 120
--- response_body
80001 ids
false made in init_by_lua when nginx starts



=== TEST 3: three reloads, with a file and without, while the workers of all generations make ids
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict generations 100k;
init_by_lua_block {
    local snowflake = require "resty.txid.snowflake"
    -- All of them borrow from the future all the time, up to 400 seconds even on a slow machine. A state that started anew
    -- would repeat ids there.
    local layout = { time_bits = 41, node_bits = 10, sequence_bits = 2, unit_ms = 100, epoch = "2020-01-01" }
    in_file = snowflake.new { layout = layout, node = 1, state = "DIR/reloads", max_drift = 3600 }
    in_memory = snowflake.new { layout = layout, node = 2, max_drift = 3600 }
    seen = require "support.seen"
    ngx.shared.generations:incr("count", 1, 0)
}
init_worker_by_lua_block {
    local function make()
        for _ = 1, 500 do
            seen.add(in_file())
            seen.add(in_memory())
        end
        ngx.shared.generations:incr("made", 1, 0)
    end

    -- A pending timer also runs in a worker that is shutting down.
    make()
    ngx.timer.at(0.3, make)
    ngx.shared.generations:incr("workers", 1, 0)
}
--- lua
local generations = ngx.shared.generations
local wait_until = require "support.wait_until"
local master = require("ngx.process").get_master_pid()
for generation = 1, 4 do
    wait_until(function() return generations:get("workers") == 4 * generation end)
    if generation < 4 then
        require "support.kill"(master, "HUP")
    end
end
wait_until(function() return generations:get("made") == 32 end)
local count = #ngx.shared.seen:get_keys(0)
ngx.say(generations:get("count"), " generations, ", count, " ids")
ngx.say(in_file:stats().borrowed_ms > 1000, " ", in_memory:stats().borrowed_ms > 1000)
--- timeout: 120
--- response_body
4 generations, 32000 ids
true true



=== TEST 4: a master that runs as root opens it for workers without permission
--- http_config
init_by_lua_block {
    order_id = require "resty.txid.snowflake".new { layout = "snowflake", node = 17, state = "DIR/of-root/orders" }
    os.execute("umask 077; mkdir -p DIR/closed")
}
init_worker_by_lua_block {
    uid = require "support.be_nobody"()
}
--- lua
local snowflake = require "resty.txid.snowflake"
ngx.say(#order_id(), " ", #order_id())
ngx.say("inherited: ", #snowflake.new { layout = "snowflake", node = 17, state = "DIR/of-root/orders" }())

local ok, err = pcall(snowflake.new, { layout = "snowflake", node = 17, state = "DIR/closed/orders" })
-- If the tests do not run as root, the worker's user made the directory.
local there = "DIR/closed/orders: Permission denied (os error 13), as user nobody (uid 65534)"
ngx.say(uid ~= 65534 or not ok and err:find(there, 1, true) ~= nil or err)
--- response_body
19 19
inherited: 19
true



=== TEST 5: with lua_code_cache off, where each request runs init_by_lua as the worker's user
--- http_config
lua_code_cache off;
init_by_lua_block {
    in_file = require "resty.txid.snowflake".new { layout = "snowflake", node = 18, state = "DIR/uncached/orders" }
    in_memory = require "resty.txid.snowflake".new { layout = "snowflake", node = 18 }
}
init_worker_by_lua_block {
    require "support.be_nobody"(true)
}
--- config
location = /id {
    content_by_lua_block {
        local last_in_file, last_in_memory = "", ""
        for _ = 1, 100 do
            local a, b = in_file(), in_memory()
            assert(a > last_in_file and b > last_in_memory)
            last_in_file, last_in_memory = a, b
        end
        ngx.print(last_in_file, " ", last_in_memory)
    }
}
--- lua
local http = require "support.http"
local last_in_file, last_in_memory = "", ""
for _ = 1, 50 do
    local a, b = assert(http.get("/id")):match("(%d+) (%d+)")
    assert(a > last_in_file and b > last_in_memory)
    last_in_file, last_in_memory = a, b
end
ngx.say("in order")
--- timeout: 120
--- response_body
in order
--- suppress_stderr
--- error_log eval
qr/\[alert\].* lua_code_cache is off/
--- no_error_log
[error]
