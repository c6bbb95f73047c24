# The traces that the nginx module continues, and the headers that it sends upstream.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;

run_tests();

__DATA__

=== TEST 1: a header is known by its whole name, and not by its hash alone; and behind however many others
--- http_config
txid_accept all;
txid_trace traceparent;
--- config
location = /t { return 200 "$txid_traceparent $txid_tracestate"; }
--- request eval
["GET /t", "GET /t"]
--- more_headers eval
# The part of nginx's hash by which the module looks for a header.
my $place = sub { my $hash = 0; $hash = 31 * $hash + ord($_) & 0xfff for split //, $_[0]; $hash >> 6 };
my ($same) = grep { $place->("a$_") == $place->('traceparent') } 1 .. 10_000;
my $value = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
# The last has the length and all of the hash of the one before.
["a$same: $value", CORE::join("\n", (map {"A-$_: b"} 1 .. 25), "traceparent: $value", 'tracestate: a=1', 'v4acestate: b=2')]
--- response_body_like eval
[qr/^00-(?!4bf9)[0-9a-f]{32}-(?!00f0)[0-9a-f]{16}-03 $/, qr/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01 a=1$/]
