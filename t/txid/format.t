# The format of an id, and that no id repeats.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: the module is a function, as it was in lua-resty-txid 1.0.0
--- lua
ngx.say(type(require "resty.txid"))
--- response_body
function



=== TEST 2: 20 characters of lower-case base32hex, the last of which holds one bit
--- lua
local txid = require "resty.txid"
ngx.say(txid())
--- response_body_like: ^[0-9a-v]{19}[0g]$



=== TEST 3: 100,000 ids of one worker are all different, of one millisecond and of many
--- lua
local txid = require "resty.txid"
local seen, repeated, malformed = {}, 0, 0
for i = 1, 100000 do
    if i % 1000 == 0 then
        ngx.update_time()
    end
    local id = i > 50000 and txid(0) or txid()
    repeated = repeated + (seen[id] and 1 or 0)
    malformed = malformed + (#id == 20 and id:find("^[0-9a-v]+[0g]$") and 0 or 1)
    seen[id] = true
end
ngx.say(repeated, " repeated, ", malformed, " malformed")
--- response_body
0 repeated, 0 malformed



=== TEST 4: every random bit is sometimes one and sometimes zero, and the four bits of padding are zero
--- lua
local txid = require "resty.txid"
local ones, zeros = {}, {}
for i = 1, 20 do
    ones[i], zeros[i] = 0, 0
end
for _ = 1, 1000 do
    local id = txid(0)
    for i = 1, 20 do
        local bits = tonumber(id:sub(i, i), 32)
        ones[i] = bit.bor(ones[i], bits)
        zeros[i] = bit.bor(zeros[i], 31 - bits)
    end
end
ngx.say(table.concat(ones, " "))
ngx.say(table.concat(zeros, " "))
--- response_body
0 0 0 0 0 0 0 0 7 31 31 31 31 31 31 31 31 31 31 16
31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31
