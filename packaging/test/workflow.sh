# The workflow: it parses, what its jobs need and run exists, and each action is named by the hash of its commit.
. packaging/test/_common.sh

perl - <<'END'
use strict;
use warnings;
use YAML::XS qw(LoadFile);

my @targets = map { /^([a-z-]+):/ ? $1 : () } do { open my $make, '<', 'Makefile' or die $!; <$make> };
sub there_is_target {
    my ($where, $command) = @_;
    # As a command, not as a package to install.
    while ($command =~ /(?:^|&& |app )make ([a-z-]+)/gm) {
        my $target = $1;
        grep { $_ eq $target } @targets or die "$where: there is no make $target\n";
    }
}

for my $workflow (glob '.github/workflows/*.yml') {
    my $jobs = LoadFile($workflow)->{jobs};
    for my $name (sort keys %$jobs) {
        my $job = $jobs->{$name};
        my $needs = $job->{needs} // [];
        $jobs->{$_} or die "$workflow: $name needs $_, which is not there\n" for ref $needs ? @$needs : $needs;
        $job->{'runs-on'} or die "$workflow: $name runs on nothing\n";
        for my $action (map { $_->{uses} // () } @{ $job->{steps} }) {
            $action =~ /@[0-9a-f]{40}$/ or die "$workflow: $name: $action may become another one: name its commit\n";
        }
        for my $command (map { $_->{run} // () } @{ $job->{steps} }) {
            there_is_target($workflow, $command);
            while ($command =~ m{(?<![\w/.])((?:(?:scripts|packaging)/[\w.-]+\.sh|\.ci/[\w.-]+))}g) {
                -x $1 or die "$workflow: $name: there is no $1 to run\n";
            }
        }
    }
}
END
