# The nginx modules in an nginx without Lua: one id whatever nginx does with a request, accepted ids, continued traces, and
# stream.

use strict;
use warnings;
use lib 't/support';
use File::Spec;
use Files qw(write_file);
use IO::Socket::INET;
use JSON::PP ();
use Native qw(nginx_has_stream);
use OwnNginx;
use POSIX ();
use Test::More;

my $id   = qr/[0-9a-v]{19}[0g]/;
my $html = prefix() . '/html';
mkdir $html;
mkdir "$html/directory";

write_file("$html/directory/index.html", "index\n");
write_file("$html/page.shtml", qq{<!--#include virtual="/up1" --><!--#include virtual="/up2" -->\n});

my ($port, $other, $rejecting, $upstream, $h2, $stream, $hinting, $early, $any) = map { free_port() } 1 .. 9;

# Returns the line, if this nginx has its directive.
sub if_known {
    my ($line) = @_;
    write_config("events {} http { access_log off; $line }");
    nginx('-t');
    return $? == 0 ? $line : '';
}
# nginx has them since 1.29, and since 1.31.5.
my $early_hints = if_known('early_hints 1;');
my $early_read  = if_known('client_body_early_read 1;') && 'client_body_early_read $early;';
unlink prefix() . '/logs/error.log';
my $is_angie = nginx('-v') =~ /Angie/;
my $json_log = $is_angie ? 'error_log logs/error.log info; error_log logs/error.json info format=json;' : '';
my $stream_block = nginx_has_stream() ? <<"END" : '';
stream {
    txid_time \$txid \$iso iso8601;
    server { listen 127.0.0.1:$stream; return "\$txid \$txid \$iso \$txid_traceparent"; }
}
END
write_config(<<"END");
events {}
http {
    # The ids that each of them saw.
    log_format front 'log \$request_txid';
    log_format upstream 'upstream \$http_x_request_id';
    txid_time \$request_txid \$id_time iso8601;
    txid_time \$request_txid \$any_time;
    map "\$request_txid \$txid_traceparent" \$early { default "\$request_txid \$txid_traceparent"; }
    root $html;
    access_log off;
    recursive_error_pages on;

    server {
        listen 127.0.0.1:$upstream;
        access_log logs/ids.log upstream;
        location / {
            add_header X-Request-Id upstream;
            add_header X-Accel-Redirect \$arg_accel;
            if (\$arg_status = 503) { return 503; }
            if (\$arg_status = 401) { return 401; }
            return 200 "\$http_traceparent|\$http_tracestate|\$http_b3";
        }
    }

    server {
        listen 127.0.0.1:$port;
        listen 127.0.0.1:$h2 http2;
        listen unix:@{[prefix()]}/front.sock;
        access_log logs/ids.log front;
        txid_accept 127.0.0.1 unix:;
        txid_response_header X-Request-Id;
        # As those have it who used nginx's own id before.
        add_header X-Request-Id \$request_id always;
        txid_trace traceparent;
        set_real_ip_from 127.0.0.0/8;
        real_ip_header X-Forwarded-For;
        proxy_set_header X-Request-Id \$request_txid;
        proxy_set_header traceparent \$txid_traceparent;
        proxy_set_header tracestate \$txid_tracestate;
        proxy_intercept_errors on;

        $early_hints
        location = /plain { return 200 "\$request_txid \$txid \$id_time"; }
        location = /up { proxy_pass http://127.0.0.1:$upstream; }
        location = /up1 { proxy_pass http://127.0.0.1:$upstream; }
        location = /up2 { proxy_pass http://127.0.0.1:$upstream; }
        location \@up { proxy_pass http://127.0.0.1:$upstream; }
        location = /error_page { error_page 404 = /up; return 404; }
        location = /error_page_named { error_page 502 = \@up; proxy_pass http://127.0.0.1:1; }
        location = /intercepted { error_page 503 = /up; proxy_pass http://127.0.0.1:$upstream/?status=503; }
        location = /rewritten { rewrite ^ /up last; }
        location = /index { rewrite ^ /directory/ last; }
        location /directory/ { index index.html; }
        location = /directory/index.html { proxy_pass http://127.0.0.1:$upstream; }
        location = /try_files { try_files \$uri /up; }
        location = /try_files_named { try_files \$uri \@up; }
        location = /accel { proxy_pass http://127.0.0.1:$upstream/?accel=/up; }
        location = /auth { auth_request /up1; proxy_pass http://127.0.0.1:$upstream; }
        location = /auth_no { auth_request /no; error_page 401 = \@up; }
        location = /no { proxy_pass http://127.0.0.1:$upstream/?status=401; }
        location = /mirrored { mirror /up1; proxy_pass http://127.0.0.1:$upstream; }
        location = /page.shtml { ssi on; ssi_types *; }
        location = /hinted { proxy_pass http://127.0.0.1:$hinting; proxy_http_version 1.1; }
        location = /address { return 200 "\$request_txid \$remote_addr"; }
    }
    server {
        listen 127.0.0.1:$early;
        access_log logs/ids.log front;
        txid_accept 127.0.0.1;
        txid_response_header X-Request-Id;
        txid_trace traceparent;
        set_real_ip_from 127.0.0.0/8;
        real_ip_header X-Forwarded-For;
        $early_read
        location / { return 200 "\$early \$remote_addr \$request_txid \$txid_traceparent"; }
    }
    server {
        listen 127.0.0.1:$other;
        txid_accept 10.0.0.0/8 ::/0;
        location / { return 200 \$request_txid; }
    }
    server {
        listen 127.0.0.1:$rejecting;
        txid_accept all;
        txid_on_invalid reject;
        txid_error_log on;
        $json_log
        txid_response_header X-Request-Id;
        location / { return 200 \$request_txid; }
    }
    server {
        listen 127.0.0.1:$any;
        txid_accept all;
        txid_header CF-Ray X-Request-Id;
        txid_error_log \$request_id;
        location / { return 200 "\$request_txid \$any_time"; }
        location /nowhere { root /nowhere; add_header X-Own \$request_id always; }
    }
}
$stream_block
END
my $said = nginx();
is $?, 0, 'nginx starts' or BAIL_OUT($said);

my $read = 0;

# Waits for this many new lines of the log, and returns them.
sub logged {
    my ($count) = @_;
    my @lines;
    wait_until { @lines = log_lines('ids.log'); @lines >= $read + $count };
    my @new = @lines[$read .. $#lines];
    $read = @lines;
    chomp @new;
    return @new;
}

# Checks that everyone who sees a request sees the same id, and how often.
sub agree {
    my ($path, $expected, $header) = @_;
    my $response = exchange($port, "GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" . ($header // '') . "\r\n");
    my @ids  = $response =~ /^X-Request-Id: (.*)\r$/mg;
    my @seen = logged($expected + 1);
    is scalar(@seen), $expected + 1, "$path: in the log, and $expected times upstream";
    is_deeply [grep { !/ \Q$ids[0]\E$/ } @seen], [], "$path: all see $ids[0]";
    is scalar(@ids), 1, "$path: one header in the response";
    return $ids[0];
}

my %seen;
for (
    [plain => 0], [up => 1], [error_page => 1], [error_page_named => 1], [intercepted => 2], [rewritten => 1], [index => 1],
    [try_files => 1], [try_files_named => 1], [accel => 2], [auth => 2], [auth_no => 2], [mirrored => 2], ['page.shtml' => 2],
    [no_such => 0],
) {
    my ($path, $upstream) = @$_;
    my $new = agree("/$path", $upstream);
    like $new, qr/^$id$/, "$path: a new one";
    is $seen{$new}++, 0, "$path: of its own";
    is agree("/$path", $upstream, "X-Request-Id: mine/$path\r\n"), "mine/$path", "$path: the client's";
}

sub get {
    my ($to, $lines, $path) = @_;
    exchange($to, "GET " . ($path // '/') . " HTTP/1.0\r\n" . join('', map {"$_\r\n"} @$lines) . "\r\n") =~ /\r\n\r\n(.*)/s;
    return $1;
}

like get($other, ['X-Request-Id: mine']), qr/^$id$/, 'a peer that is in none of the networks, nor in ::/0';
is get($rejecting, ['X-Request-Id: mine']), 'mine', 'from all';
like get($rejecting, ['X-Request-Id: not mine']), qr/400 Bad Request/, 'an invalid one is rejected';
ok wait_until { grep {/client sent an invalid "X-Request-Id" header, client: (["]?)127\.0\.0\.1\1, txid: \1$id\1, /} log_lines('error.log') },
    'and the log says so';
my ($own) = exchange($any, "GET /nowhere HTTP/1.0\r\n\r\n") =~ /^X-Own: ([0-9a-f]{32})\r$/m;
ok wait_until { grep {/client: (["]?)127\.0\.0\.1\g{1}, request_id: \g{1}\Q$own\E\g{1}, /} log_lines('error.log') }, "nginx's own id in the error log";
is get($any, ['X-Request-Id: one', 'CF-Ray: not one']), 'one ', 'the first valid one of several headers';
is get($any, ['X-Request-Id: b2fr5nvmbtcu7vl9phl0']), 'b2fr5nvmbtcu7vl9phl0 1522545688537', 'the time in a format that this server makes';
SKIP: {
    skip 'only Angie writes its error log as JSON', 1 unless $is_angie;
    my ($line) = log_lines('error.json');
    like JSON::PP::decode_json($line)->{http}{request}{txid}, qr/^$id$/, 'and as JSON, in a field of its own';
}
like get($port, ['X-Request-Id: mine', 'X-Forwarded-For: 192.0.2.1'], '/address'), qr/^mine 192\.0\.2\.1$/,
    'behind realip, the peer counts';

# With client_body_early_read, nginx asks for the variables before any phase, and so before realip and ours.
sub early {
    my $response = exchange($early, join "\r\n", 'POST / HTTP/1.1', qw(Host:a Content-Length:4 Connection:close), @_, '', 'body');
    return join ' ', $response =~ /^X-Request-Id: (\S+).*\r\n\r\n(.*)/ms;
}
my $trace = '4bf92f3577b34da6a3ce929d0e0e4736';
my $came  = "00-$trace-00f067aa0ba902b7-01";
like early('X-Request-Id: early', 'X-Forwarded-For: 192.0.2.1', "traceparent: $came"),
    qr/^(early) (\1 00-$trace-(?!00f067aa0ba902b7)[0-9a-f]{16}-01) 192\.0\.2\.1 \2$/, 'read early: accepted, and the same later';
ok wait_until { grep { $_ eq "log early\n" } log_lines('ids.log') }, 'and in the log';
like early('X-Forwarded-For: 192.0.2.1'), qr/^($id) (\1 00-[0-9a-f]{32}-[0-9a-f]{16}-03) 192\.0\.2\.1 \2$/, 'read early: a new one';

like exchange(prefix() . '/front.sock', "GET /plain HTTP/1.0\r\nX-Request-Id: mine\r\n\r\n"), qr/^mine /m, 'from a Unix socket';

like get($port, ["traceparent: $came", 'tracestate: a=1', 'tracestate: b=2'], '/up'),
    qr/^00-$trace-(?!00f067aa0ba902b7)[0-9a-f]{16}-01\|a=1,b=2\|$/, 'a trace goes on';
like get($port, ['tracestate: a=1'], '/up'), qr/^00-[0-9a-f]{32}-[0-9a-f]{16}-03\|\|$/, 'or begins';
like get($port, ["traceparent: $came", "traceparent: $came", 'tracestate: a=1'], '/up'),
    qr/^00-(?!$trace)[0-9a-f]{32}-[0-9a-f]{16}-03\|\|$/, 'two are none';

like get($port, [], '/plain'), qr/^($id) (?!\1)$id 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, '$txid, and the time';

SKIP: {
    skip 'no early_hints', 1 unless $early_hints;
    my $listening = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$hinting", Listen => 1, ReuseAddr => 1) or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        alarm 60;
        my $from = $listening->accept;
        until (($_ = <$from>) eq "\r\n") { }
        print $from "HTTP/1.1 $_\r\nX-Request-Id: upstream\r\nLink: </a>\r\nContent-Length: 0\r\n\r\n" for '103 Early Hints', '200 OK';
        POSIX::_exit(0);
    }
    my $response = exchange($port, "GET /hinted HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: mine\r\n\r\n");
    waitpid $pid, 0;
    is_deeply [$response =~ /^(?:HTTP\/1.1 |X-Request-Id: )(\w+)/gm], [qw(103 mine 200 mine)], 'one header in a 103, too';
}

SKIP: {
    skip 'no nghttp', 2 unless grep { -x "$_/nghttp" } File::Spec->path;
    my %ids;
    $ids{$1}++ while `timeout 120 nghttp @{[map {"http://127.0.0.1:$h2/plain?$_"} 1 .. 100]}` =~ /($id) $id 20/g;
    is_deeply [scalar keys %ids, grep { $_ > 1 } values %ids], [100], 'HTTP/2: each request has its own';
    like `timeout 120 nghttp -v -H 'X-Request-Id: mine' http://127.0.0.1:$h2/plain`, qr/x-request-id: mine.*mine/s,
        q{HTTP/2: the client's};
}

SKIP: {
    skip 'no stream', 2 unless $stream_block;
    my ($one, $two) = map { exchange($stream, '') } 1 .. 2;
    like $one, qr/^($id) \1 20\d\d-\d\d-\d\dT\S+Z 00-[0-9a-f]{32}-[0-9a-f]{16}-03$/, 'stream';
    isnt $one, $two, 'stream: each session has its own';
}

is_deeply [grep {/\[(?:alert|crit|emerg)\]/} log_lines('error.log')], [], 'nothing serious is logged';

done_testing;
