# resty.txid.snowflake: the contents of its ids, and its errors for wrong options.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

run_tests();

__DATA__

=== TEST 1: ids increase, as strings and as int64_t, and contain the time and the node
--- lua
local snowflake = require "resty.txid.snowflake"
local order_id = snowflake.new { layout = "snowflake", node = 17, state = "DIR/up" }
local id, number = order_id(), order_id:next()
ngx.say(type(id), " ", #id, " ", type(number), " ", type(number) == "cdata")
ngx.say(id < tostring(number):sub(1, -3), " ", require("ffi").istype("int64_t", number))
for _, it in ipairs { order_id:decode(id), order_id:decode(number), order_id:decode(number + 0ULL) } do
    ngx.say(math.abs(it.ms - ngx.now() * 1000) < 1000, " ", it.node, " ", it.datacenter, " ", it.worker)
end
local last = ""
for _ = 1, 20000 do
    local id = order_id()
    assert(id > last and #id == 19)
    last = id
end
--- response_body
string 19 cdata true
true true
true 17 0 17
true 17 0 17
true 17 0 17



=== TEST 2: the samples of each preset read back
--- lua
local snowflake = require "resty.txid.snowflake"
local function say(layout, node, id)
    local name = type(layout) == "string" and layout or "custom"
    local it = snowflake.new { layout = layout, node = node, state = "DIR/" .. name }:decode(id)
    ngx.say(name, " ", it.ms, " ", it.time, " ", it.node, " ", it.sequence, " ", it.datacenter, " ", it.worker)
end
say("snowflake", 0, "1160090501362225152")
say("snowflake", 0, 1160090501362225152LL)
say("snowflake", 0, "9223372036854775807")
say("snowflake", 0, tostring(32 * 4096))
say("snowflake,random_start=9", 0, tostring(33 * 4096))
say("leaf", 0, "1160090501362225152")
say("snowflake53", 0, "0")
say("sonyflake", 1, "0")
-- 7 units of 10 ms, sequence 3, node 258: the sequence is before the node.
say("sonyflake", 1, tostring((7 * 256 + 3) * 65536 + 258))
-- 9 s, node 5, sequence 6.
say("uid", 1, tostring(9 * 2^35 + 5 * 2^13 + 6):gsub("%.0$", ""), nil)
say({ time_bits = 42, node_bits = 0, sequence_bits = 8, epoch = "2020-01-01" }, 0, "513")
say({ time_bits = 42, node_bits = 0, sequence_bits = 8, epoch = 1577836800000 }, 0, "513")
for _, order in ipairs { "", "time,node,sequence", "time,sequence,node" } do
    local parts = { time_bits = 41, node_bits = 10, sequence_bits = 12, order = order ~= "" and order or nil }
    local it = snowflake.new { layout = parts, node = 0, state = "DIR/ordered-" .. order }:decode("4099")
    ngx.say(it.node, " ", it.sequence)
end
-- The first moment of the calendar, and the one before.
local early = { time_bits = 42, node_bits = 0, sequence_bits = 8, epoch = -62167219200001 }
local e = snowflake.new { layout = early, node = 0, state = "DIR/early" }
ngx.say(tostring(e:decode("0").time), " ", e:decode("256").time)
local long = { time_bits = 9, node_bits = 0, sequence_bits = 54, unit_ms = 2^32, epoch = "2020-01-01" }
local g = snowflake.new { layout = long, node = 0, state = "DIR/long" }
for _, id in ipairs { "9007199254740992", "9007199254740993" } do
    ngx.say(type(g:decode(id).sequence), " ", tostring(g:decode(id).sequence))
end
--- response_body
snowflake 1565422103621 2019-08-10T07:28:23.621Z 1 0 0 1
snowflake 1565422103621 2019-08-10T07:28:23.621Z 1 0 0 1
snowflake 3487858230208 2080-07-10T17:30:30.208Z 1023 4095 31 31
snowflake 1288834974657 2010-11-04T01:42:54.657Z 32 0 1 0
snowflake,random_start=9 1288834974657 2010-11-04T01:42:54.657Z 33 0 1 1
leaf 1565422103621 2019-08-10T07:28:23.621Z 1 0 nil nil
snowflake53 1420070400000 2015-01-01T00:00:00.000Z 0 0 nil nil
sonyflake 1409529600000 2014-09-01T00:00:00.000Z 0 0 nil nil
sonyflake 1409529600070 2014-09-01T00:00:00.070Z 258 3 nil nil
uid 1463673609000 2016-05-19T16:00:09.000Z 5 6 nil nil
custom 1577836800002 2020-01-01T00:00:00.002Z 0 1 nil nil
custom 1577836800002 2020-01-01T00:00:00.002Z 0 1 nil nil
1 3
1 3
3 4
nil 0000-01-01T00:00:00.000Z
number 9.007199254741e+15
cdata 9007199254740993LL



=== TEST 3: an invalid id returns nil and the reason; a wrong type is an error
--- lua
local snowflake = require "resty.txid.snowflake"
local short = { time_bits = 42, node_bits = 0, sequence_bits = 8 }
local g = snowflake.new { layout = short, node = 0, state = "DIR/no-id" }
for _, id in ipairs { "", "x", "-1", "1 ", "0x10", "1e3", "9223372036854775808", ("1"):rep(1000),
                      "1\n2026/11/21 [error] \0\255", "1125899906842624", 1125899906842624LL, -1LL,
                      0xffffffffffffffffULL } do
    local it, err = g:decode(id)
    ngx.say(it, " ", err)
end
for _, id in ipairs { 1, true, {}, ngx.null, require("ffi").typeof("int64_t") } do
    local ok, err = pcall(function() return g:decode(id) end)
    ngx.say(ok, " ", (err:gsub("^.-:%d+: ", "")))
end
local ok, err = pcall(function() return g:decode() end)
ngx.say(ok, " ", (err:gsub("^.-:%d+: ", "")))

local caller = debug.getinfo(1, "S").short_src
for _, name in ipairs { "next", "decode", "stats" } do
    for _, self in ipairs { false, {}, "1" } do
        local ok, err = pcall(function() local value = g[name](self, "1") return value end)
        assert(not ok and err:sub(1, #caller) == caller, err)
        ngx.say((err:gsub("^.-:%d+: ", "")))
    end
end
--- response_body
nil '' is not a 64-bit id in decimal
nil 'x' is not a 64-bit id in decimal
nil '-1' is not a 64-bit id in decimal
nil '1 ' is not a 64-bit id in decimal
nil '0x10' is not a 64-bit id in decimal
nil '1e3' is not a 64-bit id in decimal
nil '9223372036854775808' is not a 64-bit id in decimal
nil '1111111111111111111111111111111111111111' is not a 64-bit id in decimal
nil '1\x0a2026/11/21 [error] \x00\xff' is not a 64-bit id in decimal
nil '1125899906842624' has more bits than the layout
nil '1125899906842624' has more bits than the layout
nil '-1' has more bits than the layout
nil '18446744073709551615' has more bits than the layout
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got number)
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got boolean)
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got table)
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got userdata)
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got ctype<int64_t>)
false bad argument #1 to 'decode' (string, int64_t or uint64_t expected, got nil)
bad self to 'next' (a generator expected, as in generator:next())
bad self to 'next' (a generator expected, as in generator:next())
bad self to 'next' (a generator expected, as in generator:next())
bad self to 'decode' (a generator expected, as in generator:decode())
bad self to 'decode' (a generator expected, as in generator:decode())
bad self to 'decode' (a generator expected, as in generator:decode())
bad self to 'stats' (a generator expected, as in generator:stats())
bad self to 'stats' (a generator expected, as in generator:stats())
bad self to 'stats' (a generator expected, as in generator:stats())



=== TEST 4: wrong options are errors at the call of new(), and name the option
--- lua
local snowflake = require "resty.txid.snowflake"
local function say(options)
    local line
    local ok, err = pcall(function()
        line = debug.getinfo(1, "l").currentline + 1
        local made = snowflake.new(options)
        return made
    end)
    assert(err:find(":" .. line .. ": ", 1, true), err)
    ngx.say(ok, " ", (err:gsub("^content_by_lua%b():%d+: ", "")))
end
local function layout(given)
    say { layout = given, node = 1, state = "DIR/wrong" }
end
local function node(given)
    say { layout = "snowflake", node = given, state = "DIR/wrong" }
end

say(nil)
say("snowflake")
say {}
say { layout = "snowflake", node = 1, state = "DIR/wrong", drift = 1 }
say { layout = "snowflake", node = 1 }
say { layout = "snowflake", node = 1, state = 1 }
say { layout = "snowflake", node = 1, state = "wrong" }
say { layout = "snowflake", node = 1, state = "" }
say { layout = "snowflake", node = 1, state = "DIR/a\0b" }
say { layout = "snowflake", node = 1, state = "DIR/wrong", max_drift = "10" }
say { layout = "snowflake", node = 1, state = "DIR/wrong", max_drift = -1 }
say { layout = "snowflake", node = 1, state = "DIR/wrong", max_drift = 0/0 }
say { layout = "snowflake", node = 1, state = "DIR/wrong", max_drift = 1e13 }
ngx.say()
layout("twitter")
layout("\0snowflake")
layout(1)
layout {}
layout { time_bits = 41, node_bits = 10, sequence_bits = 12, order = "node" }
layout { time_bits = 41, node_bits = 10, sequence_bits = 12, bits = 3 }
layout { time_bits = "41", node_bits = 10, sequence_bits = 12 }
layout { time_bits = 41, node_bits = 10 }
layout { time_bits = 0, node_bits = 10, sequence_bits = 12 }
layout { time_bits = 41.5, node_bits = 10, sequence_bits = 12 }
layout { time_bits = 41, node_bits = 11, sequence_bits = 12 }
layout { time_bits = 41, node_bits = 10, sequence_bits = 12, unit_ms = 0 }
layout { time_bits = 41, node_bits = 10, sequence_bits = 12, epoch = "2020-02-30" }
layout { time_bits = 41, node_bits = 10, sequence_bits = 12, random_start = 4097 }
ngx.say()
node(nil)
node(true)
node(1024)
node(-1)
node(1.5)
node(2^53 - 1)
node("web-12")
node("1\0")
node("env:TXID_NO_SUCH_NODE")
node(function() return nil end)
node(function() return 4096 end)

-- Sonyflake has a node by default, unless this host has no address for it.
local made, err = pcall(snowflake.new, { layout = "sonyflake", state = "DIR/sonyflake-of-ip" })
ngx.say("sonyflake: ", made or err:find("this machine has no private IPv4 address", 1, true) ~= nil)
--- response_body
false bad argument #1 to 'new' (table expected, got nil)
false bad argument #1 to 'new' (table expected, got string)
false bad option 'layout' to 'new' (string or table expected, got nil)
false bad option 'drift' to 'new' (unknown option; the options are layout, max_drift, node, state)
false bad option 'state' to 'new' (without it, workers share a generator only if it is made in init_by_lua when nginx starts; make it there, or give a file: state = "/var/lib/txid/orders")
false bad option 'state' to 'new' (string expected, got number)
false bad option 'state' to 'new' (absolute path expected, got 'wrong')
false bad option 'state' to 'new' (absolute path expected, got '')
false bad option 'state' to 'new' (text without a NUL expected)
false bad option 'max_drift' to 'new' (number of seconds expected, got string)
false bad option 'max_drift' to 'new' (seconds from 0 on expected, got -1)
false bad option 'max_drift' to 'new' (seconds from 0 on expected, got nan)
false bad option 'max_drift' to 'new' (seconds from 0 on expected, got 10000000000000)

false cannot make a generator: layout 'twitter' is not one of snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, mastodon, nor a list such as time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01
false bad option 'layout' to 'new' (text without a NUL expected)
false bad option 'layout' to 'new' (string or table expected, got number)
false cannot make a generator: layout '' is not one of snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, mastodon, nor a list such as time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01
false bad option 'layout.order' to 'new' ('time,node,sequence' or 'time,sequence,node' expected, got node)
false bad option 'layout.bits' to 'new' (unknown option; the options are epoch, node_bits, order, random_start, sequence_bits, time_bits, unit_ms)
false bad option 'layout.time_bits' to 'new' (number expected, got string)
false cannot make a generator: layout has no sequence_bits
false cannot make a generator: layout has time_bits '0', not an integer from 1 to 63
false cannot make a generator: layout has time_bits '41.5', not an integer from 1 to 63
false cannot make a generator: layout has 64 bits of time, node and sequence, more than the 63 of an id
false cannot make a generator: layout has unit_ms '0', not an integer from 1 to 4294967296
false cannot make a generator: layout has epoch '2020-02-30', not an integer from -9007199254740992 to 9007199254740992 or a date such as 2014-09-01T00:00:00Z
false cannot make a generator: layout has random_start '4097', not an integer from 1 to 4096

false bad option 'node' to 'new' (number, string or function that returns one expected, got nil)
false bad option 'node' to 'new' (number, string or function that returns one expected, got boolean)
false cannot make a generator: node '1024' is not an integer from 0 to 1023, the layout's range
false cannot make a generator: node '-1' is not an integer from 0 to 1023, the layout's range
false cannot make a generator: node '1.5' is not an integer from 0 to 1023, the layout's range
false cannot make a generator: node '9007199254740991' is not an integer from 0 to 1023, the layout's range
false cannot make a generator: node 'web-12' is not an integer from 0 to 1023, the layout's range
false bad option 'node' to 'new' (text without a NUL expected)
false cannot make a generator: node: the environment variable 'TXID_NO_SUCH_NODE' is not set
false bad option 'node' to 'new' (number, string or function that returns one expected, got nil)
false cannot make a generator: node '4096' is not an integer from 0 to 1023, the layout's range
sonyflake: true



=== TEST 5: the node from the environment, from a function that is called once, and from a pod's name
--- main_config
env TXID_TEST_NODE=42;
--- lua
local snowflake = require "resty.txid.snowflake"
local calls = 0
local function seven()
    calls = calls + 1
    return 7
end
local function node_of(node, state)
    local g = snowflake.new { layout = "snowflake", node = node, state = "DIR/" .. state }
    g()
    return g:decode(g()).node
end
ngx.say(node_of("env:TXID_TEST_NODE", "env"), " ", node_of(seven, "function"), " ", calls)

local name = io.open("/proc/sys/kernel/hostname"):read()
local ordinal = name:match("%-(%d+)$")
local ok, node = pcall(node_of, "hostname", "hostname")
if ordinal and tonumber(ordinal) < 1024 then
    ngx.say(ok and node == tonumber(ordinal))
else
    ngx.say(not ok and node:find("host name", 1, true) and true)
end

-- Both results are right: the machine may have no private address.
local ok, node = pcall(node_of, "ip", "ip")
ngx.say(ok and type(node) == "number" or node:find("private IPv4 address", 1, true) ~= nil)
--- response_body
42 7 1
true
true



=== TEST 6: refused files are named with their path and the reason
--- lua
local snowflake = require "resty.txid.snowflake"
local function say(layout, node, path)
    local ok, err = pcall(snowflake.new, { layout = layout, node = node, state = path })
    ngx.say(ok, " ", ok or (err:gsub("^cannot make a generator: ", ""):gsub("/%S*/txid%-state%-[^/ ]+", "there")))
end
say("snowflake", 3, "DIR/of-3")
say("snowflake", 4, "DIR/of-3")
say("sonyflake", 3, "DIR/of-3")
os.execute("ln -s DIR/of-3 DIR/link; mkfifo DIR/fifo; printf x > DIR/short; "
           .. "(printf y; tail -c +2 DIR/of-3) > DIR/damaged")
say("snowflake", 3, "DIR/link")
say("snowflake", 3, "DIR/fifo")
say("snowflake", 3, "DIR/short")
say("snowflake", 3, "DIR/damaged")
say("snowflake", 3, "DIR")
say("snowflake", 3, "DIR/of-3/below")
--- response_body
true true
false there/of-3 belongs to node 3, not to node 4
false there/of-3 belongs to the layout time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=1288834974657, not to time_bits=39,sequence_bits=8,node_bits=16,unit_ms=10,epoch=1409529600000
false there/link is a symbolic link; give the path that it leads to
false there/fifo is not a regular file
false there/short has 1 bytes, but a state has 4096; it was left unchanged
false there/damaged is damaged or not a state: its first 8 bytes are wrong; it was left unchanged. Take another file and another node, or remove it once the clock is past all ids made with it
false there is not a regular file
false cannot open directory there/of-3: Not a directory (os error 20)



=== TEST 7: stats count, and max_drift bounds what is borrowed
--- lua
local snowflake = require "resty.txid.snowflake"
-- One id a second.
local layout = { time_bits = 35, node_bits = 0, sequence_bits = 0, unit_ms = 1000 }
local g = snowflake.new { layout = layout, node = 0, state = "DIR/slow", max_drift = 2 }
local made, err = 0
repeat
    local id
    id, err = g()
    made = made + (id and 1 or 0)
until not id
-- A new second may have begun in the meantime.
ngx.say(made == 3 or made == 4)
ngx.say((err:gsub("%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ", "TIME")))
local _, again = g:next()
ngx.say(again == err or again:sub(1, 30) == err:sub(1, 30))
local stats = g:stats()
ngx.say(stats.issued, " ", stats.refused, " ", stats.clock_steps, " ", stats.borrowed_ms > 0)
local two = snowflake.new { layout = layout, node = 0, state = "DIR/slow", max_drift = 0.5 }
ngx.say(two(), " ", two:stats().issued, " ", two:stats().refused, " ", two:stats().borrowed_ms > 0,
        " ", two:stats().node)
for _, layout in ipairs { "snowflake", "snowflake53", { time_bits = 62, node_bits = 0, sequence_bits = 1 } } do
    local name = type(layout) == "string" and layout or "long"
    local ends_ms = snowflake.new { layout = layout, node = 0, state = "DIR/ends-" .. name }:stats().layout_ends_ms
    ngx.say(type(ends_ms), " ", tostring(ends_ms + 0LL))
end
--- response_body_like chop
^true
all ids of the layout up to TIME are used up, and the clock reads TIME
true
[34] 2 0 true
nil 0 1 true 0
number 3487858230208LL
number 4168849469439LL
cdata 4611686018427387903LL
$



=== TEST 8: where the layout ends, and where it begins
--- lua
local snowflake = require "resty.txid.snowflake"
local function say(epoch, name)
    local layout = { time_bits = 10, node_bits = 0, sequence_bits = 4, unit_ms = 1000, epoch = epoch }
    local id, err = snowflake.new { layout = layout, node = 0, state = "DIR/" .. name }()
    ngx.say(id, " ", (err:gsub("clock reads %S+ and", "clock reads TIME, and")))
end
say("2020-01-01", "ended")
say("2120-01-01", "not-begun")
--- response_body
nil the clock reads TIME, and the layout ended at 2020-01-01T00:17:03.999Z
nil the clock reads TIME, and the layout begins at 2120-01-01T00:00:00.000Z



=== TEST 9: a generator that nobody has any more is closed
--- lua
local ffi = require "ffi"
local gc, closed = ffi.gc, 0
ffi.gc = function(handle, close)
    return gc(handle, function(dropped)
        closed = closed + 1
        close(dropped)
    end)
end
local snowflake = require "resty.txid.snowflake"
for node = 1, 5 do
    snowflake.new { layout = "snowflake", node = node, state = "DIR/dropped-" .. node }()
end
ffi.gc = gc
collectgarbage()
collectgarbage()
ngx.say(closed)
--- response_body
5



=== TEST 10: hot functions are compiled
--- lua
local snowflake = require "resty.txid.snowflake"
local trace = require "support.trace"
local g = snowflake.new { layout = "snowflake", node = 1, state = "DIR/compiled" }
ngx.say("call: ", trace(function() return g() end))
ngx.say("next: ", trace(function() return g:next() end))
local slow = { time_bits = 35, node_bits = 0, sequence_bits = 0, unit_ms = 1000 }
local refused = snowflake.new { layout = slow, node = 0, state = "DIR/refused", max_drift = 0 }
refused()
ngx.say("refused: ", trace(function() return refused() end))
--- response_body
call: compiled
next: compiled
refused: compiled
