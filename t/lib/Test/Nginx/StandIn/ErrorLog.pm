package Test::Nginx::StandIn::ErrorLog;

# Reads the error log, each time from where the last reading stopped.

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep);

use Test::Nginx::StandIn::Settings qw(server_root);

our @EXPORT_OK = qw(new_error_log_lines);

my $position = 0;

sub rewind { $position = 0 }

sub new_error_log_lines {
    my (%option) = @_;
    # The log phase of a request comes after its connection is closed.
    sleep 0.045 if $option{wait};

    my $log = open_log() // return ();
    seek $log, $position, 0;
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
