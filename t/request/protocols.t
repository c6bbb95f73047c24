# One id for each request of a connection, in HTTP/1.0, HTTP/1.1 and HTTP/2; and a mistake in configure() that stops
# nginx.

use strict;
use warnings;
use lib 't/support';
use File::Spec;
use OwnNginx;
use Test::More;
use Tree qw(library lua_cpath lua_path);

library();
my $id = qr/[0-9a-v]{20}/;

sub serve {
    my ($http) = @_;
    write_config(<<"END");
events { worker_connections 64; }
http {
    access_log off;
    lua_package_path "@{[lua_path()]}";
    lua_package_cpath "@{[lua_cpath()]}";
    map "" \$request_txid { default ""; }
    log_format ids "\$request_txid \$uri";
$http
}
END
    return nginx();
}

sub bodies { join('', @_) =~ /^(id=.*)$/mg }

sub all_different {
    my ($expected, $name, @bodies) = @_;
    my %ids = map { /id=($id) / ? ($1 => 1) : () } @bodies;
    is keys %ids, $expected, $name or diag "@bodies";
}

my $output = serve(<<'END');
init_by_lua_block { require("resty.txid.request").configure { accept = { "10.0.0.0/33" } } }
END
isnt $?, 0, 'a wrong network: nginx does not start';
like $output, qr/accept: ".*10\.0\.0\.0\/33/, 'and says why';

# nginx 1.25.1 and later warns about the http2 parameter of listen.
my ($major, $minor, $patch) = nginx('-v') =~ m{/(\d+)\.(\d+)\.(\d+)} or die "nginx has no version\n";
my $has_http2_on = sprintf('%d.%03d%03d', $major, $minor, $patch) >= 1.025001;
my ($on_listen, $of_server) = $has_http2_on ? ('', 'http2 on;') : (' http2', '');

my ($http, $h2) = (free_port(), free_port());
$output = serve(<<"END");
    init_by_lua_block {
        request = require "resty.txid.request"
        request.configure { accept = { "127.0.0.1" } }
    }
    keepalive_requests 1000;
    server {
        listen 127.0.0.1:$http;
        listen 127.0.0.1:$h2$on_listen;
        $of_server
        access_log logs/ids.log ids;
        rewrite_by_lua_block { if not ngx.var.uri:find("^/late") then request.handle() end }

        location / { content_by_lua_block { ngx.say("id=", request.id(), " ", ngx.header["X-Request-Id"]) } }
        location /redirected { content_by_lua_block { ngx.exec("/target") } }
        # Only the location after the redirect requests an id.
        location /late { content_by_lua_block { ngx.exec("\@late") } }
        location \@late { content_by_lua_block { ngx.say("id=", request.id(), " late") } }
        location /quiet { return 204; }
    }
END
is $?, 0, 'nginx starts' or BAIL_OUT($output);

sub http { exchange($http, $_[0]) }

sub pipelined {
    my (@paths) = @_;
    my $last = pop @paths;
    return bodies(http(join('', map {"GET $_ HTTP/1.1\r\nHost: a\r\n\r\n"} @paths)
        . "GET $last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
}

like http("GET / HTTP/1.0\r\n\r\n"), qr/id=($id) \1$/m, 'HTTP/1.0';
like http("GET / HTTP/1.0\r\nX-Request-Id: mine\r\n\r\n"), qr/id=mine mine$/m, "HTTP/1.0, the client's id";
like http("GET /\r\n"), qr/^id=$id /m, 'HTTP/0.9';
all_different(100, 'keep-alive', pipelined(('/') x 100));
all_different(100, 'keep-alive, redirected', pipelined(('/redirected') x 100));
all_different(100, 'keep-alive, the id made after the redirect', pipelined(('/late') x 100));
all_different(100, 'keep-alive, of both kinds', pipelined(('/', '/late', '/redirected', '/late') x 25));

my %logged;
/^($id) \/(?!late)/ and $logged{$1}++ for log_lines('ids.log');
is_deeply [grep { $_ > 1 } values %logged], [], 'no id is logged twice';

SKIP: {
    skip 'no nghttp', 2 unless grep { -x "$_/nghttp" } File::Spec->path;
    my $nghttp = 'timeout 120 nghttp';
    my @paths  = ('/', '/redirected', '/late', '/redirected');
    my $urls   = join ' ', map { "http://127.0.0.1:$h2$paths[$_ % 4]?$_" } 1 .. 100;

    # All of them at once, on one connection.
    all_different(100, 'HTTP/2', bodies(`$nghttp $urls`));
    is_deeply [bodies(`$nghttp -H 'X-Request-Id: mine' http://127.0.0.1:$h2/`)], ['id=mine mine'], "HTTP/2, the client's id";
}

is_deeply [grep {/\[(?:error|crit|alert|warn)\]/ && !/accept: "10/} log_lines('error.log')], [], 'no error is logged';

done_testing;
