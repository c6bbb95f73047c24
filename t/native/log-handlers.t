# A line of the error log has what all modules add to it, with one before ours and one after it, and another request in between.

use strict;
use warnings;
use lib 't/support';
use IO::Socket::INET;
use Modules;
use Native;
use OwnNginx;
use Test::More;

my $tree = Modules::directory() . '/src';
plan skip_all => 'there are no headers of this nginx' unless -d "$tree/objs";
plan skip_all => "Angie's log handlers are of another type" if -e "$tree/src/core/angie.h";

my @headers = map {"-I$_"} "$tree/objs", split ' ', `find -L $tree/src -type d`;
for (['early', '"ngx_http_txid_module"'], ['late', 'NULL']) {
    my ($name, $next) = @$_;
    my $module = prefix() . "/$name.so";
    system(qw(cc -fPIC -shared), @headers, qq(-DNAME="$name"), "-DBEFORE=$next", 't/support/log_handler.c', '-o', $module) == 0
        or BAIL_OUT('cannot compile log_handler.c');
    $ENV{TEST_NGINX_LOAD_MODULES} .= " $module";
}

my $listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1, Timeout => 60) or die $!;
my $port = free_port();
write_config(<<"END");
events {}
http {
    access_log off;
    txid_accept all;
    txid_error_log on;
    server {
        listen 127.0.0.1:$port;
        location / { return 200 \$pid; }
        location = /held { proxy_pass http://127.0.0.1:@{[$listening->sockport]}; }
    }
}
END
my $said = nginx();
is $?, 0, 'nginx starts' or BAIL_OUT($said);

sub worker { exchange($port, "GET / HTTP/1.0\r\n\r\n") =~ /(\d+)\z/ && $1 }

for my $when (qw(first reloaded)) {
    my $asking = IO::Socket::INET->new("127.0.0.1:$port") or die $!;
    print $asking "GET /held HTTP/1.1\r\nHost: a\r\nX-Request-Id: $when\r\n\r\n";
    my $held = $listening->accept or die $!;
    my $worker = worker();
    close $held;
    ok wait_until { grep {/ header from upstream, client: 127\.0\.0\.1, early, txid: $when, late, server: /} log_lines('error.log') }, $when;
    kill HUP => pid_in('nginx.pid');
    wait_until { worker() != $worker };
}

done_testing;
