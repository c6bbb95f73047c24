package Test::Nginx::StandIn::ErrorLog;

# Reads the error log, each time from where the last reading stopped.

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep);

use Test::Nginx::StandIn::Settings qw(server_root);

our @EXPORT_OK = qw(check_accum_error_log new_error_log_lines);

my $from_the_start = $ENV{TEST_NGINX_CHECK_ACCUM_ERR_LOG};
my $position = 0;

sub check_accum_error_log () { $from_the_start = 1 }

sub rewind { $position = 0 }

sub new_error_log_lines {
    # The log phase of a request comes after its connection is closed.
    sleep 3 * ($ENV{TEST_NGINX_SLEEP} || 0.015);

    my $log = open_log() // return ();
    seek $log, $position, 0 unless $from_the_start;
    my @lines = <$log>;
    $position = tell $log;
    return @lines;
}

sub tail {
    my $log   = open_log() // return '';
    my @lines = <$log>;
    return join '', splice @lines, @lines > 10 ? -10 : 0;
}

sub open_log {
    open my $log, '<', server_root() . '/logs/error.log' or return undef;
    return $log;
}

1;
