# examples/leaf.conf answers as Leaf does.

use strict;
use warnings;
use lib 't/support';
use Cwd qw(realpath);
use IO::Socket::INET;
use ServerDirectory qw(server_directory);
use Port qw(free_port);
use Test::More;
use Tree qw(library lua_cpath lua_path);

library();
my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $load  = join '', map {"load_module $_; "} split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
my $dir   = realpath(server_directory());
my $port = free_port();

open my $in, '<', 'examples/leaf.conf' or die $!;
my $config = do { local $/; readline $in };
$config =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/;
$config =~ s/^daemon off;//m;
$config =~ s{/run/txid/}{$dir/}g;
# Uses a fixed node instead of a lease, because txid-agent does not run here.
$config =~ s/node = "lease"/node = 17/;
$config =~ s{(init_by_lua_block \{)}{$1
        require "support.segment_page".make("$dir/invoices.segment")
        require "support.segment_page".publish("$dir/invoices.segment", 1042, 1044)
};
open my $out, '>', "$dir/nginx.conf" or die $!;
print $out $config;
close $out or die $!;

$ENV{LUA_PATH}  = lua_path();
$ENV{LUA_CPATH} = lua_cpath();
my $output = `timeout 120 $nginx -p $dir/ -c nginx.conf -e $dir/logs/error.log -g '$load' 2>&1`;
is $?, 0, 'nginx starts' or BAIL_OUT($output);

END { `timeout 120 $nginx -p $dir/ -c nginx.conf -e $dir/logs/error.log -s stop -g '$load' 2>&1` }

# The status and the body.
sub get {
    my ($path) = @_;
    my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die $!;
    local $SIG{ALRM} = sub { die "no answer\n" };
    alarm 60;
    # HTTP/1.0 has no chunked bodies.
    print $socket "GET $path HTTP/1.0\r\n\r\n";
    my $response = do { local $/; readline $socket };
    alarm 0;
    return $response =~ /^HTTP\/1\.1 (\d+).*?\r\n\r\n(.*)/s;
}

is_deeply [get('/api/segment/get/invoices')], [200, 1042], 'a number';
is_deeply [get('/api/segment/get/invoices')], [200, 1043], 'the next';
my ($status, $body) = get('/api/segment/get/invoices');
is $status, 500, 'none left';
like $body, qr/^the numbers of invoices are used up; /, 'and why';
is_deeply [get('/api/segment/get/other')], [500, 'unknown segment'], 'another tag';

($status, $body) = get('/api/snowflake/get/test');
is $status, 200, 'a snowflake';
like $body, qr/^[1-9]\d{17,18}$/, 'in decimal';
my (undef, $next) = get('/api/snowflake/get/test');
cmp_ok $next, '>', $body, 'the next is greater';
is((get('/api/segment/get/'))[0], 404, 'no tag');

done_testing;
