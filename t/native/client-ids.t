# Which ids of clients the nginx module accepts.

use lib 't/support';
use ClientIds qw(block trusting upstream);
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(vectors);

# The module also gives an id to a request with a mistake: the client's, if nginx had read it before.
my $rejected = sub { '400 1 id: response, ' . (defined $_[0] ? "the client's $_[0]" : 'a new one') };

# Each list of networks is that of a server.
my @trusting = trusting();
my $servers  = server('localhost', '127.0.0.0/8');
for my $number (0 .. $#trusting) {
    $trusting[$number]{host} = "server-$number";
    $servers .= server("server-$number", @{ $trusting[$number]{networks} });
}

my %by_default = (name => 'a good id', host => 'default', lines => ['X-Request-Id: 7f3a'], answer => 'new');

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(block(1, 'ids of validity.json', $rejected, @{ vectors('validity')->{requests} })
    . block(2, 'networks of trust.json', $rejected, @trusting)
    . block(3, 'nobody is accepted by default', $rejected, \%by_default)
    . $own);

sub server {
    my ($name, @networks) = @_;
    my $accept = @networks ? "txid_accept @networks;" : '';
    return <<"END";
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    server_name $name;
    access_log off;
    $accept
    txid_response_header X-Request-Id;
    location / {
        proxy_set_header X-Request-Id \$request_txid;
        log_by_lua_block { agree.note("log", ngx.var.request_txid) }
        proxy_pass http://127.0.0.1:\$TEST_NGINX_RAND_PORT_2;
    }
}
END
}

add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(http_config => upstream() . $servers . server('default')) unless defined $block->config;
});

run_tests();

__DATA__

=== TEST 4: another format, and another header
--- http_config
txid_accept all;
txid_header X-Correlation-Id;
txid_format uuid_v7;
--- config
txid_response_header X-Correlation-Id;
location = /t { return 200 $request_txid; }
--- request eval
["GET /t", "GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: mine", "X-Correlation-Id: mine", "X-Correlation-Id: mine\nX-Correlation-Id: mine"]
--- response_body_like eval
[qr/^[0-9a-f-]{14}7[0-9a-f-]{21}$/, qr/^mine$/, qr/^[0-9a-f-]{14}7[0-9a-f-]{21}$/]
--- response_headers_like eval
["X-Correlation-Id: [0-9a-f-]{36}", "X-Correlation-Id: mine", "X-Correlation-Id: [0-9a-f-]{36}"]



=== TEST 5: without a directive, no header is sent or accepted
--- config
location = /t { return 200 $request_txid; }
--- more_headers
X-Request-Id: mine
--- response_body_like: ^[0-9a-v]{19}[0g]$
--- response_headers
! X-Request-Id



=== TEST 6: an invalid id is rejected, once, with a new id, and so is a repeated header
--- http_config
txid_accept all;
txid_response_header X-Request-Id;
--- config
txid_on_invalid reject;
error_page 400 /page;
location = /page { return 200 "no: $request_txid"; }
location = /t { return 200 $request_txid; }
--- request eval
["GET /t", "GET /t", "GET /t", "GET /t"]
--- more_headers eval
["X-Request-Id: fine", "X-Request-Id: not fine", "X-Request-Id:", "X-Request-Id: a b\nX-Request-Id: a b"]
--- error_code eval
[200, 400, 400, 400]
--- response_body_like eval
[qr/^fine$/, (qr/^no: [0-9a-v]{19}[0g]$/) x 3]



=== TEST 7: if ids are not accepted, none is rejected
--- http_config
txid_on_invalid reject;
--- config
location = /t { return 200 $request_txid; }
--- more_headers
X-Request-Id: not fine
--- response_body_like: ^[0-9a-v]{19}[0g]$



=== TEST 8: with underscores_in_headers on, a name with underscores is still another header, and so is one with the same hash
--- http_config
underscores_in_headers on;
txid_accept all;
--- config
location = /t {
    return 200 "$http_x_request_id $request_txid\n";
}
--- more_headers
X_Request_Id: theirs-1
X-Request-Id: mine-1
X-Requesrkid: theirs-2
x_request-id: theirs-3
--- response_body_like: mine-1$



=== TEST 9: the first header with a valid id counts, and its value is what the first name gets
--- http_config
txid_accept all;
txid_header CF-Ray X-Correlation-Id X-Request-Id X-Other;
--- config
location = /t { return 200 "$request_txid\n"; }
--- request eval
[("GET /t") x 9]
--- more_headers eval
["CF-Ray: ray\nX-Request-Id: id", "X-Request-Id: id\nX-Correlation-Id: correlation", "X-Request-Id: id",
 "CF-Ray: not valid\nX-Request-Id: id", "CF-Ray: a\nCF-Ray: b\nx-correlation-id: correlation", "X-Request-Id: \tid\t",
 "CF-Ray: not valid\nX-Correlation-Id: a b", "X-Other: fourth", "X-Another: id"]
--- response_body_like eval
[qr/^ray$/, qr/^correlation$/, qr/^id$/, qr/^id$/, qr/^correlation$/, qr/^id$/, qr/^[0-9a-v]{20}$/, qr/^fourth$/, qr/^[0-9a-v]{20}$/]



=== TEST 10: a request is rejected if ids came, and none is valid
--- http_config
txid_accept all;
txid_header CF-Ray X-Request-Id;
--- config
txid_on_invalid reject;
location = /t { return 200 "$request_txid\n"; }
--- request eval
[("GET /t") x 4]
--- more_headers eval
["CF-Ray: not valid\nX-Request-Id: id", "CF-Ray: not valid", "X-Request-Id: not valid", "A: b"]
--- error_code eval
[200, 400, 400, 200]



=== TEST 11: of those who are not accepted, none counts
--- http_config
txid_accept 10.0.0.0/8;
txid_header CF-Ray X-Request-Id;
--- config
location = /t { return 200 "$request_txid\n"; }
--- more_headers
X-Request-Id: id
--- response_body_like: ^[0-9a-v]{20}$



=== TEST 12: behind realip, the peer of the connection counts, and not what it says of itself
--- http_config
txid_accept 10.0.0.0/8;
set_real_ip_from 127.0.0.1;
--- config
location = /t { return 200 "$remote_addr $request_txid\n"; }
--- more_headers
X-Real-IP: 10.0.0.1
X-Request-Id: mine
--- response_body_like: ^10\.0\.0\.1 [0-9a-v]{20}$



=== TEST 13: behind realip, that peer counts whatever the length of the other address
--- http_config
txid_accept 127.0.0.1;
set_real_ip_from 127.0.0.1;
--- config
location = /t { return 200 "$remote_addr $request_txid"; }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
["X-Real-IP: 1.1.1.1\nX-Request-Id: mine", "X-Real-IP: 203.0.113.100\nX-Request-Id: mine"]
--- response_body eval
["1.1.1.1 mine", "203.0.113.100 mine"]
