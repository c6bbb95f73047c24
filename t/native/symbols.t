# A process may contain several copies of the library: one in each nginx module, and the one that Lua loads, possibly of another
# version. LD_DEBUG shows that none of them binds to a symbol of another.

use strict;
use warnings;
use lib 't/support';
use File::Copy qw(copy);
use Native qw(modules);
use OwnNginx;
use Test::More;
use Tree qw(library lua_path);

my $ours = join ' ', grep {/txid/} modules();
my $has_lua = join(' ', modules()) =~ /http_lua/;
plan skip_all => 'the modules are built in' unless $ours;

like `nm -D --defined-only $_`, qr/\A(?:\w+ \w (?:ngx_(?:http|stream)_txid_module|ngx_http_txid_internal_version|ngx_module\w*)\n)+\z/,
    "$_ shows nothing but what nginx and Lua look for" for split ' ', $ours;

# Like another version: with its own file and soname.
my $other = prefix() . '/other';
mkdir $other;
copy(library(), "$other/libtxid.so") or die $!;

my $port = free_port();
my $lua  = $has_lua ? <<"END" : '';
    lua_package_path "@{[lua_path()]}";
    lua_package_cpath "$other/?.so";
    init_by_lua_block { require("resty.txid")() require("resty.txid.maker").new("strong")() require("resty.txid.uuid").v7() }
END
my $by_lua = $has_lua ? 'set_by_lua_block $lua { return require("resty.txid")() .. require("resty.txid.maker").new("strong")() }' : 'set $lua "";';
write_config(<<"END");
events {}
master_process off;
http {
$lua
    access_log off;
    txid_accept all;
    txid_variable \$order snowflake node=3 state=@{[prefix()]}/orders;
    server {
        listen 127.0.0.1:$port;
        $by_lua
        location / { return 200 "\$txid \$request_txid \$txid_strong \$txid_uuid_v7 \$txid_flake \$txid_traceparent \$order \$lua"; }
    }
}
END
$ENV{LD_DEBUG} = 'bindings';
$ENV{LD_DEBUG_OUTPUT} = prefix() . '/bindings';
my $said = nginx();
delete @ENV{qw(LD_DEBUG LD_DEBUG_OUTPUT)};
is $?, 0, 'nginx starts' or BAIL_OUT($said);
like exchange($port, "GET / HTTP/1.0\r\nX-Request-Id: mine\r\n\r\n"), qr/^[0-9a-v]{20} mine [0-9a-v]{20} /m, 'and has ids';

my @bindings = map { open my $file, '<', $_ or die $!; <$file> } glob prefix() . '/bindings.*';
cmp_ok scalar(@bindings), '>', 1000, 'the loader says what it binds';
my (@across, $seen);
for (@bindings) {
    my ($from, $to, $symbol) = /binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\S+?)'/ or next;
    $seen = 1 if $from =~ /txid/;
    push @across, "$from -> $to: $symbol" if $from ne $to && $from =~ /txid/ && $to =~ /txid/;
    push @across, "$from -> $to: $symbol" if $from ne $to && $symbol =~ /^(?:ngx_)?txid_/;
}
ok $seen, 'also of the modules';
is_deeply \@across, [], 'no copy is bound to another';

done_testing;
