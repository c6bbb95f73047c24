# An id holds exactly the millisecond that it was made with, and ids sort by it.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: without an argument, 10,000 readings of a clock in place of ngx.now() are read back
--- lua
-- ngx.now() is computed like this, and is often slightly below the millisecond.
local second, ms = 0, 0
ngx.now = function()
    return second + ms / 1000
end
package.loaded["resty.txid"], package.loaded["resty.txid.lib"] = nil, nil
local txid = require "resty.txid"
local decode = require "support.decode"

local cut, wrong = 0, 0
for _, s in ipairs { 0, 1, 59, 1024, 65537, 655829050, 1522545688, 1763712000, 2147483647, 4294967295 } do
    second = s
    for m = 0, 999 do
        ms = m
        cut = cut + (math.floor(ngx.now() * 1000) == s * 1000 + m and 0 or 1)
        wrong = wrong + (decode(txid()) == s * 1000 + m and 0 or 1)
    end
end
ngx.say(wrong, " wrong; cutting would have made some wrong: ", cut > 100)
--- response_body
0 wrong; cutting would have made some wrong: true



=== TEST 2: 10,000 given times are read back
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
local wrong = 0
for i = 1, 10000 do
    local ms = i <= 5000 and 1763712000000 + i or math.random(0, 2^31) * 2048 + i % 2048
    wrong = wrong + (decode(txid(ms)) == ms and decode(txid(ms + 0LL)) == ms and 0 or 1)
end
ngx.say(wrong, " wrong")
--- response_body
0 wrong



=== TEST 3: the time is the one that nginx has cached
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
ngx.update_time()
local before = decode(txid())
ngx.say(math.abs(before - ngx.now() * 1000) < 0.5)

local ffi = require "ffi"
ffi.cdef "int usleep(unsigned int us);"
ffi.C.usleep(5000)
ngx.say(decode(txid()) == before)

ngx.update_time()
ngx.say(decode(txid()) >= before + 5)
--- response_body
true
true
true



=== TEST 4: later ids sort after earlier ones
--- lua
local txid = require "resty.txid"
local before, wrong = txid(), 0
for _ = 1, 50 do
    ngx.sleep(0.002)
    local id = txid()
    wrong = wrong + (before < id and 0 or 1)
    before = id
end

before = txid(0)
for ms = 1, 10000 do
    local id = txid(ms)
    wrong = wrong + (before < id and 0 or 1)
    before = id
end
ngx.say(wrong, " out of order")
--- response_body
0 out of order



=== TEST 5: nginx's own time is read in place, without ngx.now()
--- lua
local now, calls = ngx.now, 0
ngx.now = function()
    calls = calls + 1
    return now()
end
package.loaded["resty.txid"], package.loaded["resty.txid.lib"] = nil, nil
local txid = require "resty.txid"
local decode = require "support.decode"
ngx.say(math.abs(decode(txid()) - now() * 1000) < 0.5, " ", calls, " call at the start")
--- response_body
true 1 call at the start
