package Test::Nginx::StandIn::Client;

# Sends a request and reads what comes back.

use strict;
use warnings;
use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use Test::More ();

use Test::Nginx::StandIn::Sections qw(section);
use Test::Nginx::StandIn::Settings qw(server_port timeout);

our @EXPORT_OK = qw(parse_response send_request);

use constant READ_SIZE => 65_536;

sub send_request {
    my ($block, $request) = @_;
    my $name    = $block->name;
    my $seconds = section($block, 'timeout') // timeout();
    my $socket  = IO::Socket::INET->new(
        PeerAddr => '127.0.0.1',
        PeerPort => server_port(),
        Timeout  => $seconds,
    );
    if (!$socket) {
        Test::More::fail("$name - cannot connect to the server: $@");
        return '';
    }

    # A server may answer and close before it has read all.
    local $SIG{PIPE} = 'IGNORE';
    $socket->print($request);
    $socket->flush;

    my $ready    = IO::Select->new($socket);
    my $received = '';
    while ($ready->can_read($seconds)) {
        sysread $socket, $received, READ_SIZE, length $received or return $received;
    }
    Test::More::fail("ERROR: client socket timed out - $name");
    return $received;
}

# Bytes that are no response have neither a status nor a body.
sub parse_response {
    my ($block, $bytes) = @_;
    my ($head, $body) = split /(?<=\r\n)\r\n/, $bytes, 2;
    my ($status_line, @lines) = split /\r\n/, $head // '';
    my ($code) = ($status_line // '') =~ m{^HTTP/\d\.\d (\d+)} or return { raw_headers => '' };

    my %header;
    for (@lines) {
        my ($name, $value) = split /\s*:\s*/, $_, 2;
        push @{ $header{ lc $name } }, $value // '';
    }
    my %response = (code => $code, raw_headers => $head);
    $response{header} = { map { $_ => join ', ', @{ $header{$_} } } keys %header };

    my $is_chunked = ($response{header}{'transfer-encoding'} // '') eq 'chunked';
    $response{body} = $is_chunked ? decode_chunks($block, $body) : $body // '';
    return \%response;
}

sub decode_chunks {
    my ($block, $bytes) = @_;
    my $decoded = '';
    while ($bytes =~ /\G[ \t]*([0-9A-Fa-f]+)[ \t]*\r\n/gc) {
        my $size = hex $1;
        if ($size == 0) {
            return $decoded
                if $bytes =~ /\G(?:[^\r\n]+\r\n)*\r\n/gc;
            last;
        }
        my $start = pos $bytes;
        last if substr($bytes, $start + $size, 2) ne "\r\n";
        $decoded .= substr $bytes, $start, $size;
        pos($bytes) = $start + $size + 2;
    }
    Test::More::fail($block->name . ' - the chunked response is malformed or not complete');
    return undef;
}

1;
