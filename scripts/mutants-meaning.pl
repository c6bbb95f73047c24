#!/usr/bin/perl
# mutants-meaning.pl check|promises [WORD...]: breaks each promise of tests/promises.md's table as mutants.meaning says, one at a time, and
# says which of the tests that are named there failed. A WORD chooses those with one of these words in their lines. Without a change all
# of these tests must pass. `check` changes nothing: it only looks whether each line of mutants.meaning and of
# mutants.equivalent has its place, and each promise a line.
#
# It works in a copy of the tree. Builds stay in target/mutants, without link-time optimization where no test counts bytes or
# instructions: a changed library is built in a third of the time.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/support";
use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Files qw(contents write_file);

chdir "$FindBin::Bin/.." or die;
my $root = getcwd();
my ($wanted, @words) = @ARGV;
die "usage: mutants-meaning.pl check|promises [WORD...]\n" unless ($wanted // '') =~ /^(?:check|promises)$/;

# The rows of the table in tests/promises.md: the promise, and the tests that are named beside it.
sub promises {
    my ($table) = contents('tests/promises.md') =~ /^## What must never break\n(.*?)^## /ms or die "tests/promises.md has no such table\n";
    my %tests;
    while ($table =~ /^\| (?!promise|--)(.*) \| (.*) \|$/mg) {
        my ($promise, $tests) = ($1, $2);
        $tests{$promise} = [$tests =~ /`([^`]+)`/g];
    }
    return \%tests;
}

# Tests of bytes and instructions, which need the library as it is shipped.
my $COUNTS = qr/speed|shared_object|compile/;

# How a test is run that is named as in tests/promises.md, with the arguments that follow its name; and where it builds, if this file is
# changed. A build without a change serves the changes of other files.
sub command {
    my ($test, $path) = @_;
    my ($name, $more) = split / /, $test, 2;
    $more //= '';
    my $rust = 'cargo test --locked --quiet';
    my $is_compiled = $path =~ /\.(?:c|rs|h)$/;
    my $target = $is_compiled ? "$root/target/mutants" : "$root/target";
    # Suites run with what is built in target/release and target/nginx.
    my $profile = $name =~ /$COUNTS/ ? '' : 'CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 ';
    my $build = $is_compiled ? "${profile}RUSTC_WRAPPER=\$PWD/scripts/rustc.sh cargo build --locked --release --quiet --package txid-capi && " : '';
    # The library is part of the modules.
    my $modules = $is_compiled ? 'scripts/nginx-module.sh && ' : '';
    my $line =
        $name =~ m{^t/} ? "$build${modules}scripts/prove.sh $name"
        : $name =~ m{^tests/sql/(\w+)\.py$} ? "tests/sql/run.sh $1"
        : $name =~ m{^tests/helpers/tests/(\w+)\.rs$} ? "$rust --package txid-test-helpers --test $1 -- $more"
        : $name =~ m{^tests/(\w+)\.rs$} ? "$rust --package txid --all-features --test $1 -- $more"
        : $name =~ m{^crates/capi/tests/(\w+)(?:\.rs)?$} ? "$build$rust --package txid-capi --test $1 -- $more"
        : $name =~ m{^crates/capi/src/(tests\w*)\.rs$} ? "$rust --package txid-capi --lib -- " . ($more || $1)
        : "$rust --package txid --all-features --lib -- " . ($name =~ s{^src/}{}r =~ s{\.rs$}{}r =~ s{/}{::}gr);
    return { line => $line, target => $target };
}

# What is shipped, by its path.
my %text_of;
for my $path (split /\0/, `git ls-files -z '*.rs' '*.lua' '*.h' '*.c' '*.sql'`) {
    $text_of{$path} = contents($path) if -f $path && $path !~ m{(?:^|/)(?:t|tests|docs|bench|studies)/};
}

# The one place of this code, and the text of its file with the other code there.
sub place {
    my ($old, $new) = @_;
    my $code = join '\s*', map {quotemeta} $old =~ /\w+|[^\w\s]/g;
    my @paths = map {
        my $path = $_;
        map {$path} $text_of{$path} =~ /$code/g
    } sort keys %text_of;
    die "mutants.meaning: no file has '$old' any more: write down what breaks this promise now\n" unless @paths;
    die "mutants.meaning: make '$old' longer, because these have it: @paths\n" if @paths > 1;
    my $text = $text_of{ $paths[0] };
    return { path => $paths[0], text => $text, changed => $text =~ s/$code/$new/r };
}

my $promises = promises();
my (@changes, %kept);
for my $line (grep {/\S/ && !/^#/} split /\n/, contents('scripts/mutants.meaning')) {
    # A bar in code is written with a backslash.
    my ($promise, $old, $new, $tests) = map {s/\\\|/|/gr} split / \| /, $line;
    die "mutants.meaning: not four fields: $line\n" unless defined $tests;
    my @tests = split / ; /, $tests;
    my ($row) = grep { index($_, $promise) == 0 } sort keys %$promises;
    die "mutants.meaning: tests/promises.md has no promise that begins with '$promise'\n" unless $row;
    $kept{$row} = 1;
    for my $test (map { (split / /)[0] } @tests) {
        die "mutants.meaning: '$row' is not tested by $test\n" unless grep { $test =~ m{\Q$_\E(?:\.rs)?$} } @{ $promises->{$row} };
        my ($file) = $test =~ m{^((?:t|(?:[\w/]+/)?tests)/[^.]+)} or next;
        die "mutants.meaning: there is no $test\n" unless grep {-e} $file, "$file.t", "$file.rs", "$file.py";
    }
    my $place = place($old, $new);
    next if @words && !grep { index($line, $_) >= 0 } @words;
    push @changes, { %$place, old => $old, new => $new, tests => \@tests };
}
my @untried = grep { !$kept{$_} } sort keys %$promises;
die "mutants.meaning breaks no promise like this one: $_\n" for @untried;
for my $line (grep {/\S/ && !/^#/} split /\n/, contents('scripts/mutants.equivalent')) {
    my ($path, $before) = map {s/\\\|/|/gr} split / \| /, $line;
    my $text = -f $path ? contents($path) =~ s/\s+/ /gr : '';
    die "mutants.equivalent: $path has no '$before' any more: take the line out\n" if index($text, $before) < 0;
}
exit if $wanted eq 'check';
die "mutants-meaning.pl: no changes\n" unless @changes;

my $tree = tempdir('txid-meaning-XXXXXX', TMPDIR => 1, CLEANUP => 1);
# Workers of nginx may not run as root.
chmod 0755, $tree or die "mutants-meaning.pl: $tree: $!\n";
mkdir "$root/target/mutants";
system("git ls-files -z | xargs -0 cp --parents -t '$tree' && cp -R .git '$tree'") == 0
    or die "mutants-meaning.pl: cannot copy the tree\n";

sub runs {
    my ($command) = @_;
    local $ENV{CARGO_TARGET_DIR} = $command->{target};
    unlink "$tree/target";
    symlink $command->{target}, "$tree/target" or die "mutants-meaning.pl: $tree/target: $!\n";
    return system("cd '$tree' && timeout -k 5 600 sh -c '$command->{line}' >mutant.log 2>&1") == 0;
}

# Whether this test notices the change; or 'no code', if it is none any more.
sub outcome {
    my ($change, $command) = @_;
    my $path = "$tree/$change->{path}";
    write_file($path, $change->{changed});
    my $passed = runs($command);
    write_file($path, $change->{text});
    return 'no code' if contents("$tree/mutant.log") =~ /could not (?:compile|be built)/;
    return $passed ? 'survived' : 'caught';
}

# Without a change first, so that nothing is built twice for it.
$| = 1;
my %is_green;
for my $change (@changes) {
    for my $test (@{ $change->{tests} }) {
        my $command = command($test, $change->{path});
        next if $is_green{ $command->{line} };
        $is_green{ $command->{line} } = runs($command) or die "$test fails without a change:\n" . contents("$tree/mutant.log");
        my @passed = contents("$tree/mutant.log") =~ /^test result: ok\. (\d+) passed/mg;
        die "mutants.meaning: $test names no test\n" if @passed && !grep {$_} @passed;
    }
}

my $caught = 0;
for my $change (@changes) {
    my %of = map { $_ => outcome($change, command($_, $change->{path})) } @{ $change->{tests} };
    my $is_caught = !grep { $_ ne 'caught' } values %of;
    $caught++ if $is_caught;
    print $is_caught ? 'caught    ' : 'SURVIVED  ', "$change->{path}: $change->{old}  ->  $change->{new}\n";
    print "          $of{$_} by $_\n" for sort keys %of;
}
printf "%d of %d changes caught\n", $caught, scalar @changes;
exit($caught < @changes);
