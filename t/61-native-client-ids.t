# Which ids of clients the nginx module accepts: the cases of t/51, except those with a rule in Lua.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

my ($cases) = do { local (@ARGV, $/) = 't/51-request-client-ids.t'; <> } =~ /^__DATA__\n(.*)/ms or die 'no cases';
my @cases = grep {
    s/^--- config\n\{ accept = \{ (.*) \} \}\n/"--- config\ntxid_accept " . join(' ', $1 =~ m{"(.*?)"}g) . ";\n"/me
        || s/^--- config\n\{ accept = true \}\n/--- config\ntxid_accept all;\n/m
        || s/^--- config\n\{\}\n/--- config\ntxid_accept off;\n/m
} split /^(?==== )/m, $cases;
die 'there were more cases' if @cases < 4;
# The module also gives an id to an invalid request: the client's, if nginx had read it before it found the mistake.
for (@cases) {
    s/^(continued on the next line): 400 0 id: $/$1: 400 1 id: response, the client's 7f3a/m;
    s/^(.*): 400 0 id: $/$1: 400 1 id: response, a new one/mg;
}
spec_string(join '', @cases);

# The first line of a block's config is the directive.
add_block_preprocessor(sub {
    my ($block) = @_;
    my ($directive, $rest) = $block->config =~ /\A([^\n]*)\n(.*)\z/s;
    $block->set_value(http_config => <<"END");
lua_shared_dict agree 1m;
init_by_lua_block {
    agree = require "support.agree"

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
    $directive
    txid_response_header X-Request-Id;
    location / {
        proxy_set_header X-Request-Id \$request_txid;
        log_by_lua_block { agree.note("log", ngx.var.request_txid) }
        proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    }
}
END
    $block->set_value(config => "location = /t { content_by_lua_block {\n$rest\n} }\n");
});

no_long_string();
run_tests();
