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
my $LEAST = 97;

# Numbers, texts and whole conditions are left alone: they would be three times as many.
my $MUTATORS = 'fn_value,relational,arith,bitwise,shift,assign,logical,unary,match_guard,match_arm,struct_field,stmt';

sub without { return map { ('--exclude-test', $_) } @_ }

# Tests that read code, or build the library once more.
my @READERS = qw(circles dependencies documents figures web_reader);

# Where the code of each package is; its tests but those that read other directories, count instructions or wait for servers; and, if some
# of these are slow, the others, which are tried first.
my %PACKAGES = (
    'txid' => { in => 'src', tests => [without(@READERS)], quick => [without(@READERS, 'children'), qw(-- --skip every_order)] },
    'txid-keyed' => { in => 'crates/keyed', tests => [qw(--test-package txid-keyed --test-package txid), without(@READERS)], quick => [] },
    'txid-capi' => { in => 'crates/capi', tests => [without(qw(interface shared_object signals speed))] },
    'txid-cli' => { in => 'crates/cli', tests => [without('soak')] },
    'txid-agent' => { in => 'agent/src', tests => [without('with_servers'), qw(-- --skip config::schema --skip the_units_have)] },
    'txid-agent-machines' => { in => 'agent/machines', tests => [], quick => [without(qw(model simulation))] },
);

# What cargo-gamma reports of each file: of all changes, or of those with these numbers.
sub report {
    my ($package, $files, $ids, @tests) = @_;
    my $artifacts = "target/gamma/$package";
    my $house = $package =~ /^txid-agent/ ? 'agent' : '.';
    my @command = (qw(cargo gamma run --no-config --dir), $house);
    # It asks systemd to limit the memory that a change may take.
    push @command, '--no-relaunch' unless -d '/run/systemd/system';
    push @command, qw(--color never --all-features --cargo-arg=--locked --test-timeout-multiplier 3 --minimum-test-timeout 5), '--artifact-dir', $artifacts;
    push @command, '--mutators', $MUTATORS, '--package', $package;
    push @command, map { ('--file', $house eq 'agent' ? s{^agent/}{}r : $_) } @$files;
    push @command, map { ('--mutant', $_) } @$ids;
    unlink "$artifacts/gamma-report.json";
    system @command, @tests;
    die "mutants-rust.pl: cargo-gamma did not get to the end with $package\n" unless -e "$artifacts/gamma-report.json";
    my $found = decode_json(contents("$artifacts/gamma-report.json"))->{files};
    return $house eq 'agent' ? { map { ("agent/$_" => $found->{$_}) } keys %$found } : $found;
}

# No test noticed it, or none came there.
sub is_alive { return $_[0]{status} eq 'Survived' || $_[0]{status} eq 'NoCoverage' }

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
    my $how = $PACKAGES{$package};
    my @chosen = grep { index($_, "$how->{in}/") == 0 } @files;
    next if @files && !@chosen;
    my $found = report($package, \@chosen, [], @{ $how->{quick} // $how->{tests} });
    my @alive = grep { is_alive($_) } map { @{ $_->{mutants} } } values %$found;
    if ($how->{quick} && @alive) {
        my $again = report($package, \@chosen, [map { $_->{id} } @alive], @{ $how->{tests} });
        my %slow = map { ($_->{id} => $_) } map { @{ $_->{mutants} } } values %$again;
        %$_ = %{ $slow{ $_->{id} } } for @alive;
    }
    my %count = map { $_ => 0 } qw(Killed Stopped Survived NoCoverage Equivalent CompileError);
    for my $path (sort keys %$found) {
        my @lines = split /\n/, $found->{$path}{source};
        for my $mutant (sort { $a->{location}{start}{line} <=> $b->{location}{start}{line} } @{ $found->{$path}{mutants} }) {
            my $status = $mutant->{status};
            # What never ends is stopped, and so was noticed.
            $status = 'Stopped' if ($mutant->{statusReason} // '') =~ /^(?:timed out|out of memory): /;
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
