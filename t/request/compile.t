# id() and handle() compile completely, a request's second id() costs very little, and nothing stays after a request has
# ended.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: id() and handle(), for a new request and again
--- http_config
map "" $request_txid { default ""; }
log_format ids "$request_txid";
init_by_lua_block { request = require "resty.txid.request" }
--- lua
local trace = require "support.trace"
local forget = require "support.anew"
local function anew()
    forget()
    return request.id()
end

-- Printed at the end, because the response header must not be sent before.
local lines = {}
lines[1] = "id: " .. trace(function() return request.id() end)
lines[2] = "id, anew: " .. trace(anew)
lines[3] = "handle: " .. trace(function() return request.handle() end)
request.configure { format = "uuid_v7" }
lines[4] = "id, anew, in another format: " .. trace(anew) .. ", " .. #anew()
ngx.say(table.concat(lines, "\n"))
--- response_body
id: compiled
id, anew: compiled
handle: compiled
id, anew, in another format: compiled, 36



=== TEST 2: handle() with a traceparent
--- http_config
map "" $request_txid { default ""; }
log_format ids "$request_txid";
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = "traceparent" }
}
--- lua
local trace = require "support.trace"
local lines = {}
lines[1] = "handle: " .. trace(function() return request.handle() end)
lines[2] = "span: " .. trace(function() return request.span() end)
ngx.say(table.concat(lines, "\n"))
--- response_body
handle: compiled
span: compiled



=== TEST 3: handle() with all kinds of traces
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { trace = { "b3", "traceparent", "b3_single", "aws", "gcp" }, trace_id_header = "X-Trace-Id" }
}
--- lua
local trace = require "support.trace"
local anew = require "support.anew"
local handled = trace(function()
    anew()
    return request.handle()
end)
ngx.say("handle, anew: ", handled)
--- response_body
handle, anew: compiled



=== TEST 4: a second id() is a few compiled instructions, and leaves nothing to the garbage collector
--- http_config
init_by_lua_block { request = require "resty.txid.request" }
--- lua
local cost = require "support.cost"
local id = request.id()
local instructions, bytes = cost(function() return request.id() == id end)
-- Debian 12's LuaJIT makes 62 instructions, or about 90 if it compiles a part separately first.
ngx.say("instructions: ", instructions <= 120 and "at most 120" or instructions)
ngx.say("bytes: ", bytes)
--- response_body
instructions: at most 120
bytes: 0



=== TEST 5: nothing is kept of a finished request
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    contexts = setmetatable({}, { __mode = "v" })
}
--- config
location = /one {
    content_by_lua_block {
        ngx.say(request.id())
        contexts[#contexts + 1] = ngx.ctx
    }
}
--- lua
local http = require "support.http"
assert(http.get("/one"))
ngx.say(contexts[1] ~= nil)
collectgarbage()
ngx.say(contexts[1] ~= nil)
--- response_body
true
false
