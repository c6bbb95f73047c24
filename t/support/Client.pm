package Client;

# Sends bytes, and returns all that the server answers until it closes the connection.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use IO::Socket::UNIX;

our @EXPORT_OK = qw(exchange);

# To a port of 127.0.0.1, or to the path of a Unix socket.
sub exchange {
    my ($to, $bytes) = @_;
    my $socket = ($to =~ m{/} ? IO::Socket::UNIX->new($to) : IO::Socket::INET->new("127.0.0.1:$to")) or die "$to: $!";
    local $SIG{ALRM} = sub { die "no answer\n" };
    alarm 60;
    print $socket $bytes;
    my $response = do { local $/; readline $socket };
    alarm 0;
    return $response // '';
}

1;
