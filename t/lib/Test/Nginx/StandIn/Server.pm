package Test::Nginx::StandIn::Server;

# One nginx at a time, in its own server root; none outlives the test.

use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use POSIX ();
use Test::More ();
use Time::HiRes qw(sleep time);

use Test::Nginx::StandIn::Config qw(write_file);
use Test::Nginx::StandIn::ErrorLog ();
use Test::Nginx::StandIn::Settings qw(
    html_dir nginx_binary server_port server_root timeout);

my $conf_file = server_root() . '/conf/nginx.conf';
my $pid_file  = server_root() . '/logs/nginx.pid';

my $test_process = $$;
my $may_be_starting;

sub make_root {
    my $root = server_root();
    remove_tree($root);
    make_path("$root/conf", "$root/logs", html_dir());
    write_file(html_dir() . '/index.html',
        '<html><head><title>It works!</title></head><body>It works!</body></html>');
}

sub write_config { write_file($conf_file, shift) }

# The exit status of nginx. It binds its ports before it becomes a daemon: on a
# zero, connections are already taken.
sub start {
    my (%option) = @_;
    my $root   = server_root();
    my $stderr = $option{quiet} ? '2>/dev/null' : '';

    $may_be_starting = 1;
    my $status = system 'sh', '-c', qq{exec "\$@" >/dev/null $stderr}, 'sh',
        nginx_binary(), '-e', "$root/logs/error.log", '-p', "$root/", '-c', $conf_file;
    $may_be_starting = $status == 0;
    Test::More::BAIL_OUT('cannot run ' . nginx_binary()) if $status >> 8 >= 126;
    return $status;
}

sub stop {
    # nginx writes the pid file last.
    wait_until(2, sub { defined running_pid() }) if $may_be_starting;
    $may_be_starting = 0;
    my $pid = running_pid() // return;

    for my $attempt ([QUIT => timeout()], [TERM => 2]) {
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
    open my $file, '<', $pid_file or return undef;
    my ($pid) = (<$file> // '') =~ /^(\d+)/ or return undef;
    return is_our_nginx($pid) ? $pid : undef;
}

# A pid file can outlive its process, and the number may belong to another one by
# now. Ours was started with our configuration. A zombie has no command line.
sub is_our_nginx {
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/cmdline" or return 0;
    return index(do { local $/; <$file> } // '', $conf_file) >= 0;
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
        if (-d server_root()) {
            $passed ? remove_tree(server_root()) : Test::More::diag('logs kept in ' . server_root() . " by $0 (port " . server_port()
                . "); error.log ends with:\n" . Test::Nginx::StandIn::ErrorLog::tail());
        }
    }
}

1;
