# tests/vectors/ in plain LuaJIT, with libtxid and without it.

use strict;
use warnings;
use lib 't/support';
use Test::More;
use Tree qw(library lua_cpath lua_path luajit);
use Vectors qw(lua_file);

my $luajit = luajit() or plan skip_all => 'there is no luajit';

library();
$ENV{LUA_PATH} = lua_path();
my $file = lua_file(qw(formats hidden times trust));
for ([ 'with libtxid', lua_cpath() ], [ 'without libtxid', '/nowhere/?.so' ]) {
    (my $name, $ENV{LUA_CPATH}) = @$_;
    is(qx($luajit t/lua/vectors.lua $file 2>/dev/null), '', $name);
    is($?, 0, "$name, to the end");
}
done_testing();
