package Tree;

# Where this tree's Lua files and its release library are. TXID_WITHOUT_LIBRARY in the environment hides the library, so
# that ids are made in plain LuaJIT. With TXID_EXACT_BUFFERS, buffers are as t/support/exact makes them.

use strict;
use warnings;
use Cwd qw(getcwd);
use Exporter 'import';
use File::Spec;

our @EXPORT_OK = qw(library lua_cpath lua_path luajit);

my $root   = getcwd();
my $target = File::Spec->rel2abs($ENV{CARGO_TARGET_DIR} || 'target', $root);

sub lua_path  {($ENV{TXID_EXACT_BUFFERS} ? "$root/t/support/exact/?.lua;" : '') . "$root/lua/?.lua;$root/t/?.lua;;"}
sub lua_cpath {$ENV{TXID_WITHOUT_LIBRARY} ? "$root/t/?.so" : "$target/release/?.so;;"}

sub library {
    my $library = "$target/release/libtxid.so";
    -e $library or die "there is no $library: run `make build` in the root of the tree, and the tests from there\n";
    return $library;
}

# A LuaJIT without nginx, or undef. OpenResty brings its own.
sub luajit {
    my @directories = (File::Spec->path, '/usr/local/openresty/luajit/bin');
    return (grep {-x} map {"$_/luajit"} @directories)[0];
}

1;
