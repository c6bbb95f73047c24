# resty.txid.uuid: versions 1, 4 and 7 of RFC 9562, as lua-resty-jit-uuid has them.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the text of each version is that of RFC 9562, in lower case
--- lua
local uuid = require "resty.txid.uuid"
for version, id in pairs { [1] = uuid.v1(), [4] = uuid.v4(), [7] = uuid.v7() } do
    local digits = "^%x%x%x%x%x%x%x%x%-%x%x%x%x%-" .. version .. "%x%x%x%-[89ab]%x%x%x%-"
    assert(id:match(digits .. ("%x"):rep(12) .. "$") and id == id:lower(), id)
end
ngx.say(uuid.v7(1645557742000):sub(1, 15), " ", uuid.v7(-1):sub(1, 15))
local function v1(node) return require("resty.txid.maker").new("uuid_v1", { node = node })() end
ngx.say(v1("02:42:AC:11:00:02"):sub(-12), " ", v1("02:42:ac:11:00:03"):sub(-12))
--- response_body
017f22e2-79b0-7 ffffffff-ffff-7
0242ac110002 0242ac110003



=== TEST 2: decode returns the fields of a UUID, in upper and lower case
--- lua
local uuid = require "resty.txid.uuid"
for _, text in ipairs { "919108f7-52d1-4320-9bac-f847db4148a8", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
                        "e677d21f-dbff-7000-8000-000000000000", "e677d21f-dc00-7000-8000-000000000000" } do
    local it = uuid.decode(text)
    ngx.say(it.version, " ", it.variant, " ", it.ms, " ", it.time)
end
for _, name in ipairs { "v1", "v7" } do
    local it = uuid.decode(uuid[name]())
    assert(math.abs(it.ms - ngx.now() * 1000) < 2, name)
end
--- response_body
4 rfc9562 nil nil
7 rfc9562 1645557742000 2022-02-22T19:22:22.000Z
7 rfc9562 2.534023008e+14 9999-12-31T23:59:59.999Z
7 rfc9562 2.534023008e+14 nil



=== TEST 3: an invalid UUID returns nil, the reason and the position; is_valid takes any value
--- lua
local uuid = require "resty.txid.uuid"
ngx.say(uuid.decode("919108f7-52d1-4320-9bac-f847db4148\0a"))
for _, value in ipairs { "", "919108f752d143209bacf847db4148a8", 5, true, {}, print, 5LL, ngx.null, 0/0 } do
    assert(uuid.is_valid(value) == false)
end
ngx.say(uuid.is_valid(nil), " ", uuid.is_valid(uuid.v4()), " ", uuid.is_valid(uuid.v4():upper()))
--- response_body
nilcharacter 35 is '\x00', not hexadecimal
false true true



=== TEST 4: a wrong argument is an error at the caller's level
--- lua
local uuid = require "resty.txid.uuid"
local caller = debug.getinfo(1, "S").short_src
local function say_error(name, value)
    local ok, err = pcall(function() local id = uuid[name](value) return id end)
    assert(not ok and err:sub(1, #caller) == caller, err)
    ngx.say((err:gsub("^.-:%d+: ", "")))
end
say_error("v7", "0")
say_error("v7", 0/0)
say_error("v1", 5)
say_error("v4", 5)
say_error("decode", nil)
say_error("decode", 5)
--- response_body
bad argument #1 to 'uuid_v7' (number, int64_t or uint64_t expected, got string)
bad argument #1 to 'uuid_v7' (a number from -2^53 to 2^53 expected, got nan)
ids of this format are not stamped with a given time
ids of this format are not stamped with a given time
bad argument #1 to 'decode' (string expected, got nil)
bad argument #1 to 'decode' (string expected, got number)



=== TEST 5: UUIDs of names, which others make as well
--- lua
local uuid = require "resty.txid.uuid"
ngx.say(uuid.v3("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"))
ngx.say(uuid.v5("dns", "www.example.com"))
ngx.say(uuid.v5("url", ""), " ", uuid.decode(uuid.v3("oid", "\0\255")).version)
ngx.say(uuid.v5("x", "y"))
for _, name in ipairs { "v3", "v5" } do
    ngx.say((select(2, pcall(function() local id = uuid[name](5, "a") return id end)):gsub("^.-:%d+: ", "")))
    ngx.say((select(2, pcall(function() local id = uuid[name]("dns") return id end)):gsub("^.-:%d+: ", "")))
end
--- response_body
5df41881-3aed-3515-88a7-2f4a814cf09e
2ed6657d-e927-568b-95e1-2665a8aea6a2
1b4db7eb-4057-5ddf-91e0-36dec72071f5 3
nilthe namespace is neither a UUID nor dns, url, oid or x500
bad argument #1 to 'v3' (string expected, got number)
bad argument #2 to 'v3' (string expected, got nil)
bad argument #1 to 'v5' (string expected, got number)
bad argument #2 to 'v5' (string expected, got nil)
