# resty.txid.maker and resty.txid.inspect: any format by its name.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

run_tests();

__DATA__

=== TEST 1: ids of each format, of this moment and of a given one, are read back by inspect
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"

local function reading_of(name, id)
    for _, reading in ipairs(assert(inspect(id))) do
        if reading.format == name then
            return reading
        end
    end
    error(id .. " is no " .. name)
end

for _, name in ipairs { "txid", "uuid_v7", "flake", "unique_id", "trace_id", "xid", "ulid", "ksuid" } do
    local make = maker.new(name)
    local reading = reading_of(name, make())
    assert(math.abs(reading.ms - ngx.now() * 1000) < 2000, name)
    assert(not reading.unlikely, name)
    local stamped = make(1522545688552)
    ngx.say(name, " ", #stamped, " ", reading_of(name, stamped).time)
end
for _, name in ipairs { "nanoid", "uuid_v4", "otel_trace_id", "traceparent" } do
    local id = maker.new(name)()
    local reading = reading_of(name, id)
    ngx.say(name, " ", #id, " ", reading.ms, " ", reading.time)
end
--- response_body
txid 20 2018-04-01T01:21:28.552Z
uuid_v7 36 2018-04-01T01:21:28.552Z
flake 22 2018-04-01T01:21:28.552Z
unique_id 27 2018-04-01T01:21:28.000Z
trace_id 32 2018-04-01T01:21:28.552Z
xid 20 2018-04-01T01:21:28.000Z
ulid 26 2018-04-01T01:21:28.552Z
ksuid 27 2018-04-01T01:21:28.000Z
nanoid 21 nil nil
uuid_v4 36 nil nil
otel_trace_id 32 nil nil
traceparent 55 nil nil



=== TEST 2: a text has all of its readings, the likelier first
--- lua
local inspect = require "resty.txid.inspect"
local function show(text)
    local found, err = inspect(text)
    if not found then
        ngx.say(err)
        return
    end
    local shown = {}
    for i, it in ipairs(found) do
        shown[i] = (it.layout or it.format) .. " " .. tostring(it.time) .. (it.unlikely and " (unlikely)" or "")
    end
    ngx.say(table.concat(shown, ", "))
end
-- An xid of now, which a txid of next year would be as well, a txid of 2018 and a snowflake.
show(require("resty.txid.maker").new("xid")())
show("b2fr5nvqg00000000000")
show("1160090501362225152")
show("nothing\n")
show("")
--- response_body_like
^xid \S+, txid \S+ \(unlikely\), pushid \S+ \(unlikely\)
txid 2018-04-01T01:21:28.554Z, xid 2017-02-12T00:57:03.000Z, pushid 7413-\S+ \(unlikely\)
(?=[^\n]*snowflake 2019-08-10T07:28:23.621Z)[^\n]*sonyflake \S+[^\n]*
'nothing\\x0a' is no id of a known format
'' is no id of a known format$



=== TEST 3: what the maker needs, and what is wrong
--- lua
local maker = require "resty.txid.maker"
local function try(...)
    local _, err = pcall(maker.new, ...)
    ngx.say((err:gsub("the formats are .*", "...")))
end
try()
try("ksuid", "x")
try("cuid2")
try("ksuid", { node = 17 })
try("snowflake", { node = {} })
try("snowflake", { node = 17 })
try("snowflake", { node = 1024, state = "/tmp/x" })
try("snowflake", { node = 9007199254740991, state = "/tmp/x" })
try("snowflake", { [1] = "node=17" })

local ok, err = pcall(maker.new "ksuid", "x")
ngx.say(ok, " ", err)
ok, err = pcall(maker.new "nanoid", 7)
ngx.say(ok, " ", err)
local _, where = pcall(function() maker.new("x") end)
ngx.say(where:match(":%d+: resty.txid.maker: ") ~= nil)
local strong, caller = maker.new "strong", debug.getinfo(1, "S").short_src
for _, value in ipairs { {}, 0/0, 1/0, 2^53 + 2 } do
    ok, err = pcall(function() local it = strong(value) return it end)
    assert(not ok and err:sub(1, #caller) == caller, err)
    ngx.say((err:gsub("^.-:%d+: ", "")))
end
--- response_body
bad argument #1 to 'new' (string expected, got nil)
bad argument #2 to 'new' (table expected, got string)
resty.txid.maker: "cuid2" is not a format; ...
resty.txid.maker: ksuid takes no options, but got "node=17"
bad option 'node' to 'new' (string or number expected, got table)
resty.txid.maker: state= is missing: give the path of a file for all processes with this node
resty.txid.maker: node '1024' is not an integer from 0 to 1023, the layout's range
resty.txid.maker: node '9007199254740991' is not an integer from 0 to 1023, the layout's range
resty.txid.maker: "1=node=17" is not an option of snowflake, which takes node=, state=, layout=
false bad argument #1 to 'ksuid' (number, int64_t or uint64_t expected, got string)
false ids of this format are not stamped with a given time
true
bad argument #1 to 'strong' (number, int64_t or uint64_t expected, got table)
bad argument #1 to 'strong' (a number from -2^53 to 2^53 expected, got nan)
bad argument #1 to 'strong' (a number from -2^53 to 2^53 expected, got inf)
bad argument #1 to 'strong' (a number from -2^53 to 2^53 expected, got 9007199254740994)



=== TEST 4: a format with options, which may refuse
--- lua
local maker = require "resty.txid.maker"
local next_order = maker.new("snowflake", { node = 17, state = "DIR/orders" })
local generator = require("resty.txid.snowflake").new { layout = "snowflake", node = 17, state = "DIR/orders" }
local first, second = next_order(), generator()
ngx.say(generator:decode(first).node, " ", #first == #second and first < second)

local other = maker.new("snowflake", { node = 17, state = "DIR/53", layout = "snowflake53" })
ngx.say(tonumber(other()) < 2^53)

-- More ids than ten seconds ahead of the clock have.
local id, err
repeat id, err = other() until not id
ngx.say(id, " ", err)
--- response_body_like
^17 true
true
nil all ids of the layout up to \S+ are used up, and the clock reads \S+



=== TEST 5: ids of a worker increase
--- lua
local new = require("resty.txid.maker").new
local uuid = new "uuid_v7"
for _, make in ipairs {
    new "ulid", new "flake", uuid, function() return uuid(1522545688552) end, new "trace_id",
    new("trace_host_id", { address = "10.0.0.7" }),
} do
    local before = ""
    for _ = 1, 200000 do
        local id = make()
        assert(before < id, id)
        before = id
    end
end
ngx.say("increasing")
--- response_body
increasing



=== TEST 6: configure makes ids of each
--- lua
local request = require "resty.txid.request"
for _, name in ipairs { "ulid", "ksuid", "xid", "nanoid", "uuid_v7", "flake", "sofa" } do
    request.configure { format = name }
    require "support.anew"()
    ngx.say(name, " ", #request.id())
end
--- response_body_like
^ulid 26
ksuid 27
xid 20
nanoid 21
uuid_v7 36
flake 22
sofa \d\d$



=== TEST 7: makers of two formats at once compile, each for itself
--- lua
local maker = require "resty.txid.maker"
local trace = require "support.trace"
local ulid, nanoid = maker.new "ulid", maker.new "nanoid"
ngx.say(trace(function() return ulid() .. nanoid() end))
ngx.say(#ulid(), " ", #nanoid())
--- response_body
compiled
26 21



=== TEST 8: what an id holds as a named format, and what is wrong with it
--- lua
local inspect = require "resty.txid.inspect"
local function show(...)
    local found, err = inspect(...)
    local names = {}
    for name, value in pairs(found or {}) do
        names[#names + 1] = name .. "=" .. tostring(value)
    end
    table.sort(names)
    ngx.say(err or table.concat(names, " "))
end
show("1160090501362225152", "snowflake")
show("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "traceparent")
show("9m4e2mr0ui3e8a215n4g", "xid")
show("V1StGXR8_Z5jdHi6B-myT", "nanoid")
show("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuid_v4")
show("4om9qi54la8ffr4bd9s1", "txid")

local caller = debug.getinfo(1, "S").short_src
for _, given in ipairs { { 5, "xid" }, { "x", 5 }, { "x", "xid", "0" }, { "x", "xid", 0/0 }, { "x", "strong" } } do
    local ok, err = pcall(function() local it = inspect(given[1], given[2], given[3]) return it end)
    assert(not ok and err:sub(1, #caller) == caller, err)
    ngx.say((err:gsub("^.-:%d+: ", ""):gsub("these are .*", "...")))
end
--- response_body
ms=1565422103621 node=1 sequence=0 time=2019-08-10T07:28:23.621Z
random=false sampled=true span_id=00f067aa0ba902b7 trace_id=4bf92f3577b34da6a3ce929d0e0e4736
counter=4271561 machine=60f486 ms=1300816219000 pid=58408 time=2011-03-22T17:50:19.000Z

the UUID has another version
character 20 is '1', but the last one must be '0' or 'g'
bad argument #1 to 'inspect' (string expected, got number)
bad argument #2 to 'inspect' (string expected, got number)
bad argument #3 to 'inspect' (number, int64_t or uint64_t expected, got string)
bad argument #3 to 'inspect' (a number from -2^53 to 2^53 expected, got nan)
resty.txid.inspect: "strong" is not a format that is read; ...



=== TEST 9: Nano IDs of a length and an alphabet, TypeIDs with a prefix, and names with a dash
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local function show(id, pattern)
    ngx.say(#id, " ", id:find(pattern) ~= nil)
end
show(maker.new("nanoid", { length = 10 })(), "^[%w_-]+$")
show(maker.new("nanoid", { length = 90, alphabet = "abc" })(), "^[abc]+$")
show(maker.new "nanoid(alphabet=0123456789,length=12)"(), "^%d+$")
show(maker.new "nanoid(alphabet=a,b)"(), "^[a,b]+$")
local user = maker.new("typeid", { prefix = "user" })(1522545688552)
ngx.say(inspect(user, "typeid").prefix, " ", inspect(user, "typeid").time)
show(maker.new("typeid", { prefix = ("p"):rep(63) })(), "^p+_[0-7][0-9a-hjkmnp-tv-z]+$")
show(maker.new "uuid-v7"(), "^[%x-]+$")
ngx.say(inspect("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuid-v7").time)
for _, spec in ipairs { "nanoid(length=0)", "nanoid(length=91)", "nanoid(length=x)", "nanoid(alphabet=aa)", "typeid(prefix=_a)", "nanoid(size=5)",
                        "nanoid(length=1,length=2)", "uuid_v4(length=5)" } do
    ngx.say((select(2, pcall(maker.new, spec))))
end
--- response_body
10 true
90 true
12 true
21 true
user 2018-04-01T01:21:28.552Z
90 true
36 true
2022-02-22T19:22:22.000Z
resty.txid.maker: length "0" is not a number from 1 to 90
resty.txid.maker: length "91" is not a number from 1 to 90
resty.txid.maker: length "x" is not a number from 1 to 90
resty.txid.maker: alphabet "aa" is not 2 to 94 different characters of ASCII, without spaces
resty.txid.maker: prefix "_a" is not 1 to 63 characters of a-z_, without _ at either end
resty.txid.maker: "size=5" is not an option of nanoid, which takes length=, alphabet=
resty.txid.maker: length= was given twice
resty.txid.maker: uuid_v4 takes no options, but got "length=5"
