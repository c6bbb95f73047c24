package Test::Nginx::StandIn::Ports;

# Free ports on 127.0.0.1, such that two test files running at once never get
# the same one.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use IO::Socket::UNIX;

our @EXPORT_OK = qw(reserve_ports);

# Below Linux's ephemeral ports (32768 and up), so that no outgoing connection
# takes one between the check here and the start of nginx.
use constant { FIRST => 10_000, BLOCK => 4, BLOCKS => 5_000 };

my @held;

# Reserves four ports in a row and returns the first; Stream uses the second.
sub reserve_ports {
    for (1 .. BLOCKS) {
        my $first = FIRST + BLOCK * int rand BLOCKS;

        # An abstract unix socket serves as the lock: the kernel drops it with
        # the process, however that ends, and no file is left behind.
        my $lock = IO::Socket::UNIX->new(Local => "\0test-nginx-port-$first", Listen => 1) or next;
        next if grep { !is_free($_) } $first .. $first + BLOCK - 1;
        push @held, $lock;
        return $first;
    }
    die "no free port on 127.0.0.1\n";
}

sub is_free {
    my ($port) = @_;
    return IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1, ReuseAddr => 1);
}

1;
