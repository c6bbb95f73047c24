# `make install` installs files that work where they are, and `make uninstall` removes all of them.

use strict;
use warnings;
use lib 't/support';
use File::Find qw(find);
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
    find({ no_chdir => 1, wanted => sub { push @files, substr $_, length 'lua' if -f } }, 'lua');
    return @files;
}

# The command, its manuals and its completions, and the functions for databases, below PREFIX.
my @command = (
    '/bin/txid',
    map({"/share/man/man1/txid$_.1"} '', qw(-new -inspect -range -grep -sort)),
    '/share/bash-completion/completions/txid',
    '/share/zsh/site-functions/_txid',
    '/share/fish/vendor_completions.d/txid.fish',
    map({"/share/txid/$_"} glob 'sql/*.sql'),
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

done_testing;
