# Numbers from one page for all workers: none repeats over kills and reloads, and none is outside the granted ranges.

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

=== TEST 1: numbers of two ranges, then nil and why, at once; and numbers again
--- http_config
init_by_lua_block {
    local page = require "support.segment_page"
    page.make("DIR/invoices.segment")
    page.publish("DIR/invoices.segment", 1042, 1044)
    invoice_no = require "resty.txid.segment".new { state = "DIR/invoices.segment" }
}
--- lua
local publish = require "support.segment_page".publish
ngx.say(invoice_no(), " ", type(invoice_no()))
ngx.say(invoice_no())

local stats = invoice_no:stats()
ngx.say(stats.left, " ", stats.next, " ", stats.step, " ", stats.news, " ", tostring(stats.contact_ms))

publish("DIR/invoices.segment", 5000, 5002)
ngx.say(invoice_no:stats().next)
ngx.say(tostring(invoice_no:next()), " ", invoice_no:stats().left)
publish("DIR/invoices.segment", 9223372036854775806ULL, 9223372036854775807ULL)
ngx.say(invoice_no(), " ", invoice_no())
ngx.say(invoice_no:next())
--- response_body
1042 string
nilthe numbers of invoices are used up; txid-agent has not reached its store yet
0 0 0 serving nil
2
5000LL 1
5001 9223372036854775806
nilthe numbers of invoices are used up; txid-agent has not reached its store yet



=== TEST 2: four workers on one page, one of them killed and replaced: no number is lost or taken twice
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict pids 100k;
init_by_lua_block {
    local page = require "support.segment_page"
    page.make("DIR/orders.segment")
    page.publish("DIR/orders.segment", 1, 1000001)
    order_no = require "resty.txid.segment".new { state = "DIR/orders.segment" }
    seen = require "support.seen"
}
init_worker_by_lua_block {
    for _ = 1, 20000 do
        seen.add(order_no())
    end
    ngx.shared.pids:set(ngx.worker.id(), ngx.worker.pid())
}
--- lua
ngx.say("replaced: ", require "support.replace_worker"(ngx.shared.pids))
ngx.say(#ngx.shared.seen:get_keys(0), " numbers, the next is ", order_no())
--- response_body
replaced: true
100000 numbers, the next is 100001
--- error_log eval
qr/\[alert\].* exited on signal 9/
--- no_error_log
[error]



=== TEST 3: a reload continues with the same page, while the workers of both generations take numbers
--- http_config
lua_shared_dict seen 100m;
lua_shared_dict generations 100k;
init_by_lua_block {
    local page = require "support.segment_page"
    local path = "DIR/reloaded.segment"
    if ngx.shared.generations:incr("count", 1, 0) == 1 then
        page.make(path)
        page.publish(path, 1, 1000001)
    end
    order_no = require "resty.txid.segment".new { state = path }
    seen = require "support.seen"
}
init_worker_by_lua_block {
    local function take()
        for _ = 1, 500 do
            seen.add(order_no())
        end
    end

    -- A pending timer also runs in a worker that is shutting down.
    take()
    ngx.timer.at(0.2, take)
    ngx.shared.generations:incr("workers", 1, 0)
}
--- lua
local generations = ngx.shared.generations
local wait_until = require "support.wait_until"
wait_until(function() return generations:get("workers") == 4 end)
require "support.kill"(require("ngx.process").get_master_pid(), "HUP")
wait_until(function() return generations:get("workers") == 8 end)
local seen = ngx.shared.seen
wait_until(function() return #seen:get_keys(0) == 8000 end)
ngx.say(#seen:get_keys(0), " numbers, the next is ", order_no())
--- response_body
8000 numbers, the next is 8001



=== TEST 4: errors say what is wrong
--- http_config
init_by_lua_block {
    require "support.segment_page".make("DIR/wrong.segment")
}
--- lua
local segment = require "resty.txid.segment"
local function say(...)
    local ok, err = pcall(segment.new, ...)
    ngx.say((tostring(err):gsub("/[%w/_.-]*/", "")))
end
say("x")
say {}
say { state = "x" }
say { state = "/x\0y" }
say { state = "/x", node = 1 }
say { state = "DIR/none.segment" }
os.execute("cp DIR/wrong.segment DIR/copy.segment")
say { state = "DIR/copy.segment" }
local opened = segment.new { state = "DIR/wrong.segment" }
for _, name in ipairs { "next", "stats" } do
    ngx.say((select(2, pcall(opened[name]))))
end
--- response_body
bad argument #1 to 'new' (table expected, got string)
bad option 'state' to 'new' (the file that txid-agent keeps expected, got nil)
bad option 'state' to 'new' (absolute path expected, got 'x')
bad option 'state' to 'new' (text without a NUL expected)
bad option 'node' to 'new' (unknown option; the only option is state)
cannot open a segment: none.segment does not exist; txid-agent makes it, so start that first
cannot open a segment: copy.segment is a copy of another file, which has the same numbers; use the file that txid-agent made
bad self to 'next' (a segment expected, as in segment:next())
bad self to 'stats' (a segment expected, as in segment:stats())



=== TEST 5: invoice_no() and invoice_no:next() are compiled
--- http_config
init_by_lua_block {
    local page = require "support.segment_page"
    page.make("DIR/compiled.segment")
    page.publish("DIR/compiled.segment", 1, 1000000)
    invoice_no = require "resty.txid.segment".new { state = "DIR/compiled.segment" }
}
--- lua
local trace = require "support.trace"
ngx.say("text: ", trace(function() return invoice_no() end))
ngx.say("int64_t: ", trace(function() return invoice_no:next() end))
--- response_body
text: compiled
int64_t: compiled



=== TEST 6: what the agent reports, and how long numbers last by that, down to 0
--- http_config
init_by_lua_block {
    page = require "support.segment_page"
    page.make("DIR/rated.segment")
    page.publish("DIR/rated.segment", 0, 2)
    invoice_no = require "resty.txid.segment".new { state = "DIR/rated.segment" }
}
--- lua
local function say()
    local stats = invoice_no:stats()
    ngx.say(stats.left, " ", stats.next, " ", stats.step, " ", tostring(stats.lasts_ms), " ", tostring(stats.contact_ms), " ", stats.fetches, " ", stats.failures, " ", stats.news)
end
say()
page.report("DIR/rated.segment", 300, 4000, 1795255200000, 5, 6, 1)
say()
ngx.say(tostring(invoice_no:next()), " ", tostring(invoice_no:next()))
for news = 2, 3 do
    page.report("DIR/rated.segment", 300, 4000, 1795255200000, 7, 8, news)
    say()
end
--- response_body
0 2 0 nil nil 0 0 serving
0 2 300 500 1795255200000 5 6 no-tag
0LL 1LL
0 0 300 0 1795255200000 7 8 went-down
0 0 300 0 1795255200000 7 8 ended
