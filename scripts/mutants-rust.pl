#!/usr/bin/perl
# mutants-rust.pl PACKAGE... [FILE...]: changes the Rust code of these packages, or of these files of them, in one place at a time (an
# operator, a returned value, an arm of a match, a statement), runs the tests that reach it, and prints the changes that no test noticed,
# and a table. cargo-gamma builds all changes of a package at once, and an environment variable chooses one of them. Slow tests run only
# for the changes that no other test noticed. Changes that nobody could notice are in mutants.equivalent.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/support";
use Files qw(contents);
use JSON::PP qw(decode_json);

chdir "$FindBin::Bin/.." or die;
# A text on which a change fails would be tried with all later changes, and fail with these as well if it is the code that is wrong.
$ENV{PROPTEST_DISABLE_FAILURE_PERSISTENCE} = 1;
my $LEAST = 97;

# Numbers, texts and whole conditions are left alone: they would be three times as many.
my $MUTATORS = 'fn_value,relational,arith,bitwise,shift,assign,logical,unary,match_guard,match_arm,struct_field,stmt';

sub without { return map { ('--exclude-test', $_) } @_ }
sub only { return map { ('--include-test', $_) } @_ }
sub skip { return map { ('--skip', $_) } @_ }

# Tests that read code, or build the library once more.
my @READERS = skip(qw(circles:: dependencies:: documents:: figures:: web_reader::));

# Each test in a process of its own.
my @ALONE = qw(alone snowflake_processes);

# Tests of the library that try all orders, all days, or until two threads meet.
my @LONG = qw(every_order each_day_is_that_of_jiff two_threads_with_one_state);

# The agent's tests that read other directories; of tests with servers, also what takes long and drives nothing that others do not; and of
# those without, what takes more than a second.
my @ELSEWHERE = skip(qw(config::schema the_units_have metrics systemd the_command_lines_of_the_examples
    each_fault nothing_that_a_child_starts_is_left));
my @AGENTS_LONG = skip(qw(of_several_that_find others_take_the_lock any_bytes_are_an_answer wire::tests::fields_are_read_back
    a_line_is_one_line));

# Where the code of each package is; its tests but those that read other directories or count instructions; and slower ones, in rounds that
# try what the ones before have left.
my %PACKAGES = (
    'txid' => {
        in => 'src',
        tests => [without(@ALONE), '--', @READERS, skip(@LONG)],
        then => [[only(@ALONE)], [qw(--test-lib --), @LONG]],
    },
    'txid-keyed' => {
        in => 'crates/keyed',
        tests => [],
        then => [[qw(--test-package txid-keyed --test-package txid --), @READERS]],
    },
    'txid-capi' => { in => 'crates/capi', tests => [without('all')] },
    # Without /proc, cargo-gamma itself does not start.
    'txid-cli' => { in => 'crates/cli', tests => ['--', skip('without_proc')] },
    'txid-agent' => {
        in => 'agent/src',
        tests => [without('with_servers'), '--', @ELSEWHERE, @AGENTS_LONG],
        # With all servers in turn, the tests take longer than the ten minutes that cargo-gamma has for a suite.
        then => [
            [without('with_servers'), '--', @ELSEWHERE],
            map { [only('with_servers'), '--', @ELSEWHERE, @$_] } [qw(power_cuts:: segments:: attacks:: beside:: listen::)],
            ['fleet::'], ['stores::access::'], [qw(stores:: --skip stores::access::)],
        ],
    },
    'txid-agent-machines' => { in => 'agent/machines', tests => ['--', skip('simulation::')], then => [[qw(-- simulation::)]] },
);

# What cargo-gamma reports of each file: of all changes, or of those with these numbers.
sub report {
    my ($package, $files, $ids, @tests) = @_;
    my $artifacts = "target/gamma/$package";
    my $workspace = $package =~ /^txid-agent/ ? 'agent' : '.';
    my @command = (qw(cargo gamma run --no-config --dir), $workspace);
    # It asks systemd to limit the memory that a change may take.
    push @command, '--no-relaunch' unless -d '/run/systemd/system';
    push @command, qw(--color never --all-features --cargo-arg=--locked --test-timeout-multiplier 3 --minimum-test-timeout 5);
    push @command, '--artifact-dir', $artifacts;
    push @command, '--mutators', $MUTATORS, '--package', $package;
    push @command, map { ('--file', $workspace eq 'agent' ? s{^agent/}{}r : $_) } @$files;
    push @command, map { ('--mutant', $_) } @$ids;
    unlink "$artifacts/gamma-report.json";
    system @command, @tests;
    die "mutants-rust.pl: cargo-gamma did not get to the end with $package\n" unless -e "$artifacts/gamma-report.json";
    my $found = decode_json(contents("$artifacts/gamma-report.json"))->{files};
    return $workspace eq 'agent' ? { map { ("agent/$_" => $found->{$_}) } keys %$found } : $found;
}

# A run that never ends, or takes all memory, is stopped, and so was noticed.
sub is_stopped { return ($_[0]{statusReason} // '') =~ /^(?:timed out|out of memory): / }

# No test noticed it, or none came there.
sub is_alive { return ($_[0]{status} eq 'Survived' || $_[0]{status} eq 'NoCoverage') && !is_stopped($_[0]) }

# The line where this change begins, before and after it.
sub change {
    my ($lines, $mutant) = @_;
    my ($start, $end) = @{ $mutant->{location} }{qw(start end)};
    my $line = $lines->[$start->{line} - 1];
    my $rest = $start->{line} == $end->{line} ? substr $line, $end->{column} - 1 : '';
    my $changed = substr($line, 0, $start->{column} - 1) . ($mutant->{replacement} // '') . $rest;
    return map { s/\s+/ /gr =~ s/^ | $//gr } $line, $changed;
}

# {path}{before}{after} is true if nobody could notice that change.
my %known;
for (grep { /^\S+\.rs / } split /\n/, contents('scripts/mutants.equivalent')) {
    # A bar in code is written with a backslash.
    my ($path, $before, $after, $reason) = map {s/\\\|/|/gr} split / \| /;
    die "mutants.equivalent: no reason in: $_\n" unless $reason;
    $known{$path}{$before}{$after} = 1;
}

my @files = grep { m{/} } @ARGV;
my @packages = grep { !m{/} } @ARGV;
die "mutants-rust.pl: which of these packages? @{[sort keys %PACKAGES]}\n" if !@packages || grep { !$PACKAGES{$_} } @packages;
my ($is_bad, @table);
for my $package (@packages) {
    # So that every order of threads is tried, too.
    local $ENV{RUSTFLAGS} = '--cfg loom' if $package eq 'txid';
    my $how = $PACKAGES{$package};
    my @chosen = grep { index($_, "$how->{in}/") == 0 } @files;
    next if @files && !@chosen;
    # The tests beside the code of a library's module come first: they take seconds.
    my %rooms = map { m{^src/(\w+)/} ? ("${1}::" => 1) : () } @chosen;
    my ($first, @then) = (%rooms ? [qw(--test-lib --), sort keys %rooms] : (), $how->{tests}, @{ $how->{then} // [] });
    my $found = report($package, \@chosen, [], @$first);
    for my $round (@then) {
        my @alive = grep { is_alive($_) } map { @{ $_->{mutants} } } values %$found or last;
        my $again = report($package, \@chosen, [map { $_->{id} } @alive], @$round);
        my %later = map { ($_->{id} => $_) } map { @{ $_->{mutants} } } values %$again;
        %$_ = %{ $later{ $_->{id} } } for @alive;
    }
    my %count = map { $_ => 0 } qw(Killed Stopped Survived NoCoverage Equivalent CompileError);
    for my $path (sort keys %$found) {
        my @lines = split /\n/, $found->{$path}{source};
        for my $mutant (sort { $a->{location}{start}{line} <=> $b->{location}{start}{line} } @{ $found->{$path}{mutants} }) {
            my $status = $mutant->{status};
            $status = 'Stopped' if is_stopped($mutant);
            my ($before, $after) = change(\@lines, $mutant);
            $status = 'Equivalent' if is_alive($mutant) && $known{$path}{$before}{$after};
            $count{$status}++;
            next if $status ne 'Survived' && $status ne 'NoCoverage';
            print join(' | ', "$path:$mutant->{location}{start}{line}", map {s/\|/\\|/gr} $before, $after), "\n";
        }
    }
    my ($noticed, $missed) = ($count{Killed} + $count{Stopped}, $count{Survived} + $count{NoCoverage});
    my $rate = 100 * $noticed / ($noticed + $missed || 1);
    $is_bad = 1 if $rate < $LEAST;
    my @counts = @count{qw(Killed Stopped Survived NoCoverage Equivalent CompileError)};
    push @table, sprintf "%-20s %7d %8d %9d %10d %11d %10d %6.1f %%\n", $package, @counts, $rate;
}
die "mutants-rust.pl: none of these packages has @files\n" unless @table;
printf "\n%-20s %7s %8s %9s %10s %11s %10s %8s\n", qw(package caught stopped survived unreached equivalent impossible rate);
print @table;
exit($is_bad // 0);
