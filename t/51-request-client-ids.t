# Which ids of clients are accepted. All others are never logged, and never sent upstream.

use lib 't/support';
use ClientIds qw(block trusting upstream);
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_of vectors);

# nginx answers a mistake of its own before Lua runs.
my $rejected = sub {'400 0 id: '};
my $configure = 'require("resty.txid.request").configure ';

my @trusting = map { my $accept = lua_of($_->{networks}); +{ %$_, before => "$configure { accept = $accept }\n" } } trusting();
my @ids = map { +{ %$_, before => "$configure { accept = { '127.0.0.0/8' } }\n" } } @{ vectors('validity')->{requests} };

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(block(1, 'ids of validity.json', $rejected, @ids) . block(2, 'networks of trust.json', $rejected, @trusting) . $own);

# A block of this file begins with the argument of configure(), and then calls send().
add_block_preprocessor(sub {
    my ($block) = @_;
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
