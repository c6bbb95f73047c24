# examples/leaf.conf answers as Leaf does.

use strict;
use warnings;
use lib 't/support';
use Example qw(request serve);
use Files qw(contents);
use Test::More;

my $config = contents('examples/leaf.conf');
$config =~ s/^daemon off;//m;
$config =~ s{/run/txid/}{PREFIX/}g;
# Uses a fixed node instead of a lease, because txid-agent does not run here.
$config =~ s/node = "lease"/node = 17/;
$config =~ s{(init_by_lua_block \{)}{$1
        require "support.segment_page".make("PREFIX/invoices.segment")
        require "support.segment_page".publish("PREFIX/invoices.segment", 1042, 1044)
};
my ($port) = serve($config);

# The status and the body.
sub get {
    my ($status, undef, $body) = request($port, @_);
    return $status, $body;
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
