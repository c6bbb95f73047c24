# Counts the instructions that the nginx module adds to a request, compared with the same location and a constant instead of an
# id. They are the same on any machine.
#
# The difference leaves out the C library, because malloc's share depends on earlier requests and exceeds the limits
# here. The lowest of several rounds counts: on a busy machine, nginx and the generator read the clock more often.

use strict;
use warnings;
use lib 't/support';
use Instructions;
use Native;
use Test::More;

plan skip_all => 'no valgrind' unless can_count();

my $id     = '4om9qi54la8ffr4bd9sg';
my $nginx  = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $modules = $ENV{TEST_NGINX_LOAD_MODULES} // '';

sub compared {
    my ($what, $count, $constant) = @_;
    my $more = $count->[1] - $constant->[1];
    my $ratio = sprintf '%.4f', 1 + $more / $constant->[0];
    return $ratio, sprintf '%s: %.0f instructions more than the %.0f of a constant, that is %s', $what, $more, $constant->[0], $ratio;
}

sub at_most {
    my ($bound, @compared) = @_;
    my ($ratio, $text) = compared(@compared);
    cmp_ok $ratio, '<=', $bound, $text;
}

# The constant also passes the module's header filter.
sub own_at_most {
    my ($bound, $what, $count, $constant) = @_;
    my $own = $count->[2] - $constant->[2];
    cmp_ok $own, '<=', $bound, sprintf '%s: %.0f instructions of the module itself', $what, $own;
}

my $parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
my $b3     = "X-B3-TraceId: 4bf92f3577b34da6a3ce929d0e0e4736\r\nX-B3-SpanId: 00f067aa0ba902b7\r\nX-B3-Sampled: 1\r\n";
my $log    = 'access_log logs/spans.log otlp buffer=64k flush=1s if=$txid_otlp;';
my $agent  = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n";
# An id of this moment: an old txid could also be a newer xid, so its time is not certain.
my $new_id = join '', map { (0 .. 9, 'a' .. 'v')[(int(time * 1000) << 3) >> (40 - 5 * $_) & 31] } 0 .. 8;
$new_id .= '0' x 11;
my $traces = 'txid_accept 127.0.0.0/8; txid_trace traceparent b3;';
my ($constant, $txid, $nginx_id, $with_header, $checked, $added, $response, $with_parent, $started, $continued, $time, $b3_continued, $sampled, $by_variable, $kept, $handled, $handled_trace, @spans) = count(
    "log_format otlp escape=none \$txid_otlp; map '' \$constant { default $id; } map '' \$constant_share { default 1%; } txid_time \$request_txid \$time iso8601;",
    ['location = /x { return 200 $constant; }'],
    ['location = /x { return 200 $txid; }'],
    ['location = /x { return 200 $request_id; }'],
    ['location = /x { return 200 $constant; }', "X-Request-Id: $id\r\n"],
    ['txid_accept 127.0.0.0/8; location = /x { return 200 $request_txid; }', "X-Request-Id: $id\r\n"],
    ["location = /x { add_header X-Request-Id $id always; return 200 hello; }"],
    ['location = /x { txid_response_header X-Request-Id; return 200 hello; }'],
    ['location = /x { return 200 $constant; }', $parent],
    ["$traces location = /x { return 200 \$txid_traceparent; }"],
    ["$traces location = /x { return 200 \$txid_traceparent; }", $parent],
    ['txid_accept 127.0.0.0/8; location = /x { return 200 $time; }', "X-Request-Id: $new_id\r\n"],
    ['txid_accept 127.0.0.0/8; txid_trace b3; location = /x { return 200 $txid_b3; }', $b3],
    ["$traces txid_sample 1%; location = /x { return 200 \$txid_traceparent; }"],
    ["$traces txid_sample \$constant_share; location = /x { return 200 \$txid_traceparent; }"],
    ["$traces txid_sample 1%; location = /x { return 200 \$txid_traceparent; }", $parent],
    ["txid_handle on; location = /x { empty_gif; }"],
    ["txid_handle on; txid_accept 127.0.0.0/8; txid_trace traceparent; location = /x { empty_gif; }", $parent],
    map {
        my ($header, $log) = @$_;
        ["txid_handle on; txid_accept 127.0.0.0/8; txid_trace traceparent; txid_sample 0; location = /x { $log empty_gif; }", $header . $agent]
    } [$parent, ''], [$parent, $log], ['', ''], ['', $log]
);
# The constant takes 127 in nginx 1.22 and 1.26 of Debian, 119 in nginx 1.30 of Debian unstable, and 109 in an nginx that is built
# without a stack protector, as OpenResty is by default. In the last two, the request's pool is also full here, and then an
# allocation takes 10 more.
my ($minor) = qx("$nginx" -V 2>&1) =~ m{/1\.(\d+)\.\d+.*-fstack-protector}s;
# As many instructions are a larger part of OpenResty's: with a trace that comes in, it takes 7359, and Debian's 8239.
my $is_lean = !$minor;
# On a busy machine, nginx may look for events once more for each request, which takes some 70. So the ratios leave room for that, and
# those of the module itself do not.
# An id that is not one of a burst clears the key that made it, in 27.
at_most($minor && $minor <= 26 ? 1.06 : 1.065, '$txid', $txid, $constant);
at_most(1.024, '$request_txid and a header to check', $checked, $with_header);
at_most($is_lean ? 1.086 : 1.078, 'txid_response_header', $response, $added);
at_most(1.096, '$txid_traceparent of a new trace', $started, $constant);
at_most($is_lean ? 1.16 : 1.147, '$txid_traceparent of a trace that came in', $continued, $with_parent);
at_most(1.07, 'txid_time iso8601', $time, $with_header);
SKIP: {
    skip 'the module is built in', 12 unless $txid->[2];
    own_at_most(545, '$txid', $txid, $constant);
    # Tabs around a header's value are left out, and two more headers may hold a trace.
    own_at_most(280, '$request_txid and a header to check', $checked, $constant);
    own_at_most(625, 'txid_response_header', $response, $constant);
    own_at_most(760, '$txid_traceparent of a new trace', $started, $constant);
    own_at_most(1180, '$txid_traceparent of a trace that came in', $continued, $constant);
    own_at_most(1325, '$txid_b3 of a trace that came in', $b3_continued, $constant);
    own_at_most(570, 'txid_time iso8601', $time, $constant);
    own_at_most(125, 'txid_sample 1%', $sampled, $started);
    own_at_most(125, 'txid_sample $variable', $by_variable, $started);
    own_at_most(5, 'txid_sample of a trace that came in', $kept, $continued);
    # A location without it is one of nginx alone.
    own_at_most(900, 'txid_handle', $handled, $constant);
    own_at_most(2500, 'txid_handle and a trace that came in', $handled_trace, $constant);
}
# nginx's own "combined" takes 2,840.
for my $case (['a line of a span', 3600, @spans[0, 1]], ['none, of a trace that is not recorded', 330, @spans[2, 3]]) {
    my ($what, $bound, $without, $with) = @$case;
    my $more = $with->[1] - $without->[1];
    cmp_ok $more, '<=', $bound, sprintf '%s: %.0f instructions', $what, $more;
}
note((compared("nginx's own \$request_id", $nginx_id, $constant))[1]);

my @untouched = (["location = /x { return 200 $id; }"]);
my ($with) = count('', @untouched);
$ENV{TEST_NGINX_LOAD_MODULES} = $modules =~ s/\S*txid\S*//gr;
SKIP: {
    skip 'the modules are built in', 1 if $ENV{TEST_NGINX_LOAD_MODULES} eq $modules;
    my ($without) = count('', @untouched);
    my $more = $with->[1] - $without->[1];
    cmp_ok $more, '<=', 20, sprintf 'a request that needs none of it: %.0f more', $more;
}

done_testing;
