# 64-bit ids over a binary upgrade, in which old and new workers make ids at the same time.

use strict;
use warnings;
use lib 't/support';
use OwnNginx;
use Test::More;
use Tree qw(library lua_cpath lua_path);

library();
my $port = free_port();

sub config {
    my ($options) = @_;
    write_config(<<"END");
worker_processes 1;
events { worker_connections 64; }
http {
    access_log off;
    lua_package_path "@{[lua_path()]}";
    lua_package_cpath "@{[lua_cpath()]}";
    init_by_lua_block { order_id = require "resty.txid.snowflake".new { layout = "snowflake", node = 5, $options } }
    init_worker_by_lua_block {
        local file = assert(io.open("@{[prefix()]}/ids." .. ngx.worker.pid(), "w"))
        ngx.timer.every(0.002, function()
            for _ = 1, 100 do
                file:write(assert(order_id()), "\\n")
            end
            file:flush()
        end)
    }
    server {
        listen 127.0.0.1:$port;
        location / { content_by_lua_block { ngx.say(order_id()) } }
    }
}
END
}

sub start {
    config(@_);
    my $said = nginx();
    is $?, 0, 'nginx starts' or BAIL_OUT($said);
    ok wait_until { pid_in('nginx.pid') && exchange($port, "GET / HTTP/1.0\r\n\r\n") =~ /^\d{15,}$/m }, 'there are ids';
    return pid_in('nginx.pid');
}

sub stop {
    kill QUIT => grep {defined} map { pid_in($_) } 'nginx.pid', 'nginx.pid.oldbin';
    ok wait_until { !grep { -e prefix() . "/$_" } 'nginx.pid', 'nginx.pid.oldbin' }, 'nginx ends';
}

my $first = start("state = '@{[prefix()]}/orders'");
kill USR2 => $first;
ok wait_until { my $pid = pid_in('nginx.pid'); $pid && $pid != $first && (() = glob prefix() . '/ids.*') == 2 }, 'both run';
ok wait_until { !grep { -s $_ < 1e5 } glob prefix() . '/ids.*' }, 'both make ids';
stop();
my %count;
for my $path (glob prefix() . '/ids.*') {
    open my $file, '<', $path or die "$path: $!";
    $count{$_}++ while <$file>;
}
is scalar(grep { $_ > 1 } values %count), 0, scalar(keys %count) . ' ids are all different';

$first = start('');
kill USR2 => $first;
my $why = "bad option 'state' to 'new' (without it, the workers before and after a binary upgrade would repeat each other's ids; "
    . 'give a file, or restart nginx instead)';
ok wait_until { grep {/\Q$why\E/} log_lines('error.log') }, 'without a file, the second binary does not start';
ok wait_until { !-e prefix() . '/nginx.pid.oldbin' }, 'and ends';
is pid_in('nginx.pid'), $first, 'the first one stays';
like exchange($port, "GET / HTTP/1.0\r\n\r\n"), qr/^\d{15,}$/m, 'and makes ids';
stop();

done_testing;
