# A mistake in init_by_lua: nginx -t does not see it, and a reload does. docs/troubleshooting.md says so.

use strict;
use warnings;
use lib 't/support';
use Example qw(request serve);
use Files qw(contents write_file);
use Test::More;
use Tree qw(lua_cpath lua_path);

my $nginx  = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $load   = join '', map {"load_module $_; "} split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
my $config = <<'END';
pid logs/nginx.pid;
events {}
http {
    access_log off;
    init_by_lua_block { require("resty.txid.request").configure { accept = "10.0.0.0/8" } }
    server {
        listen 127.0.0.1:8080;
        location / { content_by_lua_block { ngx.print(require("resty.txid.request").id()) } }
    }
}
END

my ($port, $prefix) = serve($config);
sub has_nginx {
    my ($how) = @_;
    local $ENV{LUA_PATH}  = lua_path();
    local $ENV{LUA_CPATH} = lua_cpath();
    my $said = `cd $prefix && timeout 60 $nginx -p $prefix/ -c nginx.conf -e $prefix/logs/error.log $how -g '$load' 2>&1`;
    return ($?, $said);
}

write_file("$prefix/nginx.conf", contents("$prefix/nginx.conf") =~ s{10\.0\.0\.0/8}{10.0.0.0/80}r);

my ($status, $said) = has_nginx('-t');
is $status, 0, 'nginx -t does not run init_by_lua';
has_nginx('-s reload');
my $logged = '';
for (1 .. 100) {
    $logged = contents("$prefix/logs/error.log");
    last if $logged =~ /init_by_lua/;
    select undef, undef, undef, 0.1;
}
like $logged, qr{resty\.txid\.request: accept: .*10\.0\.0\.0/80}, 'a reload runs it, and logs the mistake';
my ($code, undef, $body) = request($port, '/');
is $code, 200, 'and the old workers go on';
like $body, qr/^[0-9a-v]{19}[0g]$/, 'with the old configuration';

done_testing;
