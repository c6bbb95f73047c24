# Limits the instructions that resty.txid.request adds to a request, compared with a constant header and a handler that does nothing.

use strict;
use warnings;
use lib 't/support';
use Instructions;
use List::Util qw(min);
use Test::More;
use Tree qw(library lua_cpath lua_path);

library();
plan skip_all => 'no valgrind' unless can_count();
plan skip_all => 'the limits are those of nginx and LuaJIT in Debian 12' unless qx("@{[$ENV{TEST_NGINX_BINARY} || 'nginx']}" -v 2>&1) =~ m{nginx/1\.22\.};
plan skip_all => 'the library is hidden' if $ENV{TXID_WITHOUT_LIBRARY};

my $id     = "X-Request-Id: 4om9qi54la8ffr4bd9sg\r\n";
my $parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
my $b3     = "X-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Sampled: 1\r\n";

my $constant = 'rewrite_by_lua_block { local _ = 1 } content_by_lua_block { ngx.header["X-Request-Id"] = "4om9qi54la8ffr4bd9sg" ngx.print("hello") }';
my $handle   = 'rewrite_by_lua_block { require("resty.txid.request").handle() } content_by_lua_block { ngx.print("hello") }';
my $set      = 'add_header X-Request-Id $x always; return 200 hello;';

# More of the http block.
my $lines = '';

# For each pair of a handler and a limit, and the header of the request.
sub at_most {
    my ($options, @rows) = @_;
    # Without the garbage collector, which works for earlier requests.
    my $http = <<"END";
$lines
lua_package_path "@{[lua_path()]}";
lua_package_cpath "@{[lua_cpath()]}";
init_by_lua_block {
    collectgarbage("stop")
    require("resty.txid.request").configure { $options }
}
END
    my @asked = map { my ($base, $server, $header) = @$_[0 .. 2]; map { ["location = /x { $_ }", $header] } $base, $server } @rows;
    # LuaJIT hashes strings with a random seed, so that tables in one process have longer chains than those in another.
    my @lowest;
    for (1 .. 3) {
        my @counts = map { $_->[1] } count($http, @asked);
        my @own = map { $counts[2 * $_ + 1] - $counts[2 * $_] } 0 .. $#rows;
        @lowest = @lowest ? map { min($lowest[$_], $own[$_]) } 0 .. $#rows : @own;
        last if !grep { $lowest[$_] > $rows[$_][3] } 0 .. $#rows;
    }
    cmp_ok $lowest[$_], '<=', $rows[$_][3], sprintf '%s: %.0f instructions', $rows[$_][4], $lowest[$_] for 0 .. $#rows;
}

my $accept = 'accept = { "127.0.0.0/8" }';
at_most('',
    [$constant, $handle, '', 3040, 'handle() with a new id'],
    ["set_by_lua_block \$x { return 'a' } $set", "set_by_lua_block \$x { return require('resty.txid.request').id() } $set", '', 1590, 'id()'],
);
at_most($accept, [$constant, $handle, $id, 1930, 'handle() with an id that came in']);
at_most("$accept, trace = 'traceparent'",
    [$constant, $handle, '', 5200, 'a new traceparent'],
    [$constant, $handle, $parent, 6450, 'a traceparent that came in'],
);
# With the line in the log; one with "combined" takes 2,840.
my $log = 'log_by_lua_block { ngx.var.span_line = require("resty.txid.request").span_line { service = "shop" } or "" }'
    . ' access_log logs/spans.log otlp buffer=64k flush=1s if=$span_line;';
$lines = 'log_format otlp escape=none $span_line; map "" $span_line { default ""; }';
my $none = 'log_by_lua_block { local _ = 1 }';
at_most("$accept, trace = 'traceparent'",
    ["$handle $none", "$handle $log", '', 12_000, 'a line of a span'],
    ["$handle $none", "$handle $log", $parent, 12_000, 'a line of a span of a trace that came in'],
);
$lines = '';
at_most("$accept, trace = 'b3'",
    [$constant, $handle, '', 7790, 'new headers of b3'],
    [$constant, $handle, $b3, 8940, 'headers of b3 that came in'],
);

done_testing;
