# With lua_code_cache off, each request has its own Lua VM, which loads the library again.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: ids over many Lua VMs
--- http_config
lua_code_cache off;
lua_shared_dict seen 1m;
init_by_lua_block {
    require "resty.txid"
}
--- config
location = /id {
    content_by_lua_block {
        require("support.seen").add(require "resty.txid"(0))
    }
}
--- lua
local http = require "support.http"
for _ = 1, 50 do
    assert(http.get("/id"))
end
ngx.say(#ngx.shared.seen:get_keys(0), " ids")
--- timeout: 120
--- response_body
50 ids
--- suppress_stderr
--- error_log eval
qr/\[alert\].* lua_code_cache is off/
--- no_error_log
[error]
