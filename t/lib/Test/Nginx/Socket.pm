package Test::Nginx::Socket;

# A small stand-in for CPAN's Test::Nginx: the same names and block format, for machines that have Debian's libtest-base-perl but
# not CPAN. It covers the sections in %known and refuses others. It needs Linux.
#
# It chooses the port and the server root, so that files can run at once; the real one does so under TEST_NGINX_RANDOMIZE.

use strict;
use warnings;
use parent 'Test::Base';

use File::Path qw(make_path remove_tree);
use File::Spec;
use IO::Select;
use IO::Socket::INET;
use List::Util qw(shuffle);
use POSIX ();
use Test::More ();
use Time::HiRes qw(sleep time);
use lib 't/support';
use Port qw(free_port);

our @EXPORT = qw(
    add_block_preprocessor env_to_nginx log_level master_on no_long_string run_tests
    worker_connections workers
);

# The settings of a file.
my %setting = (master_process => 'off', workers => 1, worker_connections => 64, log_level => 'debug');
my $timeout = $ENV{TEST_NGINX_TIMEOUT} || 3;
my $nginx   = $ENV{TEST_NGINX_BINARY}  || 'nginx';
my $port    = free_port();
my $root    = File::Spec->rel2abs("t/servroot_$port");
my $conf    = "$root/conf/nginx.conf";

sub log_level ($)          { $setting{log_level}          = shift }
sub master_on ()           { $setting{master_process}     = 'on' }
sub worker_connections ($) { $setting{worker_connections} = shift }
sub workers ($)            { $setting{workers}            = shift }
sub server_port ()         { $port }

# The real one cuts long texts short where they differ, unless this is called.
sub no_long_string () { }

# nginx drops every variable without an env directive. The loader's and the sanitizers' are needed to run a library under test.
my @kept_variables = qw(LD_PRELOAD LD_LIBRARY_PATH ASAN_OPTIONS);

sub env_to_nginx (@) { push @kept_variables, map { /\s/ ? "'$_'" : $_ } @_ }

my @preprocessors;

# The last one added runs first, as in the real one.
sub add_block_preprocessor (&) { unshift @preprocessors, shift }

# The sections a block may have, and the fields that Test::Base itself keeps in it. The real one ignores a section that it does not
# know, so that a misspelt expectation passes; here it ends the run.
my %known = map { $_ => 1 } qw(
    main_config http_config config suppress_stderr skip_eval request more_headers timeout
    error_code response_headers response_headers_like response_body response_body_like error_log no_error_log
    stream_config stream_server_config stream_response stream_response_like
    name description seq_num is_filtered blocks_object original_values _section_map _section_order
);

# A block's accessors return an empty list for a missing section, which would shift the arguments after it in a call.
sub section {
    my ($block, $name) = @_;
    return scalar $block->$name;
}

sub run_tests () {
    my @blocks = Test::Base::blocks();

    # All blocks before the first runs: a misspelt section must not depend on the shuffling to be found.
    for my $block (@blocks) {
        $_->($block) for @preprocessors;
        my @unknown = map {"--- $_"} grep { !$known{$_} } sort keys %$block;
        die $block->name . " - unknown section: @unknown\n" if @unknown;
        $block->set_value(name => "$0 " . $block->name);
    }

    for my $block (shuffle @blocks) {
        my ($count, $condition) = ($block->skip_eval // '') =~ /^(\d+): (.+)/;
      SKIP: {
            Test::More::skip($block->name, $count) if $count && eval $condition;
            run_block($block);
        }
    }
}

my (%random_port, $log_position);

sub run_block {
    my ($block) = @_;
    %random_port  = ();
    $log_position = 0;

    stop();
    remove_tree($root);
    make_path("$root/conf", "$root/logs", "$root/html");
    write_file("$root/html/index.html", '<html><head><title>It works!</title></head><body>It works!</body></html>');
    write_file($conf, config_text($block));
    my $status = start(quiet => defined $block->suppress_stderr);
    # Other blocks may start, and so may other files.
    return Test::More::fail($block->name . " - cannot start nginx (status $status)\n" . log_tail()) if $status;

    my @requests = requests_of($block);
    for my $index (0 .. $#requests) {
        my $response = parse_response($block, send_request($block, $requests[$index]));
        check_response($block, $response, $index, @requests > 1);
        check_error_log($block);
    }
}

# The server. One at a time, and none outlives the test.

sub config_text {
    my ($block) = @_;
    my %text = map { $_ => expand_variables(section($block, $_), $block) // '' } qw(main_config http_config config);
    my $load        = join "\n", map {"load_module $_;"} split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $environment = join "\n", map {"env $_;"} @kept_variables;
    my $temp_paths  = temp_paths($text{http_config});

    # Otherwise, as root, nginx would run its workers as a user who may not be able to read the checkout.
    my $user = $> == 0 ? 'user root;' : '';

    return <<"END_OF_CONFIG";
worker_processes $setting{workers};
daemon on;
master_process $setting{master_process};
error_log $root/logs/error.log $setting{log_level};
pid $root/logs/nginx.pid;
$user
$environment
$load
$text{main_config}
http {
    access_log $root/logs/access.log;
    $temp_paths
    default_type text/plain;
    keepalive_timeout 68000ms;
$text{http_config}
    server {
        listen 127.0.0.1:$port;
        server_name localhost;
        client_max_body_size 30M;
$text{config}
        location / { root $root/html; index index.html index.htm; }
    }
}
events {
    accept_mutex off;
    worker_connections $setting{worker_connections};
}
END_OF_CONFIG
}

# Built-in paths for temporary files may be outside the server root. A module that is not in this nginx does not know its directive.
my $build_options;

sub temp_paths {
    my ($http_config) = @_;
    $build_options //= `$nginx -V 2>&1`;
    my @modules = grep { $build_options !~ /--without-http_${_}_module/ && $http_config !~ /\b${_}_temp_path\b/ }
        qw(client_body proxy fastcgi scgi uwsgi);
    return join "\n    ", map {"${_}_temp_path $root/${_}_temp;"} @modules;
}

# $TEST_NGINX_RAND_PORT_1 names one port within a block and another in the next.
sub expand_variables {
    my ($text, $block) = @_;
    return $text if !defined $text || ref $text;
    my $value = sub {
        my ($name) = @_;
        return $random_port{$name} //= free_port() if $name =~ /^TEST_NGINX_RAND_PORT_\d+$/;
        return $ENV{$name} // ($name eq 'TEST_NGINX_SERVER_PORT' ? $port : undef)
            // Test::More::BAIL_OUT($block->name . " - no $name in the environment");
    };
    $text =~ s/\$(TEST_NGINX_[_A-Z0-9]+)/$value->($1)/ge;
    return $text;
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}

my $may_be_starting;

# The exit status of nginx. It binds its ports before it becomes a daemon: on a zero, connections are already taken.
sub start {
    my (%option) = @_;
    my $stderr = $option{quiet} ? '2>/dev/null' : '';

    $may_be_starting = 1;
    my $status = system 'sh', '-c', qq{exec "\$@" >/dev/null $stderr}, 'sh', $nginx, '-e', "$root/logs/error.log", '-p', "$root/", '-c', $conf;
    $may_be_starting = $status == 0;
    Test::More::BAIL_OUT("cannot run $nginx") if $status >> 8 >= 126;
    return $status;
}

sub stop {
    # nginx writes the pid file last.
    wait_until(2, sub { defined running_pid() }) if $may_be_starting;
    $may_be_starting = 0;
    my $pid = running_pid() // return;

    for my $attempt ([QUIT => $timeout], [TERM => 2]) {
        my ($signal, $seconds) = @$attempt;
        kill $signal, $pid;
        return if wait_until($seconds, sub { !is_our_nginx($pid) });
        warn "nginx $pid did not end on $signal\n";
    }

    # A daemon leads a process group, which contains its workers.
    kill KILL => -$pid;
    wait_until(2, sub { !is_our_nginx($pid) }) or warn "nginx $pid survived KILL\n";
}

sub running_pid {
    open my $file, '<', "$root/logs/nginx.pid" or return undef;
    my ($pid) = (<$file> // '') =~ /^(\d+)/ or return undef;
    return is_our_nginx($pid) ? $pid : undef;
}

# A pid file can outlive its process, and the number may belong to another one by now. Ours was started with our configuration. A
# zombie has no command line.
sub is_our_nginx {
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/cmdline" or return 0;
    return index(do { local $/; <$file> } // '', $conf) >= 0;
}

sub wait_until {
    my ($seconds, $condition) = @_;
    my $deadline = time + $seconds;
    until ($condition->()) {
        return 0 if time > $deadline;
        sleep 0.005;
    }
    return 1;
}

# So that the END below runs.
my $test_process   = $$;
my @ending_signals = qw(HUP INT PIPE TERM);
for my $signal (@ending_signals) {
    my $status = 128 + POSIX->can("SIG$signal")->();
    $SIG{$signal} //= sub { exit $status };
}

END {
    if ($$ == $test_process && !$ENV{TEST_NGINX_NO_CLEAN}) {
        my $passed = $? == 0 && Test::More->builder->is_passing;
        local $?;

        # A second signal must not interrupt this.
        local @SIG{@ending_signals} = ('IGNORE') x @ending_signals;
        stop();
        if (-d $root) {
            $passed
                ? remove_tree($root)
                : Test::More::diag("logs kept in $root by $0 (port $port); error.log ends with:\n" . log_tail());
        }
    }
}

# Requests and responses.

sub requests_of {
    my ($block) = @_;
    my $request = section($block, 'request') // Test::More::BAIL_OUT($block->name . ' - no --- request');
    my @requests = ref $request ? @$request : $request;
    return map { request_text($block, $requests[$_], $_) } 0 .. $#requests;
}

# "METHOD URL", and after the first line the body.
sub request_text {
    my ($block, $request, $index) = @_;
    my ($line, $body) = split /\n/, $request, 2;
    $line =~ /^[A-Z]+ \S+$/ or Test::More::BAIL_OUT($block->name . " - not a request: $request");

    my $more = section($block, 'more_headers') // '';
    $more = $more->[$index] // Test::More::BAIL_OUT($block->name . " - no --- more_headers for request $index") if ref $more;
    my $headers = join '', map {"$_\r\n"} 'Host: localhost', 'Connection: close', split /\n+/, $more;
    $body =~ s/^\s+|\s+$//g if defined $body;
    $headers .= 'Content-Length: ' . length($body) . "\r\n" if length $body;
    return "$line HTTP/1.1\r\n$headers\r\n" . ($body // '');
}

sub send_request {
    my ($block, $request) = @_;
    my $name    = $block->name;
    my $seconds = section($block, 'timeout') // $timeout;
    my $socket  = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => $seconds);
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
        sysread $socket, $received, 65_536, length $received or return $received;
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
            return $decoded if $bytes =~ /\G(?:[^\r\n]+\r\n)*\r\n/gc;
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

# The checks of a block.

sub check_response {
    my ($block, $response, $index, $is_list) = @_;
    my $name = $block->name;

    # Undefined without the section. With several requests it is a list of one expectation per request.
    my $expected = sub {
        my ($section) = @_;
        my $value = section($block, $section);
        return $value->[$index] if ref $value eq 'ARRAY';
        Test::More::BAIL_OUT("$name - several requests, but --- $section is not a list") if defined $value && $is_list;
        return $value;
    };

    Test::More::is($response->{code} // '', $expected->('error_code') // 200, "$name - status code ok");
    for my $section (qw(response_headers response_headers_like)) {
        check_header($response, $_, scalar($section =~ /like/), $name) for grep {/\S/} split /\n/, $expected->($section) // '';
    }
    if (defined(my $wanted = $expected->('response_body'))) {
        $wanted = expand_variables($wanted, $block);
        my $check = ref $wanted eq 'Regexp' ? \&Test::More::like : \&Test::Base::is;
        $check->($response->{body}, $wanted, "$name - response_body - response is expected (req $index)");
    }
    if (defined(my $pattern = $expected->('response_body_like'))) {
        Test::More::like($response->{body}, qr/$pattern/s, "$name - response_body_like (req $index)");
    }
}

# "Name: value", or "! Name" for a header that must be absent.
sub check_header {
    my ($response, $line, $is_like, $name) = @_;
    $line =~ s/^\s+|\s+$//g;
    if ($line =~ s/^!\s*//) {
        Test::More::unlike($response->{raw_headers}, qr/^\s*\Q$line\E\s*:/m, "$name - header $line not present in the raw headers");
        return;
    }
    my ($header, $value) = split /\s*:\s*/, $line, 2;
    my $got = $response->{header}{ lc $header } // '';
    my ($check, $wanted) = $is_like ? (\&Test::More::like, qr/^$value$/) : (\&Test::More::is, $value);
    $check->($got, $wanted, "$name - header $header ok");
}

sub check_error_log {
    my ($block) = @_;
    my $name  = $block->name;
    my @lines = new_error_log_lines(grep { defined section($block, $_) } qw(error_log no_error_log));
    # A line may be written at any time after the response.
    my @wanted   = patterns($block, 'error_log');
    my $deadline = time + (section($block, 'timeout') // $timeout);
    while (time < $deadline && grep { !lines_with($_, @lines) } @wanted) {
        push @lines, new_error_log_lines(1);
    }

    Test::More::ok(scalar lines_with($_, @lines), "$name - pattern \"$_\" matches a line in error.log") for @wanted;
    for my $pattern (patterns($block, 'no_error_log')) {
        my @found = lines_with($pattern, @lines);
        Test::More::ok(!@found, "$name - pattern \"$pattern\" does not match a line in error.log") or Test::More::diag(@found);
    }

    # Serious lines that no section of the block mentions. They fail no test.
    my $mentioned = join "\n", map { patterns($block, $_) } qw(error_log no_error_log);
    for my $sign ('[alert]', '[crit]', '[emerg]', 'writing a global lua variable') {
        my $mention = $sign =~ s/\]$//r;
        next if $mentioned =~ /\Q$mention\E/;
        warn "WARNING: $name - $_" for lines_with($sign, @lines);
    }
}

sub patterns {
    my ($block, $section) = @_;
    my $value = section($block, $section) // return;
    return grep {defined} @$value if ref $value eq 'ARRAY';
    return ref $value ? $value : split /\n+/, $value;
}

sub lines_with {
    my ($pattern, @lines) = @_;
    my $regex = ref $pattern ? $pattern : qr/\Q$pattern\E/;
    return grep {/$regex/} @lines;
}

# Those since the last reading.
sub new_error_log_lines {
    my ($waits) = @_;
    # The log phase of a request comes after its connection is closed.
    sleep 0.045 if $waits;

    open my $log, '<', "$root/logs/error.log" or return ();
    seek $log, $log_position, 0;
    my @lines = <$log>;
    $log_position = tell $log;
    return @lines;
}

sub log_tail {
    open my $log, '<', "$root/logs/error.log" or return '';
    my @lines = <$log>;
    return join '', splice @lines, @lines > 10 ? -10 : 0;
}

1;
