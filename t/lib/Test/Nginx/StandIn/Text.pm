package Test::Nginx::StandIn::Text;

# The variables inside a section's text.

use strict;
use warnings;
use Exporter 'import';

use Test::Nginx::StandIn::Ports qw(reserve_ports);
use Test::Nginx::StandIn::Settings qw(server_port);

our @EXPORT_OK = qw(expand_variables forget_random_ports);

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

1;
