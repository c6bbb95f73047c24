# When nginx has no memory for something that a module asks for, a configuration is refused, and a request lacks an id or is
# answered with an error. No worker ends, and no id is empty. Each allocation fails once. Files that a configuration opened are
# closed with it.

use strict;
use warnings;
use lib 't/support';
use File::Temp qw(tempdir);
use Modules;
use Native qw(nginx_has_stream);
use OwnNginx;
use Test::More;

plan skip_all => 'the modules are built in' if Modules::directory() eq '';

my $directory = tempdir(CLEANUP => 1);
for my $name (qw(refuse live)) {
    system(qw(cc -O2 -fPIC -shared -o), "$directory/$name.so", "t/support/$name.c") == 0 or BAIL_OUT("cannot compile $name.c");
}
my $numbers = "$directory/numbers";

sub numbers {
    open my $file, '+<', $numbers or die $!;
    syswrite $file, pack 'l2', @_ if @_;
    sysseek $file, 0, 0;
    sysread $file, my $bytes, 12;
    return unpack 'l3', $bytes;
}
open my $new, '>', $numbers or die $!;
print $new pack 'l3', -1, 0, 0;
close $new;
chmod 0666, $numbers;

# Refuses memory once after it was given $after times. Returns what $work returns; or nothing, if it asks for no more.
sub refusing {
    my ($after, $work) = @_;
    numbers($after, 0);
    my @result = $work->();
    my ($left) = numbers();
    numbers(-1, 0);
    return $left < 0 ? @result : ();
}

my ($port, $stream, $upstream) = map { free_port() } 1 .. 3;
my @ids = qw(txid txid_strong txid_uuid_v1 txid_uuid_v4 txid_uuid_v7 txid_flake txid_unique_id short iso time txid_span_id
    txid_trace_id txid_traceparent);
my $ids = join '|', map {"\$$_"} @ids;
my $variables = <<'END';
    txid_variable $short unique_id_short address=10.0.0.7;
    txid_time $txid_uuid_v7 $iso iso8601;
    txid_time $txid $time;
END
# A subrequest of Lua has variables of its own.
my $has_lua = join(' ', Native::modules()) =~ /http_lua/;
my $lua = $has_lua ? <<'END' : '';
        location = /lua { access_log off; content_by_lua_block { ngx.print(ngx.location.capture("/captured").body) } }
        location = /captured { log_subrequest on; access_log logs/captured.log captured; return 200 done; }
END
my $stream_block = nginx_has_stream() ? <<"END" : '';
stream {
$variables
    log_format ids '$ids';
    access_log logs/stream.log ids;
    server { listen 127.0.0.1:$stream; return done; }
}
END
write_config(<<"END");
worker_processes 1;
events {}
http {
$variables
    # Without a header in the request, the last three are of a new trace, or not there.
    log_format captured '\$request_txid|$ids|\$txid_parent_span_id|\$txid_b3|\$txid_b3_sampled|\$txid_tracestate';
    log_format ids '\$request_txid|$ids|\$txid_parent_span_id|\$txid_b3|\$txid_b3_sampled|\$txid_tracestate|\$txid_otlp';
    log_format otlp escape=none \$txid_otlp;
    txid_span_attr a \$request_id;
    access_log logs/http.log ids;
    txid_accept all;
    txid_error_log on;
    txid_on_invalid reject;
    set_real_ip_from 127.0.0.0/8;
    # The pool is one piece, which the next request gets again.
    request_pool_size 16k;
    server {
        listen 127.0.0.1:$port;
        txid_trace traceparent;
        location = /logged { return 200 "\$pid"; }
        location = /answered {
            txid_response_header X-Request-Id;
            return 200 "\$pid \$request_txid";
        }
$lua
        location = /spans { access_log /dev/null otlp; return 200 "\$pid"; }
        location = /state { return 200 "\$txid_tracestate|\$txid"; }
    }
    server {
        listen 127.0.0.1:$port;
        server_name formats;
        txid_format uuid_v7;
        txid_header X-Id;
        txid_trace_id_header X-Trace-Id;
        txid_trace b3;
        txid_trace_ids sorted;
        txid_trace_random_flag off;
        location = /logged { return 200 "\$pid"; }
    }
    server {
        listen 127.0.0.1:$port;
        server_name traces;
        txid_trace traceparent aws;
        txid_format same_as_trace;
        location = /logged { return 200 "\$pid"; }
    }
    server {
        listen 127.0.0.1:$port;
        server_name handled;
        txid_header X-Request-Id CF-Ray;
        txid_trace traceparent;
        txid_handle on;
        location = /logged { proxy_pass http://127.0.0.1:$upstream; }
    }
    server {
        listen 127.0.0.1:$upstream;
        txid_error_log off;
        access_log off;
        location / { return 200 "\$http_x_request_id \$http_a\$http_b\$http_cf_ray"; }
    }
}
$stream_block
END

# Set for nginx alone.
sub audited_nginx {
    local @ENV{qw(LD_AUDIT LD_PRELOAD REFUSE)} = ("$directory/refuse.so", "$directory/live.so", $numbers);
    return nginx(@_);
}

my $said = audited_nginx('-t');
is $?, 0, 'the configuration is accepted' or BAIL_OUT($said);
my (undef, $asked) = numbers();
cmp_ok $asked, '>', 50, 'and memory was asked for' or BAIL_OUT('nothing is refused');

my (@wrong, %left);
for my $after (0 .. $asked - 1) {
    refusing($after, sub { $said = audited_nginx('-t') }) or push @wrong, "$after: it is not reached";
    push @wrong, "$after: $?: $said" if $? != 1 << 8 || $said =~ /successful/;
    $left{ (numbers())[2] }++;
}
is join("\n", @wrong), '', "each of the $asked refusals refuses the configuration";
is keys %left, 1, 'and leaves as many blocks of memory, however much had been opened' or diag explain \%left;

$said = audited_nginx();
is $?, 0, 'nginx starts' or BAIL_OUT($said);

# The variables' values in the access log: "-" for none.
my @SHAPES = map {qr/^(?:-|$_)\z/} qr/[0-9a-v]{19}[0g]/, qr/[0-9a-v]{19}[0g]/, qr/[0-9a-f-]{36}/, qr/[0-9a-f-]{36}/, qr/[0-9a-f-]{36}/, qr/\w{22}/,
    qr/[\w\@-]{27}/, qr/[\w\@-]{24}/, qr/20[0-9T:.-]{21}Z/, qr/\d{13}/, qr/[0-9a-f]{16}/, qr/[0-9a-f]{32}/, qr/00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]/;

my %read;

# The new line of a log.
sub logged {
    my ($log) = @_;
    my @lines;
    wait_until { @lines = log_lines($log); @lines > ($read{$log} // 0) };
    my @new = @lines[($read{$log} // 0) .. $#lines];
    $read{$log} = @lines;
    chomp @new;
    return @new == 1 ? $new[0] : scalar(@new) . ' lines';
}

# The error in a line of this log.
sub wrong_in {
    my ($line, $log) = @_;
    my @values = split /\|/, $line, -1;
    my $request = $log ne 'stream.log' ? shift @values : '-';
    my @wrong = map { $values[$_] =~ $SHAPES[$_] ? () : "$ids[$_] is '$values[$_]'" } 0 .. $#SHAPES;
    push @wrong, "request_txid is '$request'" if $request !~ /^(?:-|[0-9a-v]{20}|[0-9a-f-]{36}|[0-9a-f]{32}|mine)\z/;
    push @wrong, map {"a value is empty in $line"} grep { $_ eq '' } @values[@SHAPES .. $#values];
    # Once read, it is there or not for all of the request: a log counts the length of a line before it writes it.
    push @wrong, "a part of the trace is there in $line" if $log eq 'http.log' && (grep { $_ eq '-' } @values[10 .. 12]) % 3;
    return @wrong;
}

# Asks with refused memory as long as that changes anything, and each time once more without.
sub try_all {
    my ($name, $log, $ask) = @_;
    my $full = $ask->();
    my $line = logged($log);
    my @wrong;
    my $refused = 0;
    while ($refused < 200) {
        my ($answer) = refusing($refused, $ask) or last;
        my $with = logged($log);
        push @wrong, map {"$refused: $_"} wrong_in($with, $log);
        push @wrong, "$refused: the answer is $answer" unless $answer eq $full || $answer =~ /^(?:|HTTP.* 500 .*)\z/s;
        $refused++;
        my $next = $ask->();
        push @wrong, "$refused: later, the answer is $next" if $next ne $full;
        logged($log);
    }
    # The last one was not refused anything.
    logged($log);
    cmp_ok $refused, '>=', 10, "$name: memory was refused $refused times";
    is join("\n", @wrong), '', "$name: nothing is empty, and the worker goes on";
    return $line;
}

# The answer, without what differs.
sub request {
    my ($lines) = @_;
    my $answer = exchange($port, "GET $lines\r\nConnection: close\r\n\r\n");
    $answer =~ s/^Date: .*\r\n//m;
    $answer =~ s/[0-9a-v]{19}[0g]/ID/g;
    return $answer;
}

my $line = try_all 'a new id', 'http.log', sub { request("/logged HTTP/1.1\r\nHost: a") };
unlike $line, qr/^-|\|-\|.*\|.*\|.*\|.*\|/, 'without refusals all is there';
my $trace = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
$line = try_all "the client's", 'http.log',
    sub { request("/logged HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n$trace\r\ntracestate: a=1\r\ntracestate: b=2") };
like $line, qr/^mine\|.*\|a=1,b=2\|\{.*a=1,b=2.*\}\z/, 'without refusals it goes on';
try_all 'another format', 'http.log', sub { request("/logged HTTP/1.1\r\nHost: formats") };
try_all 'the id of the trace', 'http.log', sub { request("/logged HTTP/1.1\r\nHost: traces") };
$line = try_all 'headers that change', 'http.log', sub { request("/logged HTTP/1.1\r\nHost: handled\r\nA: 1\r\nCF-Ray: a b\r\nB: 2") };
like request("/logged HTTP/1.1\r\nHost: handled\r\nA: 1\r\nCF-Ray: a b\r\nB: 2\r\nX-Request-Id: mine"), qr/\nmine 12\z/, 'without refusals they do';
logged('http.log');

# Here the id is made earlier, and a response without it is not sent.
my %statuses;
try_all 'a response', 'http.log', sub {
    my $answer = request("/answered HTTP/1.1\r\nHost: a");
    fail "a response has an empty header:\n$answer" if $answer =~ /^X-Request-Id: *\r/m;
    $statuses{ $answer =~ /^HTTP\S* (\d+)/ ? $1 : 'none' }++;
    return $answer =~ s/(\d+) \z/$1 ID/r =~ s/^Content-Length: .*\r\n//mr;
};
cmp_ok $statuses{none} // 0, '>', 0, 'without memory for its header, there is no response';

# The headers of a request are where those of the one before it were.
sub line_of {
    request(join "\r\n", '/logged HTTP/1.1', 'Host: a', @_);
    return logged('http.log');
}
my @all = ($trace, 'X-Request-Id: mine', 'tracestate: a=1');
like line_of(@all), qr/^mine\|.*\|a=1\|\{/, 'a request has an id and a tracestate';
like line_of(), qr/^[0-9a-v]{20}\|.*\|-\|\{/, 'the next one has neither';
# The next request does not overwrite the name of tracestate behind a long name.
line_of($trace, 'x' x 3000 . ': 1', 'tracestate: a=1');
like line_of($trace), qr/\|-\|\{/, 'and one with a trace has no tracestate';

like request("/state HTTP/1.1\r\ntracestate: a=1\r\ntracestate: b=2\r\nHost: a\r\n$trace"), qr/\r\n\r\na=1,b=2\|ID\z/,
    'a tracestate is not written over';

# A million with TXID_REQUESTS, as in make soak.
my $count = ($ENV{TXID_REQUESTS} || 10_000) / 100;
my @pipelined = ("GET /spans HTTP/1.1\r\nHost: a\r\n$trace\r\n\r\n") x 100;
$pipelined[-1] =~ s/^Host/Connection: close\r\nHost/m;
exchange($port, join '', @pipelined);
my (undef, undef, $blocks) = numbers();
my $answers = 0;
$answers += () = exchange($port, join '', @pipelined) =~ m{HTTP/1.1 200 }g for 1 .. $count;
is $answers, 100 * $count, 'requests have spans';
# The connection that came before may still have had blocks then: fewer are right, too.
ok wait_until { (numbers())[2] <= $blocks }, 'a worker has no more blocks of memory afterwards' or diag((numbers())[2], " of $blocks");

SKIP: {
    skip 'no Lua', 2 unless $has_lua;
    try_all 'a subrequest', 'captured.log', sub { request("/lua HTTP/1.1\r\nHost: a") };
}

SKIP: {
    skip 'no stream', 3 unless $stream_block;
    my $line = try_all 'a session', 'stream.log', sub { exchange($stream, '') };
    unlike $line, qr/(?:^|\|)-/, 'without refusals all is there';
}

is_deeply [grep {/\[(?:alert|crit|emerg)\]/} log_lines('error.log')], [], 'nothing serious is logged';

done_testing;
