package Test::Nginx::StandIn::Settings;

# The settings of a whole file.

use strict;
use warnings;
use Exporter 'import';
use File::Spec;

use Test::Nginx::StandIn::Ports qw(reserve_ports);

our @EXPORT_OK = qw(
    html_dir log_level master_on master_process nginx_binary server_port server_root
    timeout worker_connections workers);

my $port = reserve_ports();

# As with the real one under TEST_NGINX_RANDOMIZE.
my $server_root = File::Spec->rel2abs("t/servroot_$port");

my %setting = (
    master_process     => 'off',
    workers            => 1,
    worker_connections => 64,
    log_level          => 'debug',
    timeout            => $ENV{TEST_NGINX_TIMEOUT} || 3,
);

for my $name (keys %setting) {
    no strict 'refs';
    *$name = sub (@) {
        $setting{$name} = shift if @_;
        return $setting{$name};
    };
}

sub master_on ()    { master_process('on') }
sub nginx_binary () { $ENV{TEST_NGINX_BINARY} || 'nginx' }
sub server_port ()  { $port }
sub server_root ()  { $server_root }
sub html_dir ()     {"$server_root/html"}

1;
