# For every format: no id repeats, whichever process makes it, and every function compiles.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

master_on();
workers(4);
log_level('warn');
run_tests();

__DATA__

=== TEST 1: 5,000 ids of each kind of each of four workers, and those that the master made before it forked
--- http_config
lua_shared_dict seen 700m;
lua_shared_dict done 100k;
init_by_lua_block {
    local seen = require "support.seen"
    makers = require "support.makers"
    function make(count)
        for _, id in pairs(makers) do
            for _ = 1, count do
                seen.add(id())
            end
        end
    end
    make(1000)
}
init_worker_by_lua_block {
    make(5000)
    ngx.shared.done:set(ngx.worker.pid(), true)
}
--- lua
local done = ngx.shared.done
require "support.wait_until"(function() return #done:get_keys() == 4 end)
local kinds = 0
for _ in pairs(makers) do
    kinds = kinds + 1
end
ngx.say(#done:get_keys(), " workers, ", #ngx.shared.seen:get_keys(0) - kinds * 21000, " ids too few")
ngx.say("more than 30 kinds: ", kinds > 30)
--- timeout: 600
--- response_body
4 workers, 0 ids too few
more than 30 kinds: true



=== TEST 2: 200,000 ids of one worker with the same stamp: small sequences wrap many times
--- lua
local makers = require "support.makers"
for _, name in ipairs { "flake(ms)", "unique_id(ms)", "unique_id_short(ms)", "xid(ms)", "sofa", "skywalking" } do
    local seen = {}
    for i = 1, 200000 do
        local id = makers[name]()
        if seen[id] then
            ngx.say(name, " made ", id, " as number ", seen[id], " and ", i)
            return
        end
        seen[id] = i
    end
    ngx.say(name)
end
--- response_body
flake(ms)
unique_id(ms)
unique_id_short(ms)
xid(ms)
sofa
skywalking



=== TEST 3: all of them compile
--- lua
local trace = require "support.trace"
local names, makers = {}, require "support.makers"
for name in pairs(makers) do
    names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
    local said = trace(makers[name])
    if said ~= "compiled" then
        ngx.say(name, ": ", said)
    end
end

local is_valid = require("resty.txid.uuid").is_valid
local header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
local single = "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1"
local traceparent = require("resty.txid.trace").traceparent
local b3 = require("resty.txid.trace").b3
ngx.say("is_valid: ", trace(function() return is_valid(header) end))
ngx.say("a hop of a traceparent: ", trace(function()
    return traceparent.tostring(traceparent.child(traceparent.parse(header)))
end))
ngx.say("a hop of a b3: ", trace(function() return b3.tostring(b3.child(b3.parse(single))) end))
--- response_body
is_valid: compiled
a hop of a traceparent: compiled
a hop of a b3: compiled



=== TEST 4: they work without nginx, too
--- lua
-- Loads the modules again without ngx. Of ngx, they use only the clock.
local nginx = ngx
for name in pairs(package.loaded) do
    if name:find("^resty%.txid") then
        package.loaded[name] = nil
    end
end
package.loaded["support.makers"] = nil
rawset(_G, "ngx", nil)
local ok, makers = pcall(require, "support.makers")
rawset(_G, "ngx", nginx)
assert(ok, makers)

local id = require("resty.txid.uuid").v7()
local made_at = require("resty.txid.uuid").decode(id).ms
nginx.say(math.abs(made_at - nginx.now() * 1000) < 2000)
for _, make in pairs(makers) do
    make()
end
--- response_body
true
