# No id of the nginx modules repeats over killed workers, reloads and a binary upgrade; in HTTP/1.0, 1.1 and 2, in stream, and with
# the Lua library in the same workers.

use strict;
use warnings;
use lib 't/support';
use File::Spec;
use Native qw(nginx_has_stream);
use OwnNginx;
use Test::More;
use Tree qw(library lua_cpath lua_path);

library();
my ($http, $h2, $stream) = (free_port(), free_port(), free_port());
my $has_lua = join(' ', Native::modules()) =~ /http_lua/ || `@{[$ENV{TEST_NGINX_BINARY} || 'nginx']} -V 2>&1` =~ /openresty/;
my $lua = $has_lua ? <<"END" : '';
    lua_package_path "@{[lua_path()]}";
    lua_package_cpath "@{[lua_cpath()]}";
    init_by_lua_block { txid, uuid, flake = require "resty.txid", require "resty.txid.uuid", require "resty.txid.maker".new "flake" }
END
my $lua_ids = $has_lua ? 'set_by_lua_block $lua_ids { return txid() .. " " .. uuid.v7() .. " " .. flake() }' : 'set $lua_ids "";';

my $formats = '$txid $request_txid $txid_strong $txid_uuid_v1 $txid_uuid_v4 $txid_uuid_v7 $txid_flake $txid_unique_id'
    . ' $txid_trace_id $txid_span_id $order $short $trace $hosted $otel $walked $lua_ids';
my $of_stream = '$txid $txid_strong $txid_uuid_v1 $txid_uuid_v4 $txid_uuid_v7 $txid_flake $txid_unique_id $txid_trace_id $order';
my $stream_block = nginx_has_stream() ? <<"END" : '';
stream {
    # The node and the state are those of http.
    txid_variable \$order snowflake node=3 state=@{[prefix()]}/orders;
    log_format ids '$of_stream';
    access_log logs/stream.log ids;
    server { listen 127.0.0.1:$stream; return \$txid; }
}
END

write_config(<<"END");
worker_processes 2;
events { worker_connections 256; }
http {
$lua
    keepalive_requests 100000;
    txid_variable \$order snowflake node=3 state=@{[prefix()]}/orders;
    txid_variable \$short unique_id_short address=10.0.0.7;
    txid_variable \$trace trace_id;
    txid_variable \$hosted trace_host_id address=10.0.0.7;
    txid_variable \$otel otel_trace_id;
    txid_variable \$walked skywalking;
    log_format ids '$formats';
    access_log logs/http.log ids;
    server {
        listen 127.0.0.1:$http;
        listen 127.0.0.1:$h2 http2;
        $lua_ids
        location / { return 200 "\$pid\n"; }
    }
}
$stream_block
END
my $said = nginx();
is $?, 0, 'nginx starts' or BAIL_OUT($said);

my $asked = 0;

# A few requests of each kind, and the workers that answered.
sub ask {
    my %workers;
    for (1 .. 10) {
        my $answer = exchange($http, "GET / HTTP/1.0\r\n\r\n");
        my $many   = exchange($http, "GET / HTTP/1.1\r\nHost: a\r\n\r\n" x 20 . "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        $workers{$_} = 1 for "$answer$many" =~ /^(\d+)$/mg;
        $asked += () = "$answer$many" =~ /^HTTP/mg;
        exchange($stream, '') if $stream_block;
    }
    if (grep { -x "$_/nghttp" } File::Spec->path) {
        my @answers = `timeout 120 nghttp @{[map {"http://127.0.0.1:$h2/?$_"} 1 .. 20]}`;
        $asked += grep {/^\d+$/} @answers;
    }
    return keys %workers;
}

my @first = ask();

kill KILL => @first;
wait_until { my @now = eval { ask() }; @now && !grep { my $worker = $_; grep { $_ == $worker } @now } @first };
pass 'workers were killed';

my $master = pid_in('nginx.pid');
for (1 .. 3) {
    my @before = ask();
    kill HUP => $master;
    ok wait_until { my @now = ask(); !grep { my $worker = $_; grep { $_ == $worker } @now } @before }, 'a reload';
}

kill USR2 => $master;
ok wait_until { my $pid = pid_in('nginx.pid'); -e prefix() . '/nginx.pid.oldbin' && $pid && $pid != $master }, 'a second binary';
ask() for 1 .. 3;
kill QUIT => $master;
ok wait_until { !-e prefix() . '/nginx.pid.oldbin' }, 'the first one ends';
ask();

kill QUIT => pid_in('nginx.pid');
wait_until { !-e prefix() . '/nginx.pid' };

my (%count, $lines);
for my $log ('http.log', 'stream.log') {
    for (log_lines($log)) {
        $lines++;
        $count{$_}++ for split;
    }
}
cmp_ok $lines, '>=', $asked, 'each request is in the log';
is_deeply [grep { $count{$_} > 1 } sort keys %count], [], scalar(keys %count) . ' ids are all different';
is_deeply [grep {/\[(?:error|crit|emerg)\]/} log_lines('error.log')], [], 'no error is logged';

done_testing;
