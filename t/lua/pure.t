# resty.txid.pure in plain LuaJIT, compared with libtxid.

use strict;
use warnings;
use lib 't/support';
use Test::More;
use Tree qw(library lua_cpath lua_path luajit);

my $luajit = luajit() or plan skip_all => 'there is no luajit';

library();
@ENV{qw(LUA_PATH LUA_CPATH)} = (lua_path(), lua_cpath());
exec $luajit, 't/lua/pure.lua' or die "$luajit: $!";
