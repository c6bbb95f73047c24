package Test::Nginx::StandIn::Checks;

# The assertions of a block.

use strict;
use warnings;
use Exporter 'import';
use Test::Base ();
use Test::More ();

use Test::Nginx::StandIn::ErrorLog qw(new_error_log_lines);
use Test::Nginx::StandIn::Sections qw(section);
use Test::Nginx::StandIn::Settings qw(timeout);
use Test::Nginx::StandIn::Text qw(expand_variables);

our @EXPORT_OK = qw(check_error_log check_response);

sub is_or_like {
    my ($got, $expected, $name) = @_;
    return Test::More::like($got, $expected, $name) if ref $expected eq 'Regexp';
    return Test::Base::is($got, $expected, $name);
}

sub check_response {
    my ($block, $response, $index, $is_list) = @_;
    my $expected = sub { expectation($block, shift, $index, $is_list) };

    check_code($block, $response, $expected);
    check_headers($block, $response, $expected);
    check_body($block, $response, $expected, "(req $index)");
}

# Undefined without the section. With several requests it is a list of one
# expectation per request.
sub expectation {
    my ($block, $section, $index, $is_list) = @_;
    my $value = section($block, $section);
    return $value->[$index] if ref $value eq 'ARRAY';
    Test::More::BAIL_OUT($block->name . " - several requests, but --- $section is not a list")
        if defined $value && $is_list;
    return $value;
}

sub check_code {
    my ($block, $response, $expected) = @_;
    my $wanted = defined $block->error_code ? $expected->('error_code') : 200;
    Test::More::is($response->{code} // '', $wanted, $block->name . ' - status code ok');
}

sub check_headers {
    my ($block, $response, $expected) = @_;
    my $name = $block->name;

    my $section = (grep { defined section($block, $_) }
        qw(response_headers response_headers_like))[0] // return;
    my $wanted = parse_headers($expected->($section));
    for my $header (sort keys %$wanted) {
        my $value = $wanted->{$header};
        my $got = $response->{header}{ lc $header } // '';

        if ($section eq 'response_headers_like') {
            Test::More::like($got, qr/^$value$/, "$name - header $header like ok");
        }
        elsif (defined $value) {
            Test::More::is($got, $value, "$name - header $header ok");
        }
        else {
            Test::More::unlike($response->{raw_headers}, qr/^\s*\Q$header\E\s*:/m,
                "$name - header $header not present in the raw headers");
        }
    }
}

# "Name: value", or "! Name" for a header that must be absent.
sub parse_headers {
    my ($text) = @_;
    my %headers;
    for (grep {/\S/} split /\n/, $text // '') {
        s/^\s+|\s+$//g;
        if (s/^!\s*//) {
            $headers{$_} = undef;
        }
        else {
            my ($name, $value) = split /\s*:\s*/, $_, 2;
            $headers{$name} = $value;
        }
    }
    return \%headers;
}

sub check_body {
    my ($block, $response, $expected, $where) = @_;
    my $name = $block->name;
    my $body = $response->{body};

    if (defined $block->response_body) {
        my $wanted = $expected->('response_body');
        is_or_like($body, expand_variables($wanted, $block), "$name - response_body - response is expected $where");
    }
    elsif (defined $block->response_body_like) {
        my $pattern = $expected->('response_body_like');
        Test::More::like($body, qr/$pattern/s, "$name - response_body_like $where");
    }
}

sub check_error_log {
    my ($block) = @_;
    my @lines = new_error_log_lines(wait => scalar grep { defined section($block, $_) } qw(error_log no_error_log));
    # A line may be written at any time after the response.
    my @wanted = map { as_regex($_) } patterns($block, 'error_log');
    my $deadline = time + (section($block, 'timeout') // timeout());
    while (time < $deadline && grep { my $regex = $_; !grep {/$regex/} @lines } @wanted) {
        push @lines, new_error_log_lines(wait => 1);
    }

    check_present($block, \@lines);
    check_absent($block, \@lines);
    warn_of_unexpected($block, \@lines);
}

sub check_present {
    my ($block, $lines) = @_;
    for my $pattern (patterns($block, 'error_log')) {
        my $regex = as_regex($pattern);
        Test::More::ok(scalar(grep {/$regex/} @$lines),
            $block->name . " - pattern \"$pattern\" matches a line in error.log");
    }
}

sub check_absent {
    my ($block, $lines) = @_;
    for my $pattern (patterns($block, 'no_error_log')) {
        my $regex = as_regex($pattern);
        my @found = grep {/$regex/} @$lines;
        Test::More::ok(!@found,
            $block->name . " - pattern \"$pattern\" does not match a line in error.log")
            or Test::More::diag(@found);
    }
}

sub patterns {
    my ($block, $section) = @_;
    my $value = section($block, $section) // return;
    return grep {defined} @$value if ref $value eq 'ARRAY';
    return ref $value ? $value : split /\n+/, $value;
}

sub as_regex {
    my ($pattern) = @_;
    return ref $pattern ? $pattern : qr/\Q$pattern\E/;
}

# Serious lines that no section of the block mentions. They fail no test.
sub warn_of_unexpected {
    my ($block, $lines) = @_;
    my $mentioned = join "\n", map { patterns($block, $_) } qw(error_log no_error_log);

    for my $sign ('[alert]', '[crit]', '[emerg]', 'writing a global lua variable') {
        my $mention = $sign =~ s/\]$//r;
        next if $mentioned =~ /\Q$mention\E/;
        warn 'WARNING: ', $block->name, " - $_" for grep {/\Q$sign\E/} @$lines;
    }
}

1;
