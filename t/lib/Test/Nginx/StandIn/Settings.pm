package Test::Nginx::StandIn::Settings;

# The settings of a whole file, by the file or by the environment.

use strict;
use warnings;
use Exporter 'import';
use File::Spec;

use Test::Nginx::StandIn::Ports qw(reserve_ports);

our @EXPORT_OK = qw(
    html_dir log_level master_on master_process nginx_binary
    repeat_each server_addr server_name server_port
    server_root server_root_is_ours timeout worker_connections workers);

my $given_port = $ENV{TEST_NGINX_SERVER_PORT} || $ENV{TEST_NGINX_PORT};
my $port       = $given_port || reserve_ports();

# Unless the caller chose a port, the server root also contains the port, as with
# the real one under TEST_NGINX_RANDOMIZE, so that files can run at once.
my $server_root = File::Spec->rel2abs($ENV{TEST_NGINX_SERVROOT}
    || ($given_port ? 't/servroot' : "t/servroot_$port"));

$ENV{TEST_NGINX_SERVER_ROOT} = $server_root;

my %setting = (
    repeat_each        => 1,
    master_process     => $ENV{TEST_NGINX_MASTER_PROCESS} || 'off',
    workers            => 1,
    worker_connections => 64,
    server_addr        => '127.0.0.1',
    server_name        => 'localhost',
    server_port        => $port,
    log_level          => $ENV{TEST_NGINX_LOG_LEVEL} || 'debug',
    timeout            => $ENV{TEST_NGINX_TIMEOUT} || 3,
);

for my $name (keys %setting) {
    no strict 'refs';
    *$name = sub (@) {
        $setting{$name} = shift if @_;
        return $setting{$name};
    };
}

sub master_on ()           { master_process('on') }
sub nginx_binary ()        { $ENV{TEST_NGINX_BINARY} || 'nginx' }
sub server_root ()         { $server_root }
sub server_root_is_ours () { !$given_port && !$ENV{TEST_NGINX_SERVROOT} }
sub html_dir ()            {"$server_root/html"}

1;
