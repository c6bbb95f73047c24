# The traces that the nginx module continues, and the headers that it sends upstream.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Traces qw(block requests server upstream);

my %headers = (
    traceparent => { traceparent => '$txid_traceparent', tracestate => '$txid_tracestate' },
    # A receiver that finds the single header looks at no other, so a client's must not stay.
    b3 => {
        'X-B3-TraceId'      => '$txid_trace_id',
        'X-B3-SpanId'       => '$txid_span_id',
        'X-B3-ParentSpanId' => '$txid_parent_span_id',
        'X-B3-Sampled'      => '$txid_b3_sampled',
        'X-B3-Flags'        => '$txid_b3_flags',
        b3                  => '""',
    },
    b3_single => { b3 => '$txid_b3' },
    aws       => { 'X-Amzn-Trace-Id'       => '$txid_amzn_trace_id' },
    gcp       => { 'X-Cloud-Trace-Context' => '$txid_cloud_trace_context' },
    jaeger    => { 'uber-trace-id'         => '$txid_uber_trace_id' },
    datadog   => {
        'X-Datadog-Trace-Id'          => '$txid_datadog_trace_id',
        'X-Datadog-Parent-Id'         => '$txid_datadog_parent_id',
        'X-Datadog-Sampling-Priority' => '$txid_datadog_sampling_priority',
        'X-Datadog-Tags'              => '$txid_datadog_tags',
        'X-Datadog-Origin'            => '$txid_datadog_origin',
    },
);

# Each combination of options is that of a server.
my @requests = requests();
my %servers;
for my $case (@requests) {
    my $directives = 'txid_accept ' . ($case->{accepted} ? 'all' : '10.0.0.0/8') . "; txid_trace @{ $case->{kinds} };";
    my %set = map { %{ $headers{$_} } } sort @{ $case->{kinds} };
    if (my $name = $case->{trace_id_header}) {
        $directives .= " txid_trace_id_header $name;";
        $set{$name} = '$txid_trace_id';
    }
    my $in_location = join ' ', map {"proxy_set_header $_ $set{$_};"} sort keys %set;
    $case->{host} = $servers{$directives}{name} //= 'server-' . keys %servers;
    $servers{$directives}{server} //= server("server_name $case->{host}; $directives", $in_location);
}

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(block(1, 'traces.json', @requests) . $own);

add_block_preprocessor(sub {
    my ($block) = @_;
    return if defined $block->http_config;
    my $servers = join '', map { $_->{server} } values %servers;
    $block->set_value(http_config => "init_by_lua_block { requests = require 'support.requests' }\n" . upstream() . $servers);
});

run_tests();

__DATA__

=== TEST 2: a header is known by its whole name, and not by its hash alone; and behind however many others
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
