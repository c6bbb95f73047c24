package Test::Nginx::StandIn::Request;

# The bytes of a block's requests.

use strict;
use warnings;
use Exporter 'import';

use Test::Nginx::StandIn::Sections qw(section);

our @EXPORT_OK = qw(requests_of);

sub requests_of {
    my ($block) = @_;
    my $request = section($block, 'request');
    Test::More::BAIL_OUT($block->name . ' - no --- request') unless defined $request;
    my @requests = ref $request ? @$request : $request;
    return map { request_text($block, $requests[$_], $_) } 0 .. $#requests;
}

# "METHOD URL", and after the first line the body.
sub request_text {
    my ($block, $request, $index) = @_;
    my ($line, $body) = split /\n/, $request, 2;
    $line =~ /^[A-Z]+ \S+$/ or Test::More::BAIL_OUT($block->name . " - not a request: $request");

    my $headers = "Host: localhost\r\nConnection: close\r\n" . more_headers($block, $index);
    $body =~ s/^\s+|\s+$//g if defined $body;
    $headers .= 'Content-Length: ' . length($body) . "\r\n" if length $body;
    return "$line HTTP/1.1\r\n$headers\r\n" . ($body // '');
}

sub more_headers {
    my ($block, $index) = @_;
    my $text = section($block, 'more_headers') // '';
    $text = $text->[$index]
        // Test::More::BAIL_OUT($block->name . " - no --- more_headers for request $index")
        if ref $text;

    return join '', map {"$_\r\n"} split /\n+/, $text;
}

1;
