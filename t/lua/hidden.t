# Hidden numbers: read once as root, used by workers of another user, compiled, and never in a core dump.

use lib 't/support';
use Files qw(write_file);
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use State;

write_file(State::directory() . '/orders.key', "85962D72415D32DA4F2C574C02C44ED9\n", 0600);

run_tests();

__DATA__

=== TEST 1: numbers are hidden and revealed, all 64 bits of them
--- http_config
init_by_lua_block {
    local hidden = require "resty.txid.hidden"
    orders = hidden.new { key_file = "DIR/orders.key", name = "orders", digits = 10, check = false }
    wide = hidden.new { key_file = "DIR/orders.key", name = "orders", letters = 13, check = true }
}
--- lua
ngx.say(orders:hide(42), " ", tostring(orders:reveal("9328347165")))
ngx.say(orders:hide(42LL), " ", orders:hide(42ULL), " ", tonumber(orders:reveal(orders:hide(0))))
ngx.say(orders:hide(10000000000))
ngx.say(orders:reveal("932834716"))
ngx.say(orders:reveal("932834716x"))
for _, number in ipairs { 0ULL, 2^53, 0x7fffffffffffffffLL, 0xffffffffffffffffULL } do
    local shown = wide:hide(number)
    ngx.say(#shown, " ", tostring(wide:reveal(shown:upper())))
end
local shown = wide:hide(7)
ngx.say(wide:reveal(shown:sub(1, -2) .. (shown:sub(-1) == "0" and "2" or "0")))
--- response_body
9328347165 42ULL
9328347165 9328347165 0
nil10000000000 is above 9999999999, the last number that is hidden here; take more digits or letters
nil10 characters, not 9
nilcharacter 10 is 'x', which hidden numbers do not have
14 0ULL
14 9007199254740992ULL
14 9223372036854775807ULL
14 18446744073709551615ULL
nilits check digit is wrong: a character is wrong, or two are swapped
--- no_error_log
[error]



=== TEST 2: wrong arguments name the function, the argument and the value, at the caller's line
--- http_config
init_by_lua_block {
    orders = require "resty.txid.hidden".new { key_file = "DIR/orders.key", name = "orders", digits = 10 }
}
--- lua
local hidden = require "resty.txid.hidden"
local key = "DIR/orders.key"
local function say(f, ...)
    local _, err = pcall(f, ...)
    local where = debug.getinfo(f)
    assert(err:find(where.short_src .. ":" .. where.linedefined .. ": ", 1, true) == 1, err)
    ngx.say((err:gsub("^.-:%d+: ", ""):gsub("/.-/orders", "orders"):gsub("/.-/none", "none")))
end
for _, n in ipairs { -1, 0.5, 2^53 + 2, 0/0, "42", -1LL } do
    say(function() orders:hide(n) end)
end
say(function() orders.hide(42) end)
say(function() orders.reveal("42") end)
say(function() orders:reveal(42) end)
for _, options in ipairs {
    { name = "a", digits = 6 },
    { key_file = "a", name = "a", digits = 6 },
    { key_file = key, digits = 6 },
    { key_file = key, name = "a\0b", digits = 6 },
    { key_file = key, name = "a" },
    { key_file = key, name = "a", digits = 6, letters = 6 },
    { key_file = key, name = "a", digits = 6.5 },
    { key_file = key, name = "a", digits = "10" },
    { key_file = key, name = "a", digits = 0 },
    { key_file = key, name = "a", digits = 1 },
    { key_file = key, name = "a", digits = 101 },
    { key_file = key, name = "a", digits = 100 },
    { key_file = key, name = "a", digits = 6, check = 1 },
    { key_file = key, name = "a", uuid = 1 },
    { key_file = key, name = "a", uuid = true, digits = 6 },
    { key_file = key, name = "a", uuid = true, check = true },
    { key_file = key, name = "a\255", digits = 6 },
    { key_file = key, name = "a\254", digits = 6 },
    { key_file = key, name = "a", digits = 6, state = "a" },
    { key_file = key, name = "a", digits = 6, colour = 1 },
    { key_file = key .. ".none", name = "a", digits = 6 },
} do
    say(function() hidden.new(options) end)
end
--- response_body
bad argument #1 to 'hide' (a whole number from 0 to 2^53 expected, got -1)
bad argument #1 to 'hide' (a whole number from 0 to 2^53 expected, got 0.5)
bad argument #1 to 'hide' (a whole number from 0 to 2^53 expected, got 9007199254740994)
bad argument #1 to 'hide' (a whole number from 0 to 2^53 expected, got nan)
bad argument #1 to 'hide' (number, int64_t or uint64_t expected, got string)
bad argument #1 to 'hide' (a number from 0 on expected, got -1LL)
bad self to 'hide' (a series expected, as in series:hide(...))
bad self to 'reveal' (a series expected, as in series:reveal(...))
bad argument #1 to 'reveal' (string expected, got number)
bad option 'key_file' to 'new' (the file of the key expected, got nil)
bad option 'key_file' to 'new' (absolute path expected, got 'a')
bad option 'name' to 'new' (name of the series expected, got nil)
bad option 'name' to 'new' (text without a NUL expected)
bad options to 'new' (one of digits, letters and uuid expected)
bad options to 'new' (one of digits, letters and uuid expected)
bad option 'digits' to 'new' (whole number from 1 to 100 expected, got 6.5)
bad option 'digits' to 'new' (whole number from 1 to 100 expected, got "10")
bad option 'digits' to 'new' (whole number from 1 to 100 expected, got 0)
cannot hide numbers: hidden numbers have 6 to 19 digits, not 1
bad option 'digits' to 'new' (whole number from 1 to 100 expected, got 101)
cannot hide numbers: hidden numbers have 6 to 19 digits, not 100
bad option 'check' to 'new' (boolean expected, got number)
bad option 'uuid' to 'new' (boolean expected, got number)
bad options to 'new' (one of digits, letters and uuid expected)
cannot hide UUIDs: check and uuid do not go together: UUIDs have no place for a check digit
cannot hide numbers: "name=a\xff" is not UTF-8
cannot hide numbers: "name=a\xfe" is not UTF-8
bad option 'state' to 'new' (absolute path expected, got 'a')
bad option 'colour' to 'new' (unknown option; the options are check, digits, key_file, letters, name, state, uuid)
cannot hide numbers: cannot open the key file orders.key.none: No such file or directory (os error 2); `txid key new` makes a key



=== TEST 3: numbers of a segment are only hidden by the key that its store has
--- http_config
init_by_lua_block {
    local page = require "support.segment_page"
    page.make("DIR/bound.segment")
    bound = require "resty.txid.hidden".new {
        key_file = "DIR/orders.key", name = "bound", digits = 8, state = "DIR/bound.segment",
    }
}
--- config
location = /t {
    content_by_lua_block { ngx.say(bound:hide(1)) }
}
--- response_body
nilthe store of bound does not know the key 591a62-7a1a0059 yet: give it to txid-agent, as key-checks = ["591a62-7a1a0059"]



=== TEST 4: all functions are compiled
--- http_config
init_by_lua_block {
    local hidden = require "resty.txid.hidden"
    orders = hidden.new { key_file = "DIR/orders.key", name = "orders", digits = 10 }
    payments = hidden.new { key_file = "DIR/orders.key", name = "payments", uuid = true }
}
--- lua
local trace = require "support.trace"
local orders, payments = orders, payments
local images = {}
for i = 0, 255 do
    images[i] = orders:hide(i)
end
ngx.say("number: ", trace(function(i) return orders:hide(i) end))
ngx.say("uint64_t: ", trace(function(i) return orders:hide(1763712000ULL + i) end))
ngx.say("reveal: ", trace(function(i) return orders:reveal(images[i % 256]) end))
ngx.say("not an image: ", trace(function(i) return orders:reveal("42") end))

local uuid = require "resty.txid.uuid"
local ids, shown = {}, {}
for i = 0, 255 do
    ids[i] = uuid.v7()
    shown[i] = payments:hide(ids[i])
end
ngx.say("UUID: ", trace(function(i) return payments:hide(ids[i % 256]) end))
ngx.say("its image: ", trace(function(i) return payments:reveal(shown[i % 256]) end))
--- response_body
number: compiled
uint64_t: compiled
reveal: compiled
not an image: compiled
UUID: compiled
its image: compiled



=== TEST 5: UUIDs are hidden and revealed
--- http_config
init_by_lua_block {
    payments = require "resty.txid.hidden".new { key_file = "DIR/orders.key", name = "orders", uuid = true }
}
--- lua
ngx.say(payments:hide("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
ngx.say(payments:reveal("16778B25-A699-4D18-952B-2E2F59AFC912"))
ngx.say(payments:hide("16778b25-a699-4d18-952b-2e2f59afc912"))
ngx.say(payments:reveal("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
ngx.say(payments:reveal("42"))
for _, wrong in ipairs {
    function() payments:hide(42) end, function() payments:reveal(false) end, function() payments.hide("42") end,
    function() payments.reveal("42") end,
} do
    ngx.say((select(2, pcall(wrong)):gsub("^content_by_lua.-:%d+: ", "")))
end
local id = require "resty.txid.uuid".v7()
ngx.say(payments:reveal(payments:hide(id)) == id)
--- response_body
16778b25-a699-4d18-952b-2e2f59afc912
017f22e2-79b0-7cc3-98c4-dc0c0c07398f
nilit is not a UUID of version 7, and no other is hidden
nilit is not a UUID of version 4, which all images are
nila UUID has 36 characters, not 2
bad argument #1 to 'hide' (string expected, got number)
bad argument #1 to 'reveal' (string expected, got boolean)
bad self to 'hide' (a series expected, as in series:hide(...))
bad self to 'reveal' (a series expected, as in series:reveal(...))
true
--- no_error_log
[error]
