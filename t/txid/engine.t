# The implementation in use: libtxid, or plain LuaJIT if TXID_WITHOUT_LIBRARY hides the library.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

log_level('notice');
run_tests();

__DATA__

=== TEST 1: the engine is the one under test
--- lua
require "resty.txid"
ngx.say(require("resty.txid.lib").engine)
--- response_body eval
$ENV{TXID_WITHOUT_LIBRARY} ? "pure\n" : "native\n"



=== TEST 2: one notice says that the library is missing, not one for each id
--- lua
local function notices()
    local file = assert(io.open(ngx.config.prefix() .. "logs/error.log"))
    local _, count = file:read("*a"):gsub("%[notice%][^\n]* resty%.txid: libtxid%.so was not found, so ids are made in plain LuaJIT", "")
    file:close()
    return count
end

local before = notices()
for _ = 1, 3 do
    require "resty.txid"()
end
ngx.say(notices() - before)
--- response_body eval
$ENV{TXID_WITHOUT_LIBRARY} ? "1\n" : "0\n"
