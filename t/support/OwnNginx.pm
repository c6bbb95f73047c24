package OwnNginx;

# An nginx with its own configuration, prefix and lifetime, for tests that need more than Test::Nginx offers.

use strict;
use warnings;
use Exporter 'import';
use Client qw(exchange);
use Files qw(write_file);
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
    write_file("$prefix/nginx.conf", "$load $user pid nginx.pid; error_log logs/error.log info;\n$text");
}

# Runs it and returns its output; $? is its status.
sub nginx { `timeout 120 $nginx -p $prefix/ -c nginx.conf -e $prefix/logs/error.log @_ 2>&1` }

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

# A file of a process id can outlive its process, and the number be another's by then.
sub is_ours {
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/cmdline" or return 0;
    return index(do { local $/; <$file> } // '', "$prefix/") >= 0;
}

END {
    if ($$ == $test_process) {
        local $?;
        my @pids = grep { defined && is_ours($_) } map { pid_in($_) } 'nginx.pid', 'nginx.pid.oldbin';
        kill TERM => @pids if @pids;
        wait_until { !grep { is_ours($_) } @pids };
    }
}

1;
