# Dockerfile, docker-compose.yml and the workflow: they parse, and the files they name exist.
. packaging/test/_common.sh

perl - <<'END'
use strict;
use warnings;
use YAML::XS qw(LoadFile);

# The Dockerfile: known instructions, stages that come before they are used, files that exist.
my %known = map { $_ => 1 }
    qw(ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL STOPSIGNAL USER VOLUME WORKDIR);
my %stages;
open my $file, '<', 'Dockerfile' or die "Dockerfile: $!\n";
my $text = join '', grep { !/^\s*#/ } <$file>;
$text =~ s/\\\n\s*//g;
for my $line (grep {/\S/} split /\n/, $text) {
    my ($instruction, @words) = split ' ', $line;
    $known{$instruction} or die "Dockerfile: no instruction: $line\n";
    if ($instruction eq 'FROM') {
        $words[0] =~ /^[a-z0-9.\/-]+(?::[\w.-]+)?$/ or die "Dockerfile: no image: $line\n";
        @words == 1 || @words == 3 && uc $words[1] eq 'AS' or die "Dockerfile: no stage: $line\n";
        $stages{$words[2] // 'the last'} = 1;
    }
    elsif ($instruction eq 'COPY') {
        my ($from) = map { /^--from=(.*)/ ? $1 : () } @words;
        my @paths = grep { !/^--/ } @words;
        @paths >= 2 or die "Dockerfile: from where to where? $line\n";
        pop @paths;
        if ($from) {
            $stages{$from} or die "Dockerfile: no stage $from before: $line\n";
        }
        else {
            -e or die "Dockerfile: there is no $_: $line\n" for @paths;
        }
    }
}
$stages{'the last'} or die "Dockerfile: the last stage has a name, and there is none to run\n";

my @targets = map { /^([a-z-]+):/ ? $1 : () } do { open my $make, '<', 'Makefile' or die $!; <$make> };
sub there_is_target {
    my ($where, $command) = @_;
    # As a command, not as a package to install.
    while ($command =~ /(?:^|RUN |&& |app |" )make ([a-z-]+)/gm) {
        my $target = $1;
        grep { $_ eq $target } @targets or die "$where: there is no make $target\n";
    }
}
there_is_target('Dockerfile', $text);

my $compose = LoadFile('docker-compose.yml');
my $services = $compose->{services};
$services->{app} or die "docker-compose.yml: there is no service app\n";
for my $name (sort keys %$services) {
    my $service = $services->{$name};
    my $build = $service->{build};
    -f "$build->{context}/$build->{dockerfile}" or die "docker-compose.yml: there is no $build->{dockerfile}\n";
    $stages{$build->{target}} or die "docker-compose.yml: no stage $build->{target} in the Dockerfile\n";
    there_is_target('docker-compose.yml', $service->{command});
    for my $volume (@{ $service->{volumes} }) {
        my ($source) = split /:/, $volume;
        $source =~ m{^[./]} ? -e $source : exists $compose->{volumes}{$source}
            or die "docker-compose.yml: there is no $source for the volume $volume\n";
    }
}

for my $workflow (glob '.github/workflows/*.yml') {
    my $jobs = LoadFile($workflow)->{jobs};
    for my $name (sort keys %$jobs) {
        my $job = $jobs->{$name};
        my $needs = $job->{needs} // [];
        $jobs->{$_} or die "$workflow: $name needs $_, which is not there\n" for ref $needs ? @$needs : $needs;
        $job->{'runs-on'} or die "$workflow: $name runs on nothing\n";
        for my $command (map { $_->{run} // () } @{ $job->{steps} }) {
            there_is_target($workflow, $command);
            while ($command =~ m{(?<![\w/.])((?:scripts|\.ci)/[\w.-]+)}g) {
                -x $1 or die "$workflow: $name: there is no $1 to run\n";
            }
        }
    }
}

# The agent's examples; agent/tests/with_servers/fleet runs their command lines.
my $fleet = LoadFile('examples/agent/compose.yml')->{services};
for my $name (qw(web-1 web-2)) {
    # This parser leaves a merge key as it is.
    my $build = $fleet->{$name}{build} // $fleet->{$name}{'<<'}{build};
    -f "examples/agent/$build->{context}/$build->{dockerfile}"
        or die "examples/agent/compose.yml: there is no Dockerfile of $name\n";
}
LoadFile('examples/agent/kubernetes.yml')->{spec}{template}{spec}{containers}[0]{args}
    or die "examples/agent/kubernetes.yml: there is no command line\n";
END
