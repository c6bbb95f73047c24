# resty.txid.cidr in plain LuaJIT, compared with a reference.

use strict;
use warnings;
use lib 't/support';
use Test::More;
use Tree qw(lua_path luajit);

my $luajit = luajit() or plan skip_all => 'there is no luajit';

$ENV{LUA_PATH} = lua_path();
exec $luajit, 't/lua/cidr.lua' or die "$luajit: $!";
