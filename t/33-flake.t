# resty.txid.flake, and resty.txid.unique_id.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

no_long_string();
run_tests();

__DATA__

=== TEST 1: decode returns the time, the node and the sequence of a flake
--- config
location = /t {
    content_by_lua_block {
        local flake = require "resty.txid.flake"
        local it = flake.decode(flake.flake(1522545688552, "02:42:AC:11:00:02"))
        ngx.say(it.ms, " ", it.time, " ", it.node)
        it = flake.decode(flake.flake(nil, "02:42:ac:11:00:02"))
        ngx.say(math.abs(it.ms - ngx.now() * 1000) < 2, " ", it.node)

        -- Without a node: one that is no network card's.
        it = flake.decode(flake.flake())
        ngx.say(bit.band(tonumber(it.node:sub(1, 2), 16), 1))
        local next_one = flake.decode(flake.flake())
        ngx.say(next_one.node == it.node, " ", next_one.sequence - it.sequence)

        it = flake.decode("7n42DGM5Tflk9n8mt7Fhc7")
        ngx.say(it.ms == 2^64, " ", it.node, " ", it.sequence)

        -- Two nodes in turn, and then a text that is none.
        local function node_of(node) return flake.decode(flake.flake(nil, node)).node end
        local a, b = "02:42:ac:11:00:0a", "02:42:ac:11:00:0b"
        ngx.say(node_of(a) == a, " ", node_of(b) == b, " ", node_of(a) == a, " ", pcall(node_of, "ff:ff"), " ", node_of(a) == a)
        -- The first one of all, from above.
        ngx.say(node_of("02:42:AC:11:00:02"))
    }
}
--- response_body
1522545688552 2018-04-01T01:21:28.552Z 02:42:ac:11:00:02
true 02:42:ac:11:00:02
1
true 1
true ff:ff:ff:ff:ff:ff 65535
true true true false true
02:42:ac:11:00:02



=== TEST 2: flakes of a worker sort as they were made
--- config
location = /t {
    content_by_lua_block {
        local flake = require("resty.txid.flake").flake
        local before = ""
        for _ = 1, 200000 do
            local id = flake()
            assert(#id == 22 and before < id, id)
            before = id
        end
        ngx.say("sorted")
    }
}
--- response_body
sorted



=== TEST 3: decode returns the fields of a unique id of each length
--- config
location = /t {
    content_by_lua_block {
        local unique_id = require "resty.txid.unique_id"
        local it = unique_id.decode(unique_id.short(1522545688552, "10.209.52.143"))
        ngx.say(it.ms, " ", it.time, " ", it.address, " ", it.pid == ngx.worker.pid(), " ", it.random)
        it = unique_id.decode(unique_id.long(1522545688552))
        ngx.say(it.ms, " ", it.time, " ", it.address, " ", it.pid, " ", #it.random)
        local next_one = unique_id.decode(unique_id.long())
        ngx.say(next_one.random == it.random, " ", (next_one.counter - it.counter) % 65536)
        for _, make in ipairs { unique_id.long, function() return unique_id.short(nil, "10.0.0.7") end } do
            ngx.say(ngx.now() - unique_id.decode(make()).ms / 1000 < 1.002)
        end
    }
}
--- response_body
1522545688000 2018-04-01T01:21:28.000Z 10.209.52.143 true nil
1522545688000 2018-04-01T01:21:28.000Z nil nil 20
true 1
true
true



=== TEST 4: the host's own address, or an error that says what to do
--- config
location = /t {
    content_by_lua_block {
        local unique_id = require "resty.txid.unique_id"
        local ok, made = pcall(unique_id.short)
        if ok then
            ngx.say(unique_id.decode(made).address ~= "127.0.0.1")
        else
            ngx.say(made:find("found no address of this host; give one such as \"10.0.0.7\" as argument #2", 1, true)
                    ~= nil)
        end
    }
}
--- response_body
true



=== TEST 5: a wrong argument is an error at the caller's level
--- config
location = /t {
    content_by_lua_block {
        local caller = debug.getinfo(1, "S").short_src
        local function say_error(module, name, ...)
            local call = require("resty.txid." .. module)[name]
            local arguments, count = { ... }, select("#", ...)
            local ok, err = pcall(function() local id = call(unpack(arguments, 1, count)) return id end)
            assert(not ok and err:sub(1, #caller) == caller, err)
            ngx.say((err:gsub("^.-:%d+: ", "")))
        end
        say_error("flake", "flake", "0")
        say_error("flake", "flake", nil, "fd00::7")
        say_error("flake", "flake", nil, false)
        say_error("flake", "decode", 5)
        say_error("unique_id", "long", {})
        say_error("unique_id", "short", {}, "10.0.0.7")
        say_error("unique_id", "short", nil, "fd00::7")
        say_error("unique_id", "short", nil, "")
        say_error("unique_id", "short", nil, 5)
        say_error("unique_id", "decode")
    }
}
--- response_body
bad argument #1 to 'flake' (number, int64_t or uint64_t expected, got string)
bad argument #2 to 'flake' (a MAC address such as "02:42:ac:11:00:02" expected, got "fd00::7")
bad argument #2 to 'flake' (a MAC address such as "02:42:ac:11:00:02" expected, got boolean)
bad argument #1 to 'decode' (string expected, got number)
bad argument #1 to 'long' (number, int64_t or uint64_t expected, got table)
bad argument #1 to 'short' (number, int64_t or uint64_t expected, got table)
bad argument #2 to 'short' (an address such as "10.0.0.7" expected, got "fd00::7")
bad argument #2 to 'short' (an address such as "10.0.0.7" expected, got "")
bad argument #2 to 'short' (an address such as "10.0.0.7" expected, got number)
bad argument #1 to 'decode' (string expected, got nil)
