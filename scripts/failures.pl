#!/usr/bin/perl
# failures.pl [names] LOG...: reads what test programs have printed (of Rust, Perl or Python, or test.sh), and prints for each test that failed
# the last of what it said, and at the end the names of all, each with the command that runs it again. With `names`, prints the
# names alone. The first line of a log may be the command that wrote it, after "$ ".

use strict;
use warnings;

my $MOST_LINES = 30;
my $wants_names = @ARGV && $ARGV[0] eq 'names' && shift;
# Each: name, the command that runs it again, and its last lines.
my @failures;

sub failed {
    my ($name, $again, @lines) = @_;
    my ($known) = grep { $_->{name} eq $name } @failures;
    push @failures, $known = { name => $name, lines => [] } unless $known;
    $known->{again} ||= $again;
    push @{ $known->{lines} }, @lines;
}

sub quoted {
    my ($word) = @_;
    return $word =~ m{^[\w./:=-]+$} ? $word : "'$word'";
}

# libtest, and programs with a harness of their own, which print what a test says in front of its result.
sub rust {
    my ($command, @lines) = @_;
    my $is_agents = ($command // '') =~ m{agent/Cargo\.toml};
    my $cargo = 'cargo test --locked --workspace '
        . ($is_agents ? '--manifest-path agent/Cargo.toml --target-dir target' : '--all-features');
    my (@of_program, %said, @since, $block, $ended);
    for (@lines) {
        if (/^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/) {
            if ($2 eq 'FAILED') {
                push @of_program, $1;
                $said{$1} = [@since];
            }
            @since = ();
        }
        elsif (/^---- (.+?)(?: - should panic)? stdout ----$/) { $said{ $block = $1 } = [] }
        elsif (/^failures:$/)                                    { undef $block }
        elsif (/^ +(?:Running|Doc-tests) /) { @since = () }
        elsif (/^error: (?:doc)?test failed, to rerun pass `-p (\S+) (.*)`/) {
            my ($package, $which) = ($1, $2);
            my $program = "$package " . $which =~ s/^--(?:test )?//r;
            failed("$program: $_", "$cargo $which -- " . quoted($_), @{ $said{$_} }) for @of_program;
            # It ended before it could say which test failed; the reason follows.
            failed($ended = $program, "$cargo $which", @since) unless @of_program;
            @of_program = @since = ();
            %said = ();
        }
        elsif ($ended && /^  process didn't exit/) { failed($ended, undef, $_) }
        elsif (defined $block) { push @{ $said{$block} }, $_ }
        else                   { push @since, $_ unless /^\s*$/ }
    }
    return;
}

sub perl {
    my (@lines) = @_;
    my ($without, $file, $is_summary, @block, %said, %blocks) = ('');
    my $keep = sub {
        my $text = join "\n", @block;
        my ($of) = $text =~ m{\b(t/[\w./-]+\.t)\b};
        # "t/lua/x.t TEST 1: the title - what was checked (repeated req 0, req 0)", or the name of a test alone.
        my ($block) = $text =~ /\A#   Failed test '(?:t\/\S+ )?(TEST \d+: .*?(?= - |'$)|.*?(?='$))/m;
        push @{ $said{ $without . $of } }, @block if $of;
        push @{ $blocks{ $without . $of } }, $block if $of && defined $block && !grep { $_ eq $block } @{ $blocks{ $without . $of } };
        @block = ();
    };
    for (@lines) {
        # The second run, of the same files.
        if (/^t\/: .* in plain LuaJIT$/) { $keep->(); $without = 'TXID_WITHOUT_LIBRARY=1 '; $is_summary = 0 }
        elsif (/^#   Failed test|^# logs kept in /) { $keep->(); push @block, $_ }
        elsif (@block && /^#/)           { push @block, $_ }
        elsif (/^Test Summary Report/)   { $keep->(); $is_summary = 1 }
        elsif ($is_summary && m{^(t/\S+)\s+\(Wstat}) {
            $file = $1;
            failed("$without$file", "${without}scripts/prove.sh -v $file", @{ $said{"$without$file"} // [] });
            $failures[-1]{blocks} = $blocks{"$without$file"};
        }
        elsif ($is_summary && $file && /^  (?:Failed|Non-zero|Parse)/) { failed("$without$file", undef, $_) }
        else                                                           { $keep->() }
    }
    return;
}

sub python {
    my ($command, @lines) = @_;
    my $name;
    for (@lines) {
        if (/^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)/) {
            my ($test, $place) = ($1, $2);
            # Before Python 3.11, the place is only the class.
            $name = $place =~ /\.\Q$test\E$/ ? $place : "$place.$test";
            failed($name, ($command // 'python3 -m unittest') . " $name");
        }
        elsif (/^=====/ || /^Ran \d+ tests/) { undef $name }
        elsif (defined $name && !/^-----/)   { failed($name, undef, $_) }
    }
    return;
}

# What this program has printed at the end of another run.
sub summary {
    my (@lines) = @_;
    my $name;
    for (@lines) {
        if    (/^FAILED: (.*)/)             { $name = $1 }
        elsif ($name && /^    again: (.*)/) { failed($name, $1); undef $name }
    }
    return;
}

for my $path (@ARGV) {
    open my $log, '<', $path or die "failures.pl: $path: $!\n";
    chomp(my @lines = <$log>);
    s/\e\[[0-9;]*m//g for @lines;
    my $command = @lines && $lines[0] =~ /^\$ (.*)/ ? $1 : undef;
    my $before = @failures;
    rust($command, @lines);
    perl(@lines);
    python($command, @lines);
    summary(@lines);
    failed($path, $command // "see $path", @lines) if @failures == $before && !$wants_names;
    $_->{log} //= $path for @failures;
}

if ($wants_names) {
    print "$_->{name}\n" for @failures;
    exit;
}
for my $failure (@failures) {
    my @lines = @{ $failure->{lines} };
    print "\n==== $failure->{name} (all of it: $failure->{log})\n";
    # The reason of a panic stands at its beginning, and that of a failed build at the end.
    my $left_out = @lines - $MOST_LINES;
    @lines = (@lines[0 .. $MOST_LINES / 2 - 1], "... $left_out lines ...", @lines[-$MOST_LINES / 2 .. -1]) if $left_out > 0;
    print map {substr($_, 0, 400) . "\n"} @lines;
}
printf "\n%d failed:\n", scalar @failures;
print "FAILED: $_->{name}\n", map({"    $_\n"} @{ $_->{blocks} // [] }), "    again: $_->{again}\n" for @failures;
