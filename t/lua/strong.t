# The format strong: txids with randomness from the operating system.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the format and the time are those of resty.txid
--- lua
local strong = require("resty.txid.maker").new "strong"
local decode = require "support.decode"
assert(strong():match("^[0-9a-v]+[0g]$") and #strong() == 20)
ngx.say(math.abs(decode(strong()) - ngx.now() * 1000) < 2)
for _, ms in ipairs { 655829050002, 655829050002LL, 655829050002ULL, 655829050002.9, 0, 2^42 } do
    ngx.say(decode(strong(ms)))
end
ngx.say(math.abs(decode(strong(nil)) - ngx.now() * 1000) < 2, " ",
        math.abs(decode(strong(false)) - ngx.now() * 1000) < 2)
--- response_body
true
655829050002
655829050002
655829050002
655829050002
0
0
true true



=== TEST 2: every random bit is one
--- lua
local strong = require("resty.txid.maker").new "strong"
local codec = require "resty.txid.codec"
local bit = require "bit"
local ones, zeros = {}, {}
for _ = 1, 1000 do
    local random = codec.decode(strong(0)).random
    for place = 1, #random do
        local digit = tonumber(random:sub(place, place), 16)
        ones[place] = bit.bor(ones[place] or 0, digit)
        zeros[place] = bit.bor(zeros[place] or 0, bit.bxor(digit, 15))
    end
end
ngx.say(table.concat(ones, " "))
ngx.say(table.concat(zeros, " "))
--- response_body
3 15 15 15 15 15 15 15 15 15 15 15 15 15
15 15 15 15 15 15 15 15 15 15 15 15 15 15



=== TEST 3: without the system's randomness, ids are still made, and the log says so once
--- lua
if not (jit.os == "Linux" and (jit.arch == "x64" or jit.arch == "arm64")) then
    return ngx.say("true 1")
end

local strong = require("resty.txid.maker").new "strong"
local log = assert(io.open(ngx.config.prefix() .. "logs/error.log"))
require "support.without_randomness"()

local seen = {}
for _ = 1, 1000 do
    local id = strong()
    assert(#id == 20 and not seen[id])
    seen[id] = true
end
local _, times = log:read("*a"):gsub("%[crit%][^\n]* resty%.txid: the operating system gave no randomness, so ids could be guessed, ", "")
ngx.say(require("resty.txid.maker").entropy_degraded(), " ", times)
--- response_body
true 1
--- error_log
[crit]
