# The hot path is compiled: LuaJIT logs no abort, no stitch to the interpreter and nothing that is not yet implemented.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: txid(), and txid(ms) with each kind of number
--- lua
local txid = require "resty.txid"
local trace = require "support.trace"
ngx.say("now: ", trace(function() return txid() end))
ngx.say("number: ", trace(function(i) return txid(i) end))
ngx.say("fraction: ", trace(function(i) return txid(i + 0.5) end))
ngx.say("int64_t: ", trace(function(i) return txid(1763712000000LL + i) end))
ngx.say("uint64_t: ", trace(function(i) return txid(1763712000000ULL + i) end))
ngx.say("nil: ", trace(function() return txid(nil) end))
--- response_body
now: compiled
number: compiled
fraction: compiled
int64_t: compiled
uint64_t: compiled
nil: compiled



=== TEST 2: the same after an error
--- lua
local txid = require "resty.txid"
pcall(txid, "x")
ngx.say(require("support.trace")(function() return txid() end))
--- response_body
compiled



=== TEST 3: the check detects a stitch, an abort, a tail call of C, and code that is not compiled at all
--- lua
local trace = require "support.trace"
ngx.say(trace(function(i) return (("x"):gsub("x", i)) end):match("^%a+"))
ngx.say(trace(function(i) return function() return i end end):match("^abort: NYI: bytecode %w+"))
local ffi_str, four = require("ffi").string, require("ffi").new("char[4]")
ngx.say(trace(function() return ffi_str(four, 4) end):match("^abort: NYI: return to lower frame"))
local function interpreted() end
jit.off(interpreted)
ngx.say(trace(interpreted):match("no .*"))
--- response_body_like chop
^stitch
abort: NYI: bytecode \d+
abort: NYI: return to lower frame
no loop was compiled, no return was compiled
$
