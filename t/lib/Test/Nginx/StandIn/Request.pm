package Test::Nginx::StandIn::Request;

# The bytes of a block's requests.

use strict;
use warnings;
use Exporter 'import';

use Test::Nginx::StandIn::Sections qw(section);
use Test::Nginx::StandIn::Settings qw(server_name);
use Test::Nginx::StandIn::Text qw(expand_variables);

our @EXPORT_OK = qw(requests_of);

sub requests_of {
    my ($block) = @_;

    if (my $pipelined = section($block, 'pipelined_requests')) {
        my $last = $#$pipelined;
        return join '', map {
            request_text($block, expand_variables($pipelined->[$_], $block), $_,
                $_ == $last ? 'close' : 'keep-alive')
        } 0 .. $last;
    }

    my $request = section($block, 'request');
    Test::More::BAIL_OUT($block->name . ' - no --- request') unless defined $request;
    my @requests = ref $request ? @$request : without_comments($request);
    return map { request_text($block, $requests[$_], $_, 'close') } 0 .. $#requests;
}

sub without_comments {
    my ($text) = @_;
    1 while $text =~ s/^(?:\s*#[^\n]+\s+|\s+)//;
    return $text;
}

# "METHOD [URL [VERSION]]", and after the first line the body.
sub request_text {
    my ($block, $request, $index, $connection) = @_;
    my ($line, $body) = ref $request ? () : split /\n/, $request, 2;
    my ($method, $url, $version, $extra) = split ' ', $line // '';
    Test::More::BAIL_OUT($block->name . ' - not a request: ' . ($request // ''))
        if !defined $method || defined $extra;

    my $headers = more_headers($block, $index);
    $headers = "Connection: $connection\r\n$headers" if $headers !~ /^Connection/mi;
    $headers = "Host: @{[server_name()]}\r\n$headers" if $headers !~ /^Host:/mi;

    $body //= '';
    if (length $body && $headers !~ /^Content-Length:/m) {
        $body =~ s/^\s+|\s+$//g;
        $headers .= 'Content-Length: ' . length($body) . "\r\n";
    }
    return sprintf "%s %s %s\r\n%s\r\n%s",
        $method, $url // '/', $version // 'HTTP/1.1', $headers, $body;
}

sub more_headers {
    my ($block, $index) = @_;
    my $text = section($block, 'more_headers') // '';
    $text = $text->[$index]
        // Test::More::BAIL_OUT($block->name . " - no --- more_headers for request $index")
        if ref $text;

    return join '', map {"$_\r\n"} grep { !/^\s*#/ } split /\n+/, $text;
}

1;
