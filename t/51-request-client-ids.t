# Which ids of clients are accepted. All others are never logged, and never sent upstream.

use lib 't/support';
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

# The first line of a block's config is the argument of configure().
add_block_preprocessor(sub {
    my ($block) = @_;
    my ($options, $rest) = $block->config =~ /\A([^\n]*)\n(.*)\z/s;
    $block->set_value(http_config => <<"END");
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"
    require("resty.txid.request").configure $options

    -- Sends a request with these header lines. Prints the request's id, and where it was seen.
    function send(name, lines)
        local verdict, response = agree.report(\$TEST_NGINX_RAND_PORT_1,
            "GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n" .. lines .. "\\r\\n\\r\\n")
        local id = response:match("X%-Request%-Id: ([^\\r]*)")
        if id then
            verdict = verdict .. ", " .. (id:find("^[0-9a-v]+\$") and #id == 20 and "a new one" or "the client's " .. id)
        end
        ngx.say(name, ": ", verdict)
    end
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    access_log off;
    location / {
        content_by_lua_block {
            local ids = ngx.req.get_headers()["X-Request-Id"]
            agree.note("upstream", type(ids) == "table" and table.concat(ids, ",") or ids)
            ngx.exit(204)
        }
    }
}
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / {
        set_by_lua_block \$request_txid { return require("resty.txid.request").id() }
        proxy_set_header X-Request-Id \$request_txid;
        add_header X-Request-Id \$request_txid always;
        log_by_lua_block { agree.note("log", ngx.var.request_txid) }
        proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    }
}
END
    $block->set_value(config => "location = /t { content_by_lua_block {\n$rest\n} }\n");
});

no_long_string();
run_tests();

__DATA__

=== TEST 1: good ids, and hostile ones
--- config
{ accept = { "127.0.0.0/8" } }
send("a good id", "X-Request-Id: 7f3a~a/b:c+d=e@f.g_h-i")
send("in lower case", "x-request-id: 7f3a")
send("one character", "X-Request-Id: a")
send("128 characters", "X-Request-Id: " .. ("a"):rep(128))
send("129 characters", "X-Request-Id: " .. ("a"):rep(129))
send("7 KB", "X-Request-Id: " .. ("a"):rep(7000))
send("100 KB", "X-Request-Id: " .. ("a"):rep(100000))
send("100 KB in many headers", ("X-Request-Id: " .. ("a"):rep(4900) .. "\r\n"):rep(20) .. "A: b")
send("CR LF and another header", "X-Request-Id: 7f3a\r\nX-Evil: 1")
send("CR alone", "X-Request-Id: 7f\r3a")
send("CR LF in per cent", "X-Request-Id: 7f3a%0d%0aX-Evil: 1")
send("continued on the next line", "X-Request-Id: 7f3a\r\n 400 forged")
send("NUL", "X-Request-Id: 7f\0003a")
send("UTF-8", "X-Request-Id: 7f\195\1643a")
send("DEL", "X-Request-Id: 7f\1273a")
send("empty", "X-Request-Id:")
send("spaces alone", "X-Request-Id:    ")
send("repeated", "X-Request-Id: 7f3a\r\nX-Request-Id: 8b4c")
send("repeated, the same", "X-Request-Id: 7f3a\r\nX-Request-Id: 7f3a")
send("repeated after 150 others", "X-Request-Id: 7f3a\r\n" .. ("A: b\r\n"):rep(150) .. "x-request-id: 8b4c")
send("after 150 others", ("A: b\r\n"):rep(150) .. "X-Request-Id: 7f3a")
send("commas", "X-Request-Id: 7f3a, 8b4c")
send("quotes", 'X-Request-Id: 7f"3a')
send("a single quote", "X-Request-Id: 7f'3a")
send("leading spaces", "X-Request-Id:     7f3a")
send("trailing spaces", "X-Request-Id: 7f3a    ")
send("a space inside", "X-Request-Id: 7f 3a")
send("a tab inside", "X-Request-Id: 7f\t3a")
send("a log4j look-up", "X-Request-Id: ${jndi:ldap://example.com/a}")
send("underscores", "X_Request_Id: 7f3a")
--- response_body eval
"a good id: 204 1 id: log response upstream, the client's 7f3a~a/b:c+d=e\@f.g_h-i
in lower case: 204 1 id: log response upstream, the client's 7f3a
one character: 204 1 id: log response upstream, the client's a
128 characters: 204 1 id: log response upstream, the client's " . 'a' x 128 . "
129 characters: 204 1 id: log response upstream, a new one
7 KB: 204 1 id: log response upstream, a new one
100 KB: 400 0 id: 
100 KB in many headers: 400 0 id: 
CR LF and another header: 204 1 id: log response upstream, the client's 7f3a
CR alone: 400 0 id: 
CR LF in per cent: 204 1 id: log response upstream, a new one
continued on the next line: 400 0 id: 
NUL: 400 0 id: 
UTF-8: 204 1 id: log response upstream, a new one
DEL: 204 1 id: log response upstream, a new one
empty: 204 1 id: log response upstream, a new one
spaces alone: 204 1 id: log response upstream, a new one
repeated: 204 1 id: log response upstream, a new one
repeated, the same: 204 1 id: log response upstream, a new one
repeated after 150 others: 204 1 id: log response upstream, a new one
after 150 others: 204 1 id: log response upstream, the client's 7f3a
commas: 204 1 id: log response upstream, a new one
quotes: 204 1 id: log response upstream, a new one
a single quote: 204 1 id: log response upstream, a new one
leading spaces: 204 1 id: log response upstream, the client's 7f3a
trailing spaces: 204 1 id: log response upstream, the client's 7f3a
a space inside: 204 1 id: log response upstream, a new one
a tab inside: 204 1 id: log response upstream, a new one
a log4j look-up: 204 1 id: log response upstream, a new one
underscores: 204 1 id: log response upstream, a new one
"



=== TEST 2: without accept, no id of any client
--- config
{}
send("a good id", "X-Request-Id: 7f3a")
--- response_body
a good id: 204 1 id: log response upstream, a new one



=== TEST 3: a valid id from the wrong network
--- config
{ accept = { "10.0.0.0/8", "128.0.0.0/1", "::1", "fd00::/8", "unix:" } }
send("a good id", "X-Request-Id: 7f3a")
--- response_body
a good id: 204 1 id: log response upstream, a new one



=== TEST 4: from anywhere
--- config
{ accept = true }
send("a good id", "X-Request-Id: 7f3a")
send("a bad one", "X-Request-Id: 7f,3a")
--- response_body
a good id: 204 1 id: log response upstream, the client's 7f3a
a bad one: 204 1 id: log response upstream, a new one



=== TEST 5: a function gets the peer's address
--- config
{ accept = function(address) return address == "127.0.0.1" and ngx.var.http_x_secret == "s" end }
send("with it", "X-Request-Id: 7f3a\r\nX-Secret: s")
send("without it", "X-Request-Id: 7f3a")
--- response_body
with it: 204 1 id: log response upstream, the client's 7f3a
without it: 204 1 id: log response upstream, a new one



=== TEST 6: valid as a regular expression, which must match the whole id
--- config
{ accept = true, valid = "[0-9]+|[a-f]+" }
send("numbers", "X-Request-Id: 0123")
send("letters", "X-Request-Id: abc")
send("both", "X-Request-Id: 0abc")
send("none", "X-Request-Id: xyz")
--- response_body
numbers: 204 1 id: log response upstream, the client's 0123
letters: 204 1 id: log response upstream, the client's abc
both: 204 1 id: log response upstream, a new one
none: 204 1 id: log response upstream, a new one



=== TEST 7: valid as a function
--- config
{ accept = true, valid = function(id) return #id == 3 end }
send("three", "X-Request-Id: a,b")
send("four", "X-Request-Id: abcd")
--- response_body
three: 204 1 id: log response upstream, the client's a,b
four: 204 1 id: log response upstream, a new one
