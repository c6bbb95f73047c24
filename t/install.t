# `make install` installs files that work where they are, and `make uninstall` removes all of them.

use strict;
use warnings;
use lib 't/support';
use Cwd qw(getcwd);
use File::Find qw(find);
use File::Spec::Functions qw(abs2rel);
use File::Temp qw(tempdir);
use Test::More;
use Tree qw(luajit);

my $luajit = luajit() or plan skip_all => 'there is no luajit';
my $pkg_config = !system 'pkg-config --version >/dev/null 2>&1' or diag 'there is no pkg-config';
my $stage  = tempdir(CLEANUP => 1);

# Drops the settings that an outer `make test` passes on.
delete @ENV{qw(MAKEFLAGS MAKEOVERRIDES MFLAGS PREFIX LUA_LIB_DIR LUA_C_DIR LIB_DIR DESTDIR)};

sub make {
    my $output = `make --no-print-directory @_ 2>&1`;
    is $?, 0, "make @_" or diag $output;
}

sub files_in_stage {
    my @files;
    find({ no_chdir => 1, wanted => sub { push @files, substr $_, length $stage if !-d || -l } }, $stage);
    return [sort @files];
}

# Files that not everybody may use: nginx's workers are not root.
sub wrong_modes_in_stage {
    my @wrong;
    find({ no_chdir => 1, wanted => sub {
        return if -l || $_ eq $stage;
        my ($mode, $wanted) = ((stat)[2] & 07777, -d || m{/bin/} ? 0755 : 0644);
        push @wrong, sprintf '%s %o', $_, $mode if $mode != $wanted;
    } }, $stage);
    return \@wrong;
}

sub lua_files {
    my @files;
    find({ no_chdir => 1, wanted => sub { push @files, substr $_, length 'lua' if -f } }, 'lua/resty');
    return @files;
}

# The command, its manuals and its completions, and the functions for databases, below PREFIX.
my @command = (
    '/bin/txid',
    map({"/share/man/man1/txid$_.1"} '', qw(-new -inspect -range -grep -sort -audit -key -hide -reveal -completions -man)),
    '/share/bash-completion/completions/txid',
    '/share/zsh/site-functions/_txid',
    '/share/fish/vendor_completions.d/txid.fish',
    map({"/share/txid/$_"} map { s{^readers/}{}r } glob q(readers/sql/*.sql)),
);

sub id_with {
    local @ENV{qw(LUA_PATH LUA_CPATH)} = @_;
    return `timeout 120 $luajit -e 'print(require "resty.txid"())' 2>&1`;
}

# Evaluates the output of pkg-config in a shell.
sub flags {
    my ($prefix) = @_;
    local $ENV{PKG_CONFIG_PATH} = "$prefix/lib/pkgconfig";
    my @flags = split /\n/, `eval "printf '%s\\\\n' \$(pkg-config --cflags --libs txid)"`;
    for (@flags) { 1 while s{[^/]+/\.\./}{} }
    return map { s/^(-[IL])\Q$stage\E/$1/r } @flags;
}

for my $case (
    [
        'the defaults', "DESTDIR=$stage",
        lua => '/usr/local/share/lua/5.1', c => '/usr/local/lib/lua/5.1', prefix => '/usr/local',
    ],
    [
        'a prefix', "DESTDIR=$stage PREFIX=/opt/a",
        lua => '/opt/a/share/lua/5.1', c => '/opt/a/lib/lua/5.1', prefix => '/opt/a',
    ],
    [
        'OpenResty', "DESTDIR=$stage LUA_LIB_DIR=/usr/local/openresty/lualib",
        lua => '/usr/local/openresty/lualib', c => '/usr/local/openresty/lualib', prefix => '/usr/local',
    ],
    [
        'a prefix with a space', "DESTDIR=$stage PREFIX='/opt/a & b'",
        lua => '/opt/a & b/share/lua/5.1', c => '/opt/a & b/lib/lua/5.1', prefix => '/opt/a & b',
    ],
    [
        'relative directories', 'DESTDIR=' . abs2rel($stage) . ' PREFIX=/opt/a LUA_LIB_DIR=/opt/a/share/lua/5.1',
        lua => '/opt/a/share/lua/5.1', c => '/opt/a/lib/lua/5.1', prefix => '/opt/a',
    ],
    [
        'a relative prefix', 'PREFIX=' . abs2rel("$stage/b"),
        lua => '/b/share/lua/5.1', c => '/b/lib/lua/5.1', prefix => '/b',
    ],
    [
        'no stage', "PREFIX=$stage/b",
        lua => '/b/share/lua/5.1', c => '/b/lib/lua/5.1', prefix => '/b',
    ],
) {
    my ($name, $settings, %to) = @$case;
    make("install $settings");
    is_deeply files_in_stage(), [sort(
        "$to{prefix}/include/txid.h", "$to{prefix}/lib/libtxid.so", "$to{prefix}/lib/libtxid.so.2", "$to{prefix}/lib/libtxid.a",
        "$to{prefix}/lib/pkgconfig/txid.pc",
        "$to{c}/libtxid.so", map({"$to{lua}$_"} lua_files()), map({"$to{prefix}$_"} @command),
    )], "$name: all files are there, and no other";
    is_deeply wrong_modes_in_stage(), [], "$name: everybody may use them";
    like id_with("$stage$to{lua}/?.lua", "$stage$to{c}/?.so"), qr/^[0-9a-v]{19}[0g]$/, "$name: LuaJIT finds them";
    like `'$stage$to{prefix}/bin/txid'`, qr/^[0-9a-v]{19}[0g]$/, "$name: the command runs";
    is_deeply [flags("$stage$to{prefix}")], ["-I$to{prefix}/include", "-L$to{prefix}/lib", '-ltxid'],
        "$name: a compiler gets the flags as they are meant" if $pkg_config;

    make("install $settings");
    make("uninstall $settings");
    is_deeply files_in_stage(), [], "$name: uninstall leaves no file";
    ok !-e "$stage$_", "$name: nor its directory $_" for "$to{lua}/resty", "$to{prefix}/share/txid";
}

# Root may have an umask that gives others nothing.
my $umask = umask 0077;
make("install DESTDIR=$stage");
is_deeply wrong_modes_in_stage(), [], 'under umask 077, everybody may use them as well';
make("uninstall DESTDIR=$stage");
umask $umask;

# Under sudo there may be no cargo. Then `make install` installs what `make build` has built.
open my $readme, '<', 'README.md' or die "README.md: $!";
my @builds = map { /`(make.*?) && sudo / ? $1 : () } <$readme>;
ok @builds > 0, 'the README says how to build before sudo';
like `$_ --dry-run`, qr/^cargo build --locked --release$/m, "$_ builds the library" for @builds;

# `sudo make install` must not leave files of root in the tree, because the next build by the user would fail.
unlink 'target/release/txid.pc';
make("install DESTDIR=$stage");
ok !-e 'target/release/txid.pc', 'what is only made for the install is not left in the tree';
make("uninstall DESTDIR=$stage");

# resty/ also contains modules of other libraries.
my $resty = "$stage/usr/local/share/lua/5.1/resty";
make("install DESTDIR=$stage");
open my $other, '>', "$resty/other.lua" or die "$resty: $!";
close $other;
make("uninstall DESTDIR=$stage");
is_deeply files_in_stage(), ['/usr/local/share/lua/5.1/resty/other.lua'], "another project's file is left alone";

# install.sh of the archive, in one that is unpacked.
my $root = getcwd();
my $away = tempdir(CLEANUP => 1);
mkdir "$away/$_" for qw(txid txid/packaging txid/readers);
symlink "$root/$_", "$away/txid/$_" for qw(lua include readers/sql packaging/install.sh packaging/agent packaging/txid.pc.in);
symlink "$root/target/release", "$away/txid/built";
system 'cp', 'packaging/archive.sh', "$away/txid/install.sh";
open my $facts, '>', "$away/txid/packaging/facts.sh" or die $!;
print $facts "version=1.2.3\nrepository=https://example.com/txid\n";
close $facts;
sub unpacked {
    my ($command) = @_;
    my $said = `cd $away && $command 2>&1`;
    is $?, 0, $command or diag $said;
    return $said;
}
SKIP: {
    skip 'there is no txid-agent: make agent', 1 if !-x 'target/release/txid-agent';
    my $said = unpacked('PREFIX=a txid/install.sh');
    like $said, qr{^txid 1\.2\.3 is in a\.}m, 'where it is';
    like `$away/a/bin/txid`, qr/^[0-9a-v]{19}[0g]$/, 'a relative prefix is of the working directory';
    like `cat $away/a/lib/pkgconfig/txid.pc`, qr{^prefix=\Q$away\E/a$}m, 'and absolute in what is installed';
    is unpacked('PREFIX=a txid/install.sh --uninstall'), '', 'and not said to be there when it is removed';
    ok !-e "$away/a/bin/txid", 'it is removed from there';
    $said = unpacked('DESTDIR=image PREFIX=/usr txid/install.sh');
    like $said, qr{^txid 1\.2\.3 is in image/usr\.$}m, 'with DESTDIR, where it is now';
    ok -x "$away/image/usr/bin/txid", 'in the image';
    ok -e "$away/image/usr/lib/lua/5.1/libtxid.so" || -l "$away/image/usr/lib/lua/5.1/libtxid.so", 'the library is where LuaJIT looks';
    like `cat $away/image/usr/lib/pkgconfig/txid.pc`, qr{^prefix=/usr$}m, 'and for /usr of the image';
    unpacked('DESTDIR=image PREFIX=/usr txid/install.sh --uninstall');
    like unpacked('txid/install.sh --help'), qr/^Usage: /, 'how it is used';
    like `cd $away && txid/install.sh --remove 2>&1`, qr/^txid: install\.sh takes .*, not '--remove'$/m, 'a wrong option is named';
    is $? >> 8, 2, 'and is an error of usage';
    mkdir "$away/of-root";
    my $refused = "cd $away && PREFIX=of-root txid/install.sh 2>&1";
    # Root may write everywhere.
    chmod 0755, $away;
    $refused = "setpriv --reuid=65534 --clear-groups sh -c '$refused'" if !$>;
    chmod 0555, "$away/of-root";
    like `$refused`, qr{^txid: of-root is not writable: run this as root, or with PREFIX=DIRECTORY$}m, 'where nothing may be written';
    is $? >> 8, 1, 'and nothing is';
}

done_testing;
