# scripts/need.sh, which has apt-get install what is missing, on a machine that these stand-ins for its tools make up.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my $bin = tempdir(CLEANUP => 1);

sub tool {
    my ($name, $script) = @_;
    open my $file, '>', "$bin/$name" or die "$bin/$name: $!";
    print $file "#!/bin/sh\n$script\n";
    close $file or die "$bin/$name: $!";
    chmod 0755, "$bin/$name" or die "$bin/$name: $!";
}

tool($_, '') for qw(cc cargo openresty);
tool('id', 'echo 0');
tool('dpkg-query', 'exit 1');

# As apt-get is where a package that is there cannot be had with the new ones.
tool('apt-get', <<'END');
case "$*" in
    *update*) exit 0 ;;
    *--no-remove*)
        printf 'The following packages will be REMOVED:\n  luajit\nThe following NEW packages\n  a\n  b\n  c\n  d\nE: no\n'
        exit 100
        ;;
esac
rm "$0"
END

sub need {
    my $said = `PATH="$bin:\$PATH" scripts/need.sh @_ 2>&1`;
    return ($? >> 8, $said);
}

my ($status, $said) = need('bench');
is $status, 1, 'what would take another package away is not installed';
like $said, qr/REMOVED:\n  luajit\n/, 'which one is said';
like $said, qr/^E: no\ntxid: apt-get could not install: wrk procps\b/m, 'and what is missing';
ok -e "$bin/apt-get", 'nothing was removed';

done_testing;
