# No two processes make the same id: not a master that makes ids before it forks, nor its workers, nor their successors.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

master_on();
workers(4);
log_level('warn');
run_tests();

__DATA__

=== TEST 1: 100,000 ids of each of four workers, and those that the master made in init_by_lua before it forked
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict done 100k;
init_by_lua_block {
    txid = require "resty.txid"
    seen = require "support.seen"
    for _ = 1, 1000 do
        seen.add(txid(0))
    end
}
init_worker_by_lua_block {
    for _ = 1, 100000 do
        seen.add(txid(0))
    end
    ngx.shared.done:set(ngx.worker.pid(), true)
}
--- lua
local done = ngx.shared.done
require "support.wait_until"(function() return #done:get_keys() == 4 end)
ngx.say(#done:get_keys(), " workers, ", #ngx.shared.seen:get_keys(0), " ids")
--- timeout: 120
--- response_body
4 workers, 401000 ids



=== TEST 2: a worker that was killed, and the one that takes its place
--- http_config
lua_shared_dict seen 10m;
lua_shared_dict pids 100k;
init_by_lua_block {
    txid = require "resty.txid"
    seen = require "support.seen"
    seen.add(txid(0))
}
init_worker_by_lua_block {
    for _ = 1, 1000 do
        seen.add(txid(0))
    end
    ngx.shared.pids:set(ngx.worker.id(), ngx.worker.pid())
}
--- lua
ngx.say("replaced: ", require "support.replace_worker"(ngx.shared.pids))
ngx.say(#ngx.shared.seen:get_keys(0), " ids")
--- timeout: 120
--- response_body
replaced: true
5001 ids
--- error_log eval
qr/\[alert\].* exited on signal 9/
--- no_error_log
[error]
