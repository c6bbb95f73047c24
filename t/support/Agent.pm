package Agent;

# For test files of Test::Nginx: txid-agents that lease nodes from a directory, and end with the test.

use strict;
use warnings;
use File::Spec;
use State ();
use Test::More ();
use Time::HiRes qw(sleep);

my ($agent) = grep { -x } map { File::Spec->rel2abs("target/$_/txid-agent") } qw(release debug);
Test::More::plan(skip_all => 'there is no txid-agent: make agent') if !$agent;

my $dir = State::directory();
my $test_process = $$;
my @pids;
# For commands that read the store, as an operator runs them.
symlink $agent, "$dir/txid-agent" or die "$dir/txid-agent: $!";

# Keeps DIR/run-NAME/NAME, and writes its own process id to DIR/NAME.pid.
sub start {
    my ($name, @options) = @_;
    my $pid = fork() // die "fork: $!";
    if (!$pid) {
        open STDERR, '>', "$dir/$name.log" or die "$dir/$name.log: $!";
        exec $agent, 'run', '--dir', "$dir/run-$name", '--node', "$name=snowflake", '--assume-unused-store',
            (grep { $_ eq '--store' } @options) ? () : ('--store', "file://$dir/store"), @options;
    }
    push @pids, $pid;
    open my $file, '>', "$dir/$name.pid" or die "$dir/$name.pid: $!";
    print {$file} $pid;
    close $file;
    for (1 .. 6000) {
        last if -e "$dir/run-$name/$name";
        sleep 0.01;
    }
    Test::More::BAIL_OUT("txid-agent has not made $dir/run-$name/$name in a minute:\n" . `tail -n 20 $dir/$name.log`)
        if !-e "$dir/run-$name/$name";
    # Workers that open the file themselves run as nobody.
    chmod 0755, "$dir/run-$name";
    chmod 0666, "$dir/run-$name/$name";
    return;
}

# Not in a process that the test has forked: its exit would end the agents of the test.
END {
    if ($$ == $test_process) {
        local $?;
        kill CONT => @pids;
        kill TERM => @pids;
        waitpid $_, 0 for @pids;
    }
}

1;
