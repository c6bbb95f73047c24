package Test::Nginx::StandIn::Text;

# Small notations inside a section's text.

use strict;
use warnings;
use Exporter 'import';

use Test::Nginx::StandIn::Ports qw(reserve_ports);
use Test::Nginx::StandIn::Settings qw(server_port);

our @EXPORT_OK = qw(expand_variables forget_random_ports parse_time);

my %random_port;

# $TEST_NGINX_RAND_PORT_1 names one port within a block and another in the next.
sub forget_random_ports { %random_port = () }

sub expand_variables {
    my ($text, $block) = @_;
    return $text if !defined $text || ref $text;
    $text =~ s/\$(TEST_NGINX_[_A-Z0-9]+)/variable($1, $block)/ge;
    return $text;
}

sub variable {
    my ($name, $block) = @_;
    return $random_port{$name} //= reserve_ports()
        if $name =~ /^TEST_NGINX_RAND_PORT_\d+$/;
    return $ENV{$name} // ($name eq 'TEST_NGINX_SERVER_PORT' ? server_port() : undef)
        // Test::More::BAIL_OUT($block->name . " - no $name in the environment");
}

sub parse_time {
    my ($time) = @_;
    return $1 / 1000 if $time =~ /^\s*([\d.]+)ms\s*$/;
    return $1        if $time =~ /^\s*([\d.]+)s?\s*$/;
    die "not a time: $time\n";
}

1;
