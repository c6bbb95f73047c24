# The arguments that txid(ms) accepts, and its errors for all others.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: numbers at and around the limits
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
for _, ms in ipairs {
    0, 1, 4, 655829050000, 2^42 - 1, 2^42, 2^42 + 1, -1, -2^42, 2^53, -2^53, 1.999, -0.001,
} do
    ngx.say(("%.17g"):format(ms), " ", txid(ms):sub(1, 8), " ", ("%.0f"):format(decode(txid(ms))))
end
--- response_body
0 00000000 0
1 00000000 1
4 00000001 4
655829050000 4om9qi54 655829050000
4398046511103 vvvvvvvv 4398046511103
4398046511104 00000000 0
4398046511105 00000000 1
-1 vvvvvvvv 4398046511103
-4398046511104 00000000 0
9007199254740992 00000000 0
-9007199254740992 00000000 0
1.9990000000000001 00000000 1
-0.001 vvvvvvvv 4398046511103



=== TEST 2: 64-bit integers, over their whole range
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
local int64, uint64 = require("ffi").typeof("int64_t"), require("ffi").typeof("uint64_t")
for _, ms in ipairs {
    0LL, 655929050000LL, 655929050000ULL, -1LL, 0xffffffffffffffffULL, 0x8000000000000000ULL,
    0x7fffffffffffffffLL, int64(2^42) + 5, uint64(2^42) - 1, 9007199254740993LL,
    int64(tonumber(int64)), uint64(tonumber(uint64)),
} do
    ngx.say(tostring(ms), " ", txid(ms):sub(1, 8), " ", ("%.0f"):format(decode(txid(ms))))
end
--- response_body
0LL 00000000 0
655929050000LL 4on1lg74 655929050000
655929050000ULL 4on1lg74 655929050000
-1LL vvvvvvvv 4398046511103
18446744073709551615ULL vvvvvvvv 4398046511103
9223372036854775808ULL 00000000 0
9223372036854775807LL vvvvvvvv 4398046511103
4398046511109LL 00000001 5
4398046511103ULL vvvvvvvv 4398046511103
9007199254740993LL 00000000 1
11LL 00000002 11
12ULL 00000003 12



=== TEST 3: nothing, nil and false mean now; a second argument is ignored
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
local now = ngx.now() * 1000
for _, id in ipairs { txid(), txid(nil), txid(false), txid(nil, 1) } do
    ngx.say(math.abs(decode(id) - now) < 0.5)
end
ngx.say(decode(txid(5, 6)))
--- response_body
true
true
true
true
5



=== TEST 4: every kind of wrong argument is an error that shows it
--- lua
local txid = require "resty.txid"
local ffi = require "ffi"
local function say_error(argument)
    local ok, err = pcall(txid, argument)
    ngx.say(ok, " ", err)
end

say_error(0 / 0)
say_error(math.huge)
say_error(-math.huge)
say_error(2^53 + 2)
say_error(-2^53 - 2)
say_error(1e300)
say_error(true)
say_error("655829050000")
say_error({})
say_error(print)
say_error(coroutine.running())
say_error(io.stdout)
say_error(ngx.null)
say_error(ffi.new("int32_t", 1))
say_error(ffi.new("double", 1))
say_error(ffi.new("complex", 1, 1))
say_error(ffi.new("char[2]"))
say_error(ffi.cast("void *", 0))
say_error(ffi.new("int64_t[1]"))
say_error(ffi.new("struct { int64_t ms; }"))
say_error(ffi.typeof("int64_t"))
say_error(ffi.typeof("uint64_t"))
--- response_body_like chop
^false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got -?nan\)
false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got inf\)
false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got -inf\)
false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got 9007199254740994\)
false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got -9007199254740994\)
false bad argument #1 to 'txid' \(a number from -2\^53 to 2\^53 expected, got 1\.0+\d*e\+300\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got boolean\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got string\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got table\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got function\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got thread\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got userdata\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got userdata\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<int>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<double>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<complex>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<char \[2\]>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<void \*>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<int64_t \[1\]>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<struct \d+>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<int64_t>\)
false bad argument #1 to 'txid' \(number, int64_t or uint64_t expected, got ctype<uint64_t>\)
$



=== TEST 5: the error names the line of the caller
--- lua
local txid = require "resty.txid"
local caller = assert(loadstring("local txid, ms = ...\n\nlocal id = txid(ms)\nreturn id", "=caller.lua"))
for _, ms in ipairs { "5", 1e300 } do
    local ok, err = pcall(caller, txid, ms)
    ngx.say(err:match("^[^:]+:%d+: bad argument #1 to 'txid'"))
end
--- response_body
caller.lua:3: bad argument #1 to 'txid'
caller.lua:3: bad argument #1 to 'txid'



=== TEST 6: after an error, ids are made as before
--- lua
local txid = require "resty.txid"
pcall(txid, {})
ngx.say(txid(655829050000))
--- response_body_like: ^4om9qi54[0-7][0-9a-v]{10}[0g]$
