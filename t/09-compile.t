# The hot path is compiled: LuaJIT logs no abort, no stitch to the interpreter and nothing that is not yet implemented.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

no_long_string();
run_tests();

__DATA__

=== TEST 1: txid(), and txid(ms) with each kind of number
--- config
location = /t {
    content_by_lua_block {
        local txid = require "resty.txid"
        local trace = require "support.trace"
        ngx.say("now: ", trace(function() return txid() end))
        ngx.say("number: ", trace(function(i) return txid(i) end))
        ngx.say("fraction: ", trace(function(i) return txid(i + 0.5) end))
        ngx.say("int64_t: ", trace(function(i) return txid(1763712000000LL + i) end))
        ngx.say("uint64_t: ", trace(function(i) return txid(1763712000000ULL + i) end))
        ngx.say("nil: ", trace(function() return txid(nil) end))
    }
}
--- response_body
now: compiled
number: compiled
fraction: compiled
int64_t: compiled
uint64_t: compiled
nil: compiled



=== TEST 2: after an error, too
--- config
location = /t {
    content_by_lua_block {
        local txid = require "resty.txid"
        pcall(txid, "x")
        ngx.say(require("support.trace")(function() return txid() end))
    }
}
--- response_body
compiled



=== TEST 3: the check sees a stitch, an abort, and what is not compiled at all
--- config
location = /t {
    content_by_lua_block {
        local trace = require "support.trace"
        ngx.say(trace(function(i) return (("x"):gsub("x", i)) end):match("^%a+"))
        ngx.say(trace(function(i) return function() return i end end):match("^abort: NYI: bytecode %w+"))
        local function interpreted() end
        jit.off(interpreted)
        ngx.say(trace(interpreted):match("[^,]+$"))
    }
}
--- response_body_like chop
^stitch
abort: NYI: bytecode \d+
 the loop was not compiled
$



=== TEST 4: called from C, as from set_by_lua once a request
--- config
location = /t {
    content_by_lua_block {
        local txid = require "resty.txid"
        local function now() return txid() end
        local started, compiled = {}, {}
        jit.attach(function(event, trace, func)
            if event == "start" then
                started[trace] = func
            elseif event == "stop" then
                compiled[started[trace]] = true
            end
        end, "trace")
        local many = ("x"):rep(1000)
        many:gsub("()", txid)
        ngx.say("txid(ms): ", compiled[txid] and "compiled" or "interpreted")
        jit.flush()
        compiled = {}
        many:gsub("x", now)
        jit.attach(function() end)
        ngx.say("txid(): ", (compiled[txid] or compiled[now]) and "compiled" or "interpreted")
    }
}
--- response_body
txid(ms): compiled
txid(): compiled
