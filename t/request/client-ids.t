# Which ids of clients are accepted. All others are never logged, and never sent upstream.

use lib 't/support';
use ClientIds qw(block trusting upstream);
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_file lua_of vectors);

# nginx answers a mistake of its own before Lua runs.
my $rejected = sub {'400 0 id: '};
my $configure = 'require("resty.txid.request").configure ';

my @trusting = map { my $accept = lua_of($_->{networks}); +{ %$_, before => "$configure { accept = $accept }\n" } } trusting();
my @ids = map { +{ %$_, before => "$configure { accept = { '127.0.0.0/8' } }\n" } } @{ vectors('validity')->{requests} };

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(block(1, 'ids of validity.json', $rejected, @ids) . block(2, 'networks of trust.json', $rejected, @trusting) . $own);

# A block of this file begins with the argument of configure(), and then calls send(); or it has that argument as http_config, and an
# upstream that answers with the headers that it got; or it has servers of its own.
my $vectors = lua_file('validity');
add_block_preprocessor(sub {
    my ($block) = @_;
    if (defined $block->http_config) {
        $block->set_value(lua => $block->lua =~ s/VECTORS/$vectors/r) if defined $block->lua;
        my ($options) = $block->http_config =~ /\A(\{.*\})/s or return;
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
            ngx.say(table.concat(lines, " "))
        }
    }
}
END
        return;
    }
    $block->set_value(http_config => upstream() . <<'END');
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / {
        set_by_lua_block $request_txid { return require("resty.txid.request").id() }
        proxy_set_header X-Request-Id $request_txid;
        add_header X-Request-Id $request_txid always;
        log_by_lua_block { agree.note("log", ngx.var.request_txid) }
        proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_2;
    }
}
END
    my ($options, $rest) = $block->lua =~ /\A(\{[^\n]*)\n(.*)\z/s or return;
    $block->set_value(lua => <<"END");
$configure $options
local function send(name, ...) requests.print_id(\$TEST_NGINX_RAND_PORT_1, "localhost", name, { ... }) end
$rest
END
});

run_tests();

__DATA__

=== TEST 3: a function gets the peer's address
--- lua
{ accept = function(address) return address == "127.0.0.1" and ngx.var.http_x_secret == "s" end }
send("with it", "X-Request-Id: 7f3a", "X-Secret: s")
send("without it", "X-Request-Id: 7f3a")
--- response_body
with it: 204 1 id: log response upstream, the client's 7f3a
without it: 204 1 id: log response upstream, a new one



=== TEST 4: valid as a regular expression, which must match the whole id
--- lua
{ accept = true, valid = "[0-9]+|[a-f]+" }
send("numbers", "X-Request-Id: 0123")
send("letters", "X-Request-Id: abc")
send("both", "X-Request-Id: 0abc")
send("none", "X-Request-Id: xyz")
send("two", "X-Request-Id: abc", "X-Request-Id: abc")
--- response_body
numbers: 204 1 id: log response upstream, the client's 0123
letters: 204 1 id: log response upstream, the client's abc
both: 204 1 id: log response upstream, a new one
none: 204 1 id: log response upstream, a new one
two: 204 1 id: log response upstream, a new one



=== TEST 5: valid as a function
--- lua
{ accept = true, valid = function(id) return #id == 3 end }
send("three", "X-Request-Id: a,b")
send("four", "X-Request-Id: abcd")
--- response_body
three: 204 1 id: log response upstream, the client's a,b
four: 204 1 id: log response upstream, a new one



=== TEST 6: where no client is trusted, no request is rejected, and no id accepted because it is valid
--- http_config
init_by_lua_block {
    request = require "resty.txid.request"
    request.configure { accept = { "10.0.0.0/8" }, on_invalid = "reject", valid = "[0-9]+" }
}
--- config
location = /t {
    rewrite_by_lua_block { request.handle() }
    content_by_lua_block { ngx.say(#request.id()) }
}
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: not valid", "X-Request-Id: 42"]
--- response_body eval
["20\n", "20\n"]



=== TEST 7: "reject" rejects what "valid" does not match, and ids that came twice, but nobody's who is not accepted
--- http_config
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"
    request = require "resty.txid.request"
    local function is_accepted() return ngx.var.uri == "/accepted" and "yes" end
    request.configure { accept = is_accepted, on_invalid = "reject", valid = "[0-9]+" }
}
server {
    listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
    access_log off;
    rewrite_by_lua_block { request.handle() }
    location / { content_by_lua_block { agree.note("content", request.id()) ngx.say("content") } }
}
--- lua
for _, id in ipairs { "12", "ab", "12\r\nX-Request-Id: 12" } do
    for _, path in ipairs { "/accepted", "/other" } do
        ngx.say((agree.report($TEST_NGINX_RAND_PORT_1, "GET " .. path .. " HTTP/1.0\r\nX-Request-Id: " .. id .. "\r\n\r\n")))
    end
end
--- response_body
200 1 id: content response
200 1 id: content response
400 1 id: response
200 1 id: content response
400 1 id: response
200 1 id: content response



=== TEST 8: the first request of a worker is judged by the peer of its connection, too, and not by what realip says
--- http_config
init_by_lua_block { request = require "resty.txid.request" request.configure { accept = { "10.0.0.0/8" } } }
--- config
set_real_ip_from 127.0.0.1;
real_ip_header X-Forwarded-For;
location = /t { content_by_lua_block { ngx.say(ngx.var.remote_addr, " ", request.id() == "mine") } }
--- more_headers
X-Request-Id: mine
X-Forwarded-For: 10.0.0.1
--- response_body
10.0.0.1 false



=== TEST 9: the first header with a valid id counts, and the id goes on under the first name
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



=== TEST 10: a pattern decides which is valid, and a function of the peer whether any is
--- http_config
{ accept = function(address) return address == "127.0.0.1" and ngx.var.arg_no == nil end, header = { "CF-Ray", "X-Request-Id" }, valid = "[0-9 ]+", on_invalid = "reject" }
--- config
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
["GET /t", "GET /t", "GET /t?no=1", "GET /t", "GET /t"]
--- more_headers eval
["CF-Ray: ray\nX-Request-Id: 1 2", "CF-Ray: ray\nX-Request-Id: id", "CF-Ray: 1", "A: b", "CF-Ray: not valid"]
--- error_code eval
[200, 400, 200, 200, 400]
--- response_body_like eval
[qr/^\[1 2\] - \[1 2\]$/, qr/400/, qr/^\[[0-9a-v]{20}\] - -$/, qr/^\[[0-9a-v]{20}\] - -$/, qr/400/]



=== TEST 11: what came in with tabs around it goes on without them, after however many headers, and whatever an earlier request had
--- http_config
{ accept = true }
--- config
location = /id { content_by_lua_block { ngx.say(require("resty.txid.request").id()) } }
location = /t {
    rewrite_by_lua_block { require("resty.txid.request").handle() }
    proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
}
--- request eval
["GET /id", "GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: a", "X-Request-Id: \tb", CORE::join("\n", (map {"A-$_: b"} 1 .. 110), "X-Request-Id: b\t")]
--- response_body eval
["a\n", "- - [b]\n", "- - [b]\n"]



=== TEST 12: each byte, by the rules that hold without the library
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
