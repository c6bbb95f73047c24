# Which ids of clients are accepted, where decisions.t does not tell.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_file);

my $vectors = lua_file('validity');
add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(lua => $block->lua =~ s/VECTORS/$vectors/r) if defined $block->lua;
});

run_tests();

__DATA__

=== TEST 1: a function gets the peer's address, and may look at the request
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { accept = function(address) return address == "127.0.0.1" and ngx.var.http_x_secret == "s" end }
}
--- config
location = /t { content_by_lua_block { ngx.say(request.id()) } }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: 7f3a\nX-Secret: s", "X-Request-Id: 7f3a"]
--- response_body_like eval
["^7f3a\$", "^[0-9a-v]{20}\$"]



=== TEST 2: each byte, by the rules that hold without the library
--- http_config
--- lua
local valid_id = require("resty.txid.request.rules").valid_id
local count = 0
for _, case in ipairs(dofile("VECTORS").validity.values) do
    -- Spaces and tabs around an id are removed.
    if not case.value:find("^[ \t]") and not case.value:find("[ \t]$") then
        count = count + 1
        if (valid_id(case.value) ~= nil) ~= case.valid then
            ngx.say(case.name, " is judged wrongly")
        end
    end
end
ngx.say(count > 190)
--- response_body
true
