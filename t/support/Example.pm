package Example;

# Starts nginx with a configuration from the documentation, with this tree's modules, and sends requests to it.

use strict;
use warnings;
use Exporter 'import';
use Client qw(exchange);
use Files qw(write_file);
use ServerDirectory qw(server_directory);
use Port qw(free_port);
use Test::More;
use Tree qw(library lua_cpath lua_path);

our @EXPORT_OK = qw(free_port request serve);

library();
my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
my @modules = split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
my %load;

# Starts nginx with this configuration, on a free port in place of 8080, and with PREFIX replaced by its directory. Returns
# the port and the directory, or nothing after a failed test.
sub serve {
    my ($config, @more_modules) = @_;
    my $port   = free_port();
    my $prefix = server_directory();
    my $load   = join '', map {"load_module $_; "} @modules, @more_modules;
    # Otherwise, as root, nginx would run its workers as a user who may not be able to read the checkout.
    $load .= 'user root;' if $> == 0 && $config !~ /^\s*user\s/m;
    mkdir "$prefix/state";
    $config =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/g;
    $config =~ s/PREFIX/$prefix/g;
    write_file("$prefix/nginx.conf", $config);
    local $ENV{LUA_PATH}  = lua_path();
    local $ENV{LUA_CPATH} = lua_cpath();
    # Sockets with relative names are made in the current directory.
    my $output = `cd $prefix && timeout 120 $nginx -p $prefix/ -c nginx.conf -e $prefix/logs/error.log -g '$load' 2>&1`;
    is $?, 0, 'nginx starts' or diag($output), return;
    $load{$prefix} = $load;
    return ($port, $prefix);
}

END {
    local $?;
    `cd $_ && timeout 120 $nginx -p $_/ -c nginx.conf -e $_/logs/error.log -s stop -g '$load{$_}' 2>&1` for keys %load;
}

sub request {
    my ($port, $path, @headers) = @_;
    my $response = exchange($port, join("\r\n", "GET $path HTTP/1.1", 'Host: localhost', 'Connection: close', @headers) . "\r\n\r\n");
    my ($status) = $response =~ m{^HTTP/1\.1 (\d+)};
    my @ids = $response =~ /^X-Request-Id: ([^\r]*)/mg;
    my ($body) = $response =~ /\r\n\r\n(.*)/s;
    $body =~ s/^[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/$1/s;
    return ($status, "@ids", $body);
}

1;
