# Ids in one of several headers, a trace for browsers, and ids of names, with prefixes and of chosen characters.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

add_block_preprocessor(sub {
    my ($block) = @_;
    my ($options) = ($block->http_config // '') =~ /\A(\{.*\})/s;
    return if !defined $options;
    $block->set_value(http_config => <<"END");
init_by_lua_block { require("resty.txid.request").configure $options }
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    location / {
        content_by_lua_block {
            local headers, lines = ngx.req.get_headers(0), {}
            for _, name in ipairs { "cf-ray", "x-correlation-id", "x-request-id" } do
                local value = headers[name]
                value = type(value) == "table" and table.concat(value, ",") or value
                lines[#lines + 1] = value and "[" .. value:gsub("\\t", "TAB") .. "]" or "-"
            end
            ngx.header["Server-Timing"] = "db;dur=5"
            ngx.say(table.concat(lines, " "))
        }
    }
}
END
});

run_tests();

__DATA__

=== TEST 1: the first header with a valid id counts, and the id goes on under the first name
--- http_config
{ accept = true, header = { "CF-Ray", "X-Correlation-Id", "X-Request-Id" } }
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
[("GET /t") x 7]
--- more_headers eval
["CF-Ray: ray\nX-Request-Id: id", "X-Request-Id: id\nX-Correlation-Id: correlation", "X-Request-Id: id",
 "CF-Ray: not valid\nX-Request-Id: id", "CF-Ray: a\nCF-Ray: b\nx-correlation-id: correlation", "X-Request-Id: \tid\t",
 "CF-Ray: not valid\nX-Correlation-Id: a b"]
--- response_body_like eval
[qr/^\[ray\] - \[id\]$/, qr/^\[correlation\] \[correlation\] \[id\]$/, qr/^\[id\] - \[id\]$/, qr/^\[id\] - \[id\]$/,
 qr/^\[correlation\] \[correlation\] -$/, qr/^\[id\] - \[(?:TAB)?id(?:TAB)?\]$/, qr/^\[[0-9a-v]{20}\] \[a b\] -$/]
--- response_headers_like eval
["CF-Ray: ray", "CF-Ray: correlation", "CF-Ray: id", "CF-Ray: id", "CF-Ray: correlation", "CF-Ray: id", "CF-Ray: [0-9a-v]{20}"]



=== TEST 2: a pattern decides which is valid, and a function of the peer whether any is
--- http_config
{ accept = function(address) return address == "127.0.0.1" and ngx.var.arg_no == nil end, header = { "CF-Ray", "X-Request-Id" }, valid = "[0-9 ]+", on_invalid = "reject" }
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
["GET /t", "GET /t", "GET /t?no=1", "GET /t"]
--- more_headers eval
["CF-Ray: ray\nX-Request-Id: 1 2", "CF-Ray: ray\nX-Request-Id: id", "CF-Ray: 1", "A: b"]
--- error_code eval
[200, 400, 200, 200]
--- response_body_like eval
[qr/^\[1 2\] - \[1 2\]$/, qr/400/, qr/^\[[0-9a-v]{20}\] - -$/, qr/^\[[0-9a-v]{20}\] - -$/]



=== TEST 3: what came in with tabs around it goes on without them
--- http_config
{ accept = true }
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: \tb", "X-Request-Id: b\t"]
--- response_body eval
["- - [b]\n", "- - [b]\n"]



=== TEST 4: each kind of trace that the error names is one
--- lua
local request = require "resty.txid.request"
local _, err = pcall(request.configure, { trace = true })
local count = 0
for kind in err:gmatch('"([%l%d_]+)"') do
    request.configure { trace = kind }
    count = count + 1
end
ngx.say(count)
--- response_body
8



=== TEST 5: browsers are told the trace, beside what the upstream says, and once
--- http_config
{ trace = "traceparent", server_timing = true }
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    header_filter_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
location = /late {
    header_filter_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1/t;
}
location = /see {
    content_by_lua_block {
        local http = require "support.http"
        for _, path in ipairs { "/t", "/late" } do
            local response = http.send("GET " .. path .. " HTTP/1.0\r\n\r\n", ngx.var.server_port)
            local values = {}
            for value in response:gmatch("Server%-Timing: ([^\r]*)") do
                values[#values + 1] = value:gsub('"00%-%x+%-%x+%-03"', "SPAN")
            end
            table.sort(values)
            ngx.say(table.concat(values, ", "))
        end
    }
}
--- request
GET /see
--- response_body
db;dur=5, traceparent;desc=SPAN
db;dur=5, traceparent;desc=SPAN



=== TEST 6: UUIDs of names, which others make as well
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



=== TEST 7: Nano IDs of a length and an alphabet, TypeIDs with a prefix, and names with a dash
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
