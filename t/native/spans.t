# $txid_otlp: which requests have a line, and what is in it. tests/gateways/spans.py reads such lines with OpenTelemetry's own parser.

use strict;
use warnings;
use lib 't/support';
use JSON::PP qw(decode_json);
use Native;
use OwnNginx;
use Test::More;

my ($port, $passed) = map { free_port() } 1 .. 2;
write_config(<<"END");
worker_processes 1;
events {}
http {
    log_format otlp escape=none \$txid_otlp;
    log_format plain '\$txid_trace_id|\$txid_span_id|\$txid_parent_span_id|\$txid_traceparent|\$txid_b3|\$txid_trace_sampled|\$txid_tracestate|\$txid_otlp';
    access_log logs/spans.log otlp if=\$txid_otlp;
    log_subrequest on;
    txid_accept 127.0.0.2/32;
    txid_trace traceparent;
    txid_span_service shop;
    txid_sample 100%;
    txid_span_name "all";
    txid_span_attr a "all";
    server {
        listen 127.0.0.1:$port;
        server_name named;
        location / { return 200 ok; }
        location /own {
            txid_span_name "\$request_method /own";
            txid_span_attr http.route /own;
            txid_span_attr empty \$arg_none;
            return 200 ok;
        }
        location /unrecorded { txid_sample 0; return 200 ok; }
        location /mirrored { mirror /; return 502; }
        location /closed { return 444; }
    }
    server {
        listen 127.0.0.1:$passed;
        txid_trace traceparent b3 aws;
        txid_trace_span pass;
        access_log logs/passed.log plain;
        location / { return 200 ok; }
    }
}
END
my $said = nginx();
is $?, 0, 'nginx starts' or BAIL_OUT($said);

my $read = 0;

# The spans that are new in the log, in the end.
sub spans_of {
    my ($count, $request) = @_;
    exchange($port, $request);
    my @lines;
    wait_until { @lines = log_lines('spans.log'); @lines >= $read + $count };
    # Nothing else is written before this one.
    exchange($port, "GET /last HTTP/1.0\r\n\r\n");
    wait_until { @lines = log_lines('spans.log'); $lines[-1] =~ m{/last} };
    my @new = @lines[$read .. $#lines - 1];
    $read = @lines;
    return map { decode_json($_)->{resourceSpans}[0] } @new;
}

sub attributes { return { map { $_->{key} => values %{ $_->{value} } } @{ $_[0]{attributes} } } }

my ($of) = spans_of(1, "GET /a\"\\\xff?secret=1 HTTP/1.1\r\nHost: EXAMPLE.com:80\r\nUser-Agent: a\tb\r\nConnection: close\r\n\r\n");
my $span = $of->{scopeSpans}[0]{spans}[0];
is $of->{resource}{attributes}[0]{value}{stringValue}, 'shop', 'the service';
is_deeply [@$span{qw(name kind flags parentSpanId traceState status)}], ['all', 2, 0x103, undef, 'ot=th:0', undef], 'a new trace, recorded by txid_sample';
like "$span->{traceId} $span->{spanId}", qr/^(?!0{32})[0-9a-f]{32} (?!0{16})[0-9a-f]{16}\z/, 'new ids';
my $attributes = attributes($span);
like delete $attributes->{'txid.request_id'}, qr/^[0-9a-v]{20}\z/, 'the id of the request';
is_deeply $attributes, {
    'http.request.method' => 'GET', 'url.path' => "/a\"\\\x{fffd}", 'url.scheme' => 'http', 'server.address' => 'example.com', a => 'all',
    'client.address' => '127.0.0.1', 'network.protocol.version' => '1.1', 'user_agent.original' => "a\tb", 'http.response.status_code' => 200,
}, 'its attributes';
cmp_ok $span->{endTimeUnixNano} - $span->{startTimeUnixNano}, '>=', 0, 'it ends after it began';
cmp_ok abs($span->{startTimeUnixNano} / 1e9 - time), '<', 3600, 'a while ago';

($span) = map { $_->{scopeSpans}[0]{spans}[0] } spans_of(1, "BREW /own HTTP/1.0\r\n\r\n");
is $span->{name}, 'BREW /own', 'a name of the location';
$attributes = attributes($span);
is_deeply [@$attributes{qw(http.request.method http.request.method_original http.route empty a server.address)}],
    ['_OTHER', 'BREW', '/own', undef, undef, 'named'], 'and its attributes';

is scalar(spans_of(0, "GET /unrecorded HTTP/1.0\r\n\r\n")), 0, 'one that is not recorded has no line';
my @spans = map { $_->{scopeSpans}[0]{spans}[0] } spans_of(1, "GET /mirrored HTTP/1.0\r\n\r\n");
is_deeply [map { [$_->{status}{code}, attributes($_)->{'error.type'}] } @spans], [[2, 502]], 'a request and its subrequest have one, of the end';
for my $case (["GET /closed HTTP/1.0\r\n\r\n", 444], ["\r\n\xff\r\n\r\n", 400], ["GET /old\r\n", 200]) {
    my ($span) = map { $_->{scopeSpans}[0]{spans}[0] } spans_of(1, $case->[0]);
    is attributes($span)->{'http.response.status_code'}, $case->[1], "the status $case->[1]";
}

# Without a span of its own, variables have what came.
my ($trace, $caller) = qw(4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7);
for my $case (
    ['127.0.0.1', "traceparent: 00-$trace-$caller-01", '-|-|-|-|-|-|-|-'],
    ['127.0.0.2', 'a: b', '-|-|-|-|-|-|-|-'],
    ['127.0.0.2', 'b3: 0', '-|-|-|-|-|-|-|-'],
    ['127.0.0.2', "traceparent: 00-$trace-$caller-01\r\ntracestate: a=b", "$trace|$caller|-|00-$trace-$caller-01|$trace-$caller-1|1|a=b|-"],
    ['127.0.0.2', "X-B3-TraceId: $trace\r\nX-B3-SpanId: $caller", "$trace|$caller|-|00-$trace-$caller-01|$trace-$caller|1|-|-"],
    ['127.0.0.2', "X-Amzn-Trace-Id: Root=1-4bf92f35-77b34da6a3ce929d0e0e4736", "$trace|-|-|-|-|-|-|-"],
) {
    my ($from, $header, $line) = @$case;
    my $before = () = log_lines('passed.log');
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$passed", LocalAddr => $from) or die $!;
    print $socket "GET / HTTP/1.0\r\n$header\r\n\r\n";
    1 while <$socket>;
    my @lines;
    wait_until { @lines = log_lines('passed.log'); @lines > $before };
    is $lines[-1], "$line\n", "passed from $from: $header";
}

done_testing;
