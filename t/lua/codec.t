# resty.txid.codec: the fields of an id, the bounds of a millisecond, raw bytes, and errors about invalid ids.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: decode returns the time and the random bits of an id, in upper and lower case
--- lua
local codec = require "resty.txid.codec"
for _, id in ipairs { "4om9qi54la8ffr4bd9sg", "4OM9QI54LA8FFR4BD9SG", "b2fr5nvqnvvvvvvvvvvg",
                      "00000000000000000000", "vvvvvvvvvvvvvvvvvvvg" } do
    local it = codec.decode(id)
    ngx.say(it.ms, " ", it.time, " ", it.random)
end
--- response_body
655829050002 1990-10-13T14:44:10.002Z 2a90f7ec8b6a79
655829050002 1990-10-13T14:44:10.002Z 2a90f7ec8b6a79
1522545688554 2018-04-01T01:21:28.554Z 3fffffffffffff
0 1970-01-01T00:00:00.000Z 00000000000000
4398046511103 2109-05-15T07:35:11.103Z 3fffffffffffff



=== TEST 2: an invalid id returns nil, the reason and the position
--- lua
local codec = require "resty.txid.codec"
for _, text in ipairs { "", "4om9qi54la8ffr4bd9s", "4om9qi54la8ffr4bd9sg0", "4om9qizzla8ffr4bd9sg",
                        "4om9qi54la8f\0r4bd9sg", "4om9qi54la8ffr4bd9s1" } do
    for _, name in ipairs { "decode", "ms", "to_bytes" } do
        local value, err = codec[name](text)
        assert(value == nil, name)
        if name == "decode" then
            ngx.say(err)
        else
            assert(err == select(2, codec.decode(text)), name)
        end
    end
end
--- response_body
an id has 20 characters, not 0
an id has 20 characters, not 19
an id has 20 characters, not 21
character 7 is 'z', not base32hex
character 13 is '\x00', not base32hex
character 20 is '1', but the last one must be '0' or 'g'



=== TEST 3: is_valid answers for any value
--- lua
local txid = require "resty.txid"
local codec = require "resty.txid.codec"
local values = { txid(), txid():upper(), ("0"):rep(20), "", "4om9qi54la8ffr4bd9s1", ("0"):rep(1000), 12345678901234567890,
                 0/0, true, false, {}, print, coroutine.create(function() end), 5LL, ngx.null }
for i = 1, #values do
    ngx.print(codec.is_valid(values[i]), " ")
end
ngx.say(codec.is_valid(nil), " ", codec.is_valid())
--- response_body
true true true false false false false false false false false false false false false false false



=== TEST 4: the first and the last id of a millisecond, which is read as in txid(ms)
--- lua
local txid = require "resty.txid"
local codec = require "resty.txid.codec"
for _, ms in ipairs { 655829050002, 655829050002LL, 655829050002ULL, 655829050002.9, 0, -1, 2^42 } do
    local first, id, last = codec.first(ms), txid(ms), codec.last(ms)
    assert(first <= id and id <= last)
    assert(codec.ms(first) == codec.ms(id) and codec.ms(id) == codec.ms(last))
    ngx.say(first, " ", last)
end
assert(codec.last(41) < codec.first(42))
--- response_body
4om9qi54g00000000000 4om9qi54nvvvvvvvvvvg
4om9qi54g00000000000 4om9qi54nvvvvvvvvvvg
4om9qi54g00000000000 4om9qi54nvvvvvvvvvvg
4om9qi54g00000000000 4om9qi54nvvvvvvvvvvg
00000000000000000000 000000007vvvvvvvvvvg
vvvvvvvvo00000000000 vvvvvvvvvvvvvvvvvvvg
00000000000000000000 000000007vvvvvvvvvvg



=== TEST 5: bytes are read back, keep the order, and are 12
--- lua
local txid = require "resty.txid"
local codec = require "resty.txid.codec"
local before
for ms = 0, 2^42 - 1, 2^32 - 1 do
    local id = txid(ms)
    local bytes = codec.to_bytes(id)
    assert(#bytes == 12 and codec.from_bytes(bytes) == id)
    assert(codec.to_bytes(id:upper()) == bytes)
    assert(not before or before < bytes)
    before = bytes
end
ngx.say(codec.from_bytes(("\0"):rep(12)), " ", codec.from_bytes(("\255"):rep(12)))
ngx.say(select(2, codec.from_bytes("")))
ngx.say(select(2, codec.from_bytes(("\0"):rep(13))))
--- response_body
00000000000000000000 vvvvvvvvvvvvvvvvvvvg
0 bytes, an id has 12
13 bytes, an id has 12



=== TEST 6: an argument of a wrong type is an error at the caller's level
--- lua
local codec = require "resty.txid.codec"
local caller = debug.getinfo(1, "S").short_src
for _, name in ipairs { "decode", "ms", "to_bytes", "from_bytes", "first", "last" } do
    local ok, err = pcall(function() local value = codec[name]({}) return value end)
    assert(not ok and err:sub(1, #caller) == caller, err)
    ngx.say((err:gsub("^.-:%d+: ", "")))
end
local ok, err = pcall(function() local value = codec.first(0/0) return value end)
ngx.say((err:gsub("^.-:%d+: ", "")))
--- response_body
bad argument #1 to 'decode' (string expected, got table)
bad argument #1 to 'ms' (string expected, got table)
bad argument #1 to 'to_bytes' (string expected, got table)
bad argument #1 to 'from_bytes' (string expected, got table)
bad argument #1 to 'first' (number, int64_t or uint64_t expected, got table)
bad argument #1 to 'last' (number, int64_t or uint64_t expected, got table)
bad argument #1 to 'first' (a number from -2^53 to 2^53 expected, got nan)



=== TEST 7: the hot functions compile
--- lua
local codec = require "resty.txid.codec"
local trace = require "support.trace"
local id = "4om9qi54la8ffr4bd9sg"
local bytes = codec.to_bytes(id)
ngx.say("ms ", trace(function() return codec.ms(id) end))
ngx.say("is_valid ", trace(function() return codec.is_valid(id) end))
ngx.say("first ", trace(function(i) return codec.first(i) end))
ngx.say("last ", trace(function(i) return codec.last(i) end))
ngx.say("to_bytes ", trace(function() return codec.to_bytes(id) end))
ngx.say("from_bytes ", trace(function() return codec.from_bytes(bytes) end))
--- response_body
ms compiled
is_valid compiled
first compiled
last compiled
to_bytes compiled
from_bytes compiled
