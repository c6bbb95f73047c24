package OwnNginx;

# An nginx with its own configuration, prefix and lifetime, for tests that need more than Test::Nginx offers.

use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use ServerDirectory qw(server_directory);
use Port qw(free_port);
use Time::HiRes qw(sleep time);

our @EXPORT = qw(exchange free_port log_lines nginx pid_in prefix wait_until write_config);

my $nginx  = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $prefix = server_directory();
my $test_process = $$;

sub prefix { $prefix }

sub write_config {
    my ($text) = @_;
    my $load = join ' ', map {"load_module $_;"} split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $user = $> == 0 ? 'user root;' : '';
    open my $out, '>', "$prefix/nginx.conf" or die $!;
    print $out "$load $user pid nginx.pid; error_log logs/error.log info;\n$text";
    close $out or die $!;
}

# Runs it and returns its output; $? is its status.
sub nginx { `timeout 120 $nginx -p $prefix/ -c nginx.conf -e $prefix/logs/error.log @_ 2>&1` }

sub exchange {
    my ($port, $bytes) = @_;
    my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die "127.0.0.1:$port: $!";
    local $SIG{ALRM} = sub { die "no answer\n" };
    alarm 60;
    print $socket $bytes;
    my $response = do { local $/; readline $socket };
    alarm 0;
    return $response // '';
}

sub log_lines {
    open my $file, '<', "$prefix/logs/$_[0]" or return;
    return <$file>;
}

sub pid_in {
    open my $file, '<', "$prefix/$_[0]" or return undef;
    my ($pid) = (<$file> // '') =~ /^(\d+)/;
    return $pid;
}

sub wait_until (&) {
    my ($condition) = @_;
    my $deadline = time + 60;
    until ($condition->()) {
        return 0 if time > $deadline;
        sleep 0.02;
    }
    return 1;
}

END {
    if ($$ == $test_process) {
        local $?;
        my @pids = grep {defined} map { pid_in($_) } 'nginx.pid', 'nginx.pid.oldbin';
        kill TERM => @pids if @pids;
        wait_until { !grep { kill 0 => $_ } @pids };
    }
}

1;
