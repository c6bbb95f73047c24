# Flakes and UNIQUE_IDs: their parts, their options and their order.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: a flake holds the time, the node and the sequence
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local flake = maker.new "flake"
local of_node = maker.new("flake", { node = "02:42:AC:11:00:02" })
local it = inspect(of_node(1522545688552), "flake")
ngx.say(it.ms, " ", it.time, " ", it.node)
it = inspect(of_node(), "flake")
ngx.say(math.abs(it.ms - ngx.now() * 1000) < 2, " ", it.node)

-- Without a node: one that is no network card's.
it = inspect(flake(), "flake")
ngx.say(bit.band(tonumber(it.node:sub(1, 2), 16), 1))
local next_one = inspect(flake(), "flake")
ngx.say(next_one.node == it.node, " ", next_one.sequence - it.sequence)

it = inspect("7n42DGM5Tflk9n8mt7Fhc7", "flake")
ngx.say(it.ms == 2^63, " ", it.node, " ", it.sequence)
--- response_body
1522545688552 2018-04-01T01:21:28.552Z 02:42:ac:11:00:02
true 02:42:ac:11:00:02
1
true 1
true ff:ff:ff:ff:ff:ff 65535



=== TEST 2: the parts of a UNIQUE_ID of each length
--- lua
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local long, short = maker.new "unique_id", maker.new("unique_id_short", { address = "10.209.52.143" })
local it = inspect(short(1522545688552), "unique_id_short")
ngx.say(it.ms, " ", it.time, " ", it.address, " ", it.pid == ngx.worker.pid(), " ", it.random)
it = inspect(long(1522545688552), "unique_id")
ngx.say(it.ms, " ", it.time, " ", it.address, " ", it.pid, " ", #it.random)
local next_one = inspect(long(), "unique_id")
ngx.say(next_one.random == it.random, " ", (next_one.counter - it.counter) % 65536)
ngx.say(ngx.now() - next_one.ms / 1000 < 1.002, " ",
        ngx.now() - inspect(short(), "unique_id_short").ms / 1000 < 1.002)
--- response_body
1522545688000 2018-04-01T01:21:28.000Z 10.209.52.143 true nil
1522545688000 2018-04-01T01:21:28.000Z nil nil 20
true 1
true true



=== TEST 3: the host's own address, or an error that says what to do
--- lua
local ok, made = pcall(require("resty.txid.maker").new, "unique_id_short")
if ok then
    ngx.say(require "resty.txid.inspect"(made(), "unique_id_short").address ~= "127.0.0.1")
else
    ngx.say(made:find("this host has no address of its own: give one with address=", 1, true) ~= nil)
end
--- response_body
true



=== TEST 4: an option that is wrong
--- lua
local maker = require "resty.txid.maker"
local function try(format, option, value)
    ngx.say((select(2, pcall(maker.new, format, { [option] = value })):gsub("^.-maker: ", "")))
end
try("flake", "node", "fd00::7")
try("flake", "node", 5)
try("uuid_v1", "node", "02:42:ac:11:00")
try("uuid_v1", "node", "02-42-ac-11-00-02")
try("uuid_v1", "node", require("ffi").new("int"))
try("unique_id_short", "address", "fd00::7")
try("unique_id_short", "address", "")
try("trace_host_id", "address", "nowhere")
try("sofa", "address", "fd00::7")
try("trace_id", "epoch", "soon")
try("trace_id", "node", "17")
--- response_body
node "fd00::7" is not a MAC address such as 02:42:ac:11:00:02
node "5" is not a MAC address such as 02:42:ac:11:00:02
node "02:42:ac:11:00" is not a MAC address such as 02:42:ac:11:00:02
node "02-42-ac-11-00-02" is not a MAC address such as 02:42:ac:11:00:02
bad option 'node' to 'new' (string or number expected, got cdata)
address "fd00::7" is not an IP address that the format can hold
address "" is not an IP address that the format can hold
address "nowhere" is not an IP address that the format can hold
address "fd00::7" is not an IP address that the format can hold
epoch "soon" is neither a day such as 2020-01-01 nor milliseconds
"node=17" is not an option of trace_id, which takes epoch=
