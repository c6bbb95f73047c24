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

spec_string(block(1, 'ids of validity.json', $rejected, @{ vectors('validity')->{requests} })
    . block(2, 'networks of trust.json', $rejected, @trusting)
    . block(3, 'nobody is accepted by default', $rejected, \%by_default));

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
    $block->set_value(http_config => upstream() . $servers . server('default'));
});

run_tests();
