# scripts/need.sh, which says what is missing, or installs it with apt-get, on a machine simulated by stand-ins for its tools.

use strict;
use warnings;
use File::Spec;
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
tool('rustc', 'echo rustc 1.999.0');
tool('id', 'echo 0');
tool('dpkg-query', 'exit 1');

# Like apt-get when an installed package conflicts with the new ones.
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

$ENV{TXID_INSTALL} = 1;

sub need {
    my $said = `PATH="$bin:\$PATH" scripts/need.sh @_ 2>&1`;
    return ($? >> 8, $said);
}

my ($status, $said) = need('bench');
is $status, 1, 'what would take another package away is not installed';
like $said, qr/REMOVED:\n  luajit\n/, 'which one is said';
like $said, qr/^E: no\ntxid: apt-get could not install: wrk procps\b/m, 'and what is missing';
ok -e "$bin/apt-get", 'nothing was removed';

# A machine without Rust and LuaJIT, whose release has these packages. It prints what it is asked to install. Its package lists
# are empty until they are fetched.
sub machine {
    my (%candidates) = @_;
    unlink "$bin/$_" for qw(cargo rustc lists);
    tool('apt-get', <<"END");
case "\$*" in
    *update*) touch $bin/lists ;;
    *) echo "\$*" >>$bin/installed ;;
esac
END
    my $policies = join '', map {"$_) echo '  Candidate: $candidates{$_}' ;;\n"} sort keys %candidates;
    tool('apt-cache', qq([ -e $bin/lists ] || exit 0\ncase "\$2" in\n$policies esac));
}

# Without this machine's cargo, rustc and luajit.
sub installed {
    my $tools = tempdir(CLEANUP => 1);
    for my $name (qw(env sh sed grep mktemp rm tail head sort cut touch cat)) {
        my ($path) = grep {-x} map {"$_/$name"} File::Spec->path;
        symlink $path, "$tools/$name" or die "$name: $!";
    }
    unlink "$bin/installed";
    my $said = `PATH="$bin:$tools" sh scripts/need.sh @_ 2>&1`;
    my $status = $? >> 8;
    open my $file, '<', "$bin/installed" or return ($status, $said, '');
    return ($status, $said, join '', <$file>);
}

my $installed;
machine('cargo' => '0.66.0+ds1-1', 'cargo-web' => '1.96.0+dfsg1-1~deb12u2', luajit => '2.1.0~beta3', luajit2 => '2.1-20230119-1');
($status, $said, $installed) = installed('build', 'suites');
is $status, 0, 'Debian 12' or diag $said;
like $installed, qr/ cargo-web /, 'has a new Rust as cargo-web';
like $installed, qr/ luajit2$/m, "and OpenResty's LuaJIT as luajit2";

machine('cargo' => '1.85.0+dfsg3-1', 'cargo-web' => '1.96.0+dfsg1-1~deb13u1', luajit => '2.1.0+openresty20250117-2', luajit2 => '(none)');
($status, $said, $installed) = installed('build', 'suites');
is $status, 0, 'Debian 13' or diag $said;
like $installed, qr/ cargo /, 'has a new Rust as cargo';
like $installed, qr/ luajit$/m, "and OpenResty's LuaJIT as luajit";

machine('cargo' => '0.47.0-3', luajit => '2.1.0~beta3');
($status, $said, $installed) = installed('build', 'run');
is $status, 1, 'a release without a new Rust is reported';
like $said, qr/^txid: cargo is missing: install a Rust toolchain \(1\.\d+ or later\) and try again$/m, 'what to do';
is $installed, '', 'and nothing is installed';

machine();
unlink "$bin/openresty";
($status, $said, $installed) = installed('try');
is $status, 0, 'make try needs no Rust' or diag $said;
like $installed, qr/ nginx libnginx-mod-http-lua$/m, 'only nginx with Lua';

machine('cargo' => '1.85.0+dfsg3-1');
tool('cargo', '');
tool('rustc', 'echo "rustc 1.63.0 (4b91a6ea7 2022-08-08)"');
($status, $said, $installed) = installed('build', 'suites');
is $status, 1, 'a Rust that is too old';
like $said, qr{^txid: $bin/rustc is Rust 1\.63\.0, and 1\.\d+ or later is needed: }, 'is named before anything is built';
is $installed, '', 'and nothing is installed';

open my $lists, '>', "$bin/lists" or die $!;
($status, $said) = installed('build');
like $said, qr{ first in PATH, or: apt-get install cargo$}m, 'the newer one that Debian has is named as well';

# Nobody has said that it may install.
delete $ENV{TXID_INSTALL};
machine('cargo' => '0.66.0+ds1-1', 'cargo-web' => '1.96.0+dfsg1-1~deb12u2');
open $lists, '>', "$bin/lists" or die $!;
unlink "$bin/cc";
($status, $said, $installed) = installed('build', 'nginx-module');
is $status, 1, 'what is missing is not installed unasked';
is $said, <<'END', 'but said, with the line to type';
txid: these are missing: gcc libc6-dev make nginx-dev libnginx-mod-stream cargo-web. As root:
apt-get install --no-install-recommends gcc libc6-dev make nginx-dev libnginx-mod-stream cargo-web
END
is $installed, '', 'and no package manager was called';

machine();
($status, $said, $installed) = installed('build');
is $status, 1, 'without package lists';
like $said, qr/^txid: cargo is missing: /, 'the reason is said';
ok !-e "$bin/lists", 'and no lists are fetched';

# An ordinary user who may use sudo.
$ENV{TXID_INSTALL} = 1;
machine();
tool($_, '') for qw(cc cargo);
tool('rustc', 'echo rustc 1.999.0');
tool('id', 'echo 1000');
tool('sudo', qq(echo "sudo \$*" >>$bin/installed));
($status, $said, $installed) = installed('build', 'nginx-module');
is $status, 0, 'a user who may use sudo' or diag $said;
like $installed, qr/^sudo env .*apt-get .* install .* make nginx-dev libnginx-mod-stream$/m, 'installs with it';
tool('sudo', 'echo "a password is required" >&2; exit 1');
($status, $said, $installed) = installed('build', 'nginx-module');
is $status, 1, 'one who may not, and whom nobody can ask for a password';
like $said, qr/^apt-get install .* make nginx-dev libnginx-mod-stream$/m, 'reads what to type';
is $installed, '', 'and nothing is installed';
tool('id', 'echo 0');
unlink "$bin/sudo";
delete $ENV{TXID_INSTALL};

# Rust is there, but not what lints.
tool($_, '') for qw(cc openresty);
tool('rustc', 'echo rustc 1.999.0');
tool('cargo', 'case $1 in fmt | clippy) exit 101 ;; esac');
tool('luacheck', '');
tool('rustup', qq(echo "rustup \$*" >>$bin/installed));
($status, $said, $installed) = installed('build', 'lint');
is $said, "txid: rustfmt and clippy are missing: rustup component add rustfmt clippy\n", 'clippy, where there is rustup';
is $installed, '', 'is not installed unasked';
$ENV{TXID_INSTALL} = 1;
($status, $said, $installed) = installed('build', 'lint');
is $installed, "rustup component add rustfmt clippy\n", 'but when asked';
unlink "$bin/rustup";
machine('rustfmt' => '1.63.0', 'rustfmt-web' => '1.96.0', 'rust-clippy' => '1.63.0', 'rust-web-clippy' => '1.96.0');
tool($_, '') for qw(cc openresty);
tool('rustc', 'echo rustc 1.999.0');
tool('cargo', 'case $1 in fmt | clippy) exit 101 ;; esac');
($status, $said, $installed) = installed('build', 'lint');
like $installed, qr/ rustfmt-web rust-web-clippy$/m, "or Debian's, of the same release as its Rust";

# Make says who may.
for my $target (qw(build try run test test-agent check lint agent nginx-module install deb rpm bench test-install release)) {
    my $called = `make --no-print-directory -n -p $target 2>/dev/null`;
    my $may    = $called =~ /^$target: TXID_INSTALL := 1$/m ? 1 : 0;
    is $may, $target =~ /^(?:try|run|test|test-agent)$/ ? 1 : 0, "make $target " . ($may ? 'may install' : 'installs nothing');
}

done_testing;
