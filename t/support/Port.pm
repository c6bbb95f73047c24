package Port;

# Ports of 127.0.0.1 that no other test file gets, nor an outgoing connection.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use IO::Socket::UNIX;

our @EXPORT_OK = qw(free_port);

# Below Linux's ephemeral ports (32768 and up), so that no outgoing connection takes one between the check here and the start of a server.
use constant { FIRST => 10_000, BLOCK => 4, BLOCKS => 5_000 };

my @held;

# Reserves four ports in a row and returns the first; a stream server uses the second.
sub free_port {
    for (1 .. BLOCKS) {
        my $first = FIRST + BLOCK * int rand BLOCKS;

        # An abstract unix socket serves as the lock: the kernel drops it with the process, however that ends.
        my $lock = IO::Socket::UNIX->new(Local => "\0test-nginx-port-$first", Listen => 1) or next;
        next if grep { !is_free($_) } $first .. $first + BLOCK - 1;
        push @held, $lock;
        return $first;
    }
    die "no free port on 127.0.0.1\n";
}

sub is_free {
    my ($port) = @_;
    return IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1, ReuseAddr => 1);
}

1;
