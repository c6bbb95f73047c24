# Hidden numbers at a gateway: examples/hidden.conf, and the directives of the native modules. Nothing of the key is in a core dump.

use strict;
use warnings;
use lib 't/support';
use Client qw(exchange);
use Cwd qw(getcwd realpath);
use Example qw(request serve);
use File::Temp qw(tempdir);
use Files qw(contents write_file);
use Modules;
use OwnNginx qw(wait_until);
use Test::More;
use Tree qw(lua_cpath lua_path luajit);
use Vectors qw(vectors);

# A key file of this test's, where the examples have theirs.
my $dir = realpath(tempdir(CLEANUP => 1));
chmod 0755, $dir or die $!;
my $hex = '85962D72415D32DA4F2C574C02C44ED9';
my $key = write_file("$dir/orders.key", "$hex\n", 0600);

sub here { return $_[0] =~ s{/etc/txid/orders\.key}{$key}gr }

sub http {
    my ($port, $path) = @_;
    return exchange($port, "GET $path HTTP/1.0\r\nHost: localhost\r\n\r\n");
}

# As the documents have it, but for the limit: no test may depend on how fast it is. The application says what it saw.
sub gateway {
    my ($text) = @_;
    $text =~ s/burst=20/burst=1000000/g;
    $text =~ s/# In place of an application.*//s;
    $text .= <<'END';
    log_format seen "$request_uri";
    server {
        listen unix:application.sock;
        access_log logs/application.log seen;
        default_type text/plain;
        location / { return 200 "$request_uri $http_x_original_url$http_x_rewrite_url"; }
    }
}
END
    return here($text);
}

# In docs/hidden.md, it is what stands in the http block.
sub native_block {
    my ($block) = contents('docs/hidden.md') =~ /^```nginx\n(txid_reveal .*?)^```/ms or die 'docs/hidden.md has no example';
    $block =~ s/\blisten 8080;/listen 127.0.0.1:8080;/;
    return "pid logs/nginx.pid; error_log logs/error.log;\nevents {}\nhttp {\naccess_log off;\nupstream backend { server unix:application.sock; }\n$block";
}

my $image = '93283471659';

# Each is an order to some application.
my @raw = (
    qw(/orders/42 /orders/42/ /orders/42/items /orders/42// /orders/42%2f /orders/42%2Fitems /orders/42/. /orders/42/./items /orders/42/..
        /orders/ /ORDERS/42 /Orders/42/ /oRDERS/42 //orders/42 /orders//42 /orders/%34%32 /%6frders/42 /%4FRDERS/42 /orders%2f42
        /orders/./42 /./orders/42 /orders/x/../42 /x/../orders/42 /x/%2e%2e/orders/42 /orders/..%2forders/42
        /orders/42?x=1 /orders/?x=1 /orders/42;x=1 /orders;x=1/42 /;/orders/42 /;x/orders/42 /.;/orders/42 /x/..;/orders/42
        /orders\\42 /orders%5c42 /\\orders\\42 /x/..\\orders\\42 /x/..%5corders/42
        /orders/42.json /orders.json/42 /orders./42 /orders%20/42 /orders/%2042 /orders/42%20 /orders/42%00 /orders/42%0a /orders/42%23
        /orders/+42 /orders/042 /orders/0x2a /orders/%2534%2532 /orders/-42 /orders:42 /orders&42),
    "/orders/42,43", "http://localhost/orders/42", "/ORDERS/$image", "/orders/93283471658", "/orders/9328347165", "/orders/${image}0", "/orders/${image}x",
    "/orders/x$image", "/orders/$image;x=1", "/orders/$image%00", "/orders/$image%0a", "/orders/$image%20", "/orders/$image.json",
    "/orders/$image/../42", "/orders/$image/%2e%2e/42", "/orders/$image/..%2f42", "/orders/$image/..;/42", "/orders/$image/..%5c42",
    "/orders/$image/..\\42", "/orders/$image/../../orders/42", "/orders/x/$image",
);

# What goes on, and what the application sees of it.
my %seen = (
    "/orders/$image"                        => '/orders/42',
    "/orders/$image/"                       => '/orders/42/',
    "/orders/$image/items"                  => '/orders/42/items',
    "/orders/$image%2fitems"                => '/orders/42/items',
    "/orders/$image//items/7"               => '/orders/42/items/7',
    "/orders/$image?page=2&x=%2f"           => '/orders/42?page=2&x=%2f',
    "/orders/$image/items?page=2"           => '/orders/42/items?page=2',
    "/orders/$image/a%20b%3fc%25"           => '/orders/42/a%20b%3Fc%25',
    "/orders/$image/items;colour=red"       => '/orders/42/items;colour=red',
    "/orders/42/../$image"                  => '/orders/42',
    "/%6frders/93283471%3659"               => '/orders/42',
    '/orders'                               => '/orders',
    '/orders?page=2'                        => '/orders?page=2',
    '/ordersummary/42'                      => '/ordersummary/42',
    '/orders-archive/42'                    => '/orders-archive/42',
    '/other/42'                             => '/other/42',
);

sub check_paths {
    my ($port, $prefix, $what) = @_;
    my $log = "$prefix/logs/application.log";
    for my $path (@raw) {
        my ($status) = request($port, $path);
        like $status, qr/^40[04]$/, "$what: $path is not there";
    }
    is contents($log), '', "$what: the application has seen none of them";
    for my $path (sort keys %seen) {
        my ($status, undef, $body) = request($port, $path, 'X-Original-URL: /orders/42', 'X-Rewrite-URL: /orders/42');
        is "$status $body", "200 $seen{$path} ", "$what: $path goes on";
    }
    unlike contents("$prefix/logs/error.log"), qr/\[(?:error|crit|alert|emerg)\]/, "$what: nothing is wrong in the error log";
}

# With the limit at a request a minute. An answer to a wrong image costs a try as one to a right image does.
sub check_limit {
    my ($text, $what, @modules) = @_;
    $text =~ s/burst=1000000/burst=20/g;
    $text =~ s{rate=5r/s}{rate=1r/m} or die "no limit: $text";
    for my $tried ("/orders/$image", '/orders/93283471658') {
        my ($port) = serve($text, @modules);
        my @status = map { (request($port, $tried))[0] } 1 .. 40;
        is $status[0], $tried =~ /9$/ ? 200 : 404, "$what: $tried may be tried";
        is $status[-1], 429, "$what: but not without end";
    }
}

{
    my $text = gateway(contents('examples/hidden.conf'));
    check_paths(serve($text), 'in Lua');
    check_limit($text, 'in Lua');
}

# What the application answers, and what a customer gets.
my @answers = (
    ['application/json', '{"order":42}', qq({"order":"$image"})],
    ['application/json', '{"order": 42}', qq({"order": "$image"})],
    ['application/json', qq({"order"\t:\n 42 }), qq({"order"\t:\n "$image" })],
    ['application/json', '{"order":"42","n":42}', qq({"order":"$image","n":42})],
    ['application/json', '{"orders":[42, "43"],"items":[42]}', qq({"orders":["$image", "27757655838"],"items":[42]})],
    ['application/json', '{"orders":[{"order_id":42},{"order_id":43}]}', qq({"orders":[{"order_id":"$image"},{"order_id":"27757655838"}]})],
    ['application/json', '{"orders":[]}', '{"orders":[]}'],
    ['application/json', '{"order":42.0}', qq({"order":"$image"})],
    ['application/json', '{"order":"a 42","reorder":42,"text":"\\"order\\":42"}', '{"order":"a 42","reorder":42,"text":"\\"order\\":42"}'],
    ['application/json', '{"self":"/orders/42","more":"http:\\/\\/a\\/orders\\/42\\/items"}',
        qq({"self":"/orders/$image","more":"http:\\/\\/a\\/orders\\/$image\\/items"})],
    ['application/problem+json; charset=utf-8', '{"order":42}', qq({"order":"$image"})],
    ['application/vnd.api+json', '{"order":42}', qq({"order":"$image"})],
    ['Application/JSON', '{"order":42}', qq({"order":"$image"})],
    ['text/plain', '{"order":42}', '{"order":42}'],
);
my @headers = (
    ['Location', '/orders/42', "/orders/$image"],
    ['Location', '/orders/42/', "/orders/$image/"],
    ['Location', 'https://shop.example/orders/42/items?page=2', "https://shop.example/orders/$image/items?page=2"],
    ['Location', '/search?page=2', '/search?page=2'],
    ['Content-Location', '/orders/42', "/orders/$image"],
    ['Link', '</orders/42?page=2>; rel="next", </orders/43>; rel="up"', qq(</orders/$image?page=2>; rel="next", </orders/27757655838>; rel="up")],
    ['Refresh', '5; url=/orders/42', "5; url=/orders/$image"],
);

{
    my $text = gateway(contents('examples/hidden.conf'));
    my $locations = '';
    for my $index (0 .. $#answers) {
        my ($type, $body) = $answers[$index]->@*;
        $body =~ s/([\\'])/\\$1/g;
        $locations .= "location = /orders/42/body$index { default_type '$type'; return 200 '$body'; }\n";
    }
    for my $index (0 .. $#headers) {
        my ($name, $value) = $headers[$index]->@*;
        $locations .= "location = /orders/42/header$index { absolute_redirect off; add_header $name '$value'; return 200; }\n";
    }
    $locations .= <<'END';
location = /orders/42/twice { add_header Link "</orders/42>"; add_header Link "</orders/43>"; return 200; }
location = /orders/42/part { default_type application/json; return 200 '{"before": "...", "order": 42}'; }
location = /orders/42/lost { return 404 "there is no order"; }
location = /orders/42/theirs { return 403 "this is not your order"; }
location = /orders/42/large { default_type application/json; return 200 '{"order":4200000000000}'; }
location = /orders/42/negative { default_type application/json; return 200 '{"order":-42}'; }
END
    $text =~ s/(default_type text\/plain;)/$1\n$locations/;
    my ($port, $prefix) = serve($text);
    for my $index (0 .. $#answers) {
        my ($type, $given, $expected) = $answers[$index]->@*;
        my ($status, undef, $body) = request($port, "/orders/$image/body$index");
        is "$status $body", "200 $expected", "$type: $given";
    }
    for my $index (0 .. $#headers) {
        my ($name, $value, $expected) = $headers[$index]->@*;
        like http($port, "/orders/$image/header$index"), qr/^$name: \Q$expected\E\r$/m, "$name: $value";
    }
    is join(' ', http($port, "/orders/$image/twice") =~ /^Link: (.*?)\r$/mg), "</orders/$image> </orders/27757655838>", 'each of two headers';
    my ($status, undef, $body) = request($port, "/orders/$image/part", 'Range: bytes=0-25', 'If-Range: "a"');
    is "$status $body", qq(200 {"before": "...", "order": "$image"}), 'no part cuts a number';
    unlike http($port, "/orders/$image/part"), qr/^Accept-Ranges/m, 'and none is offered';
    my @same = map { join ' ', (request($port, $_))[0, 2] } "/orders/$image/lost", "/orders/$image/theirs", '/orders/93283471658';
    is_deeply [@same[1, 2]], [@same[0, 0]], 'one answer for what is not there, for what is not yours, and for no image';
    like $same[0], qr/^404 /, 'which is 404';
    unlike contents("$prefix/logs/error.log"), qr/\[(?:error|crit|alert|emerg)\]/, 'nothing is wrong in the error log';
    unlike http($port, "/orders/$image/$_"), qr/42/, "a number without an image does not go out: $_" for qw(large negative);
}

my $native = Modules::directory() . '/ngx_http_txid_module.so';
my $misfit = -e $native ? Modules::misfit() : "there is no $native: make nginx-module";
SKIP: {
    skip $misfit, 1 if $misfit;
    my $text = gateway(native_block());
    check_paths(serve($text, $native), 'with the native module');
    check_limit($text, 'with the native module', $native);
}
SKIP: {
    skip $misfit, 1 if $misfit;
    my ($port, $prefix) = serve(here(<<'END'), $native);
pid logs/nginx.pid;
error_log logs/error.log info;
events {}
http {
    access_log off;
    txid_reveal $image $order key=/etc/txid/orders.key name=orders digits=10 check;
    txid_hide   $arg_number $shown key=/etc/txid/orders.key name=orders digits=10 check;
    txid_hide   $arg_number $longest key=/etc/txid/orders.key name=orders letters=13;
    server {
        listen 127.0.0.1:8080;
        location ~ ^/orders/(?<image>[^/]*)$ {
            if ($order = "") { return 404; }
            rewrite ^ /order?number=$order last;
        }
        location /order { return 200 "$order $shown $longest"; }
        location /twice { set $args number=1; set $one $shown; set $args number=2; return 200 "$one $shown"; }
    }
}
END
    my $answer = sub { my ($status, undef, $body) = request($port, $_[0]); return $status == 200 ? $body : $status };
    like $answer->('/orders/93283471659'), qr/^42 93283471659 [0-9a-z]{13}$/, 'revealed, and hidden again';
    is $answer->("/orders/$_"), 404, "'$_' is no image" for '', '42', '93283471658', '9328347165x', '9328347165%0a';
    like $answer->('/order?number=18446744073709551615'), qr/^  [0-9a-z]{13}$/, 'only a longer image has all 64 bits';
    like $answer->("/order?number=$_"), qr/^  $/, "'$_' is no number" for '18446744073709551616', '-1', 'x', '';
    my ($one, $two) = split ' ', $answer->('/twice');
    ok $one ne $two, 'a value that changes is hidden anew';
    my $log = contents("$prefix/logs/error.log");
    like $log, qr/\[info\].* txid: not revealed: its check digit is wrong/, 'the log says why';
    like $log, qr/\[error\].* txid: not hidden: 18446744073709551615 is above 9999999999/, 'of both';
    my @said = map { scalar(() = $log =~ /$_/g) } '\[info\].* txid: not revealed: ', '\[error\].* txid: not hidden: ', ' txid: ';
    is_deeply \@said, [4, 7, 11], 'once for each text that is none';
    unlike $log, qr/\[(?:crit|alert|emerg)\]/, 'and nothing else is wrong';

    # A client's mistake breaks one link. A key that is not the one of the store's numbers breaks all of them.
    SKIP: {
        my $luajit = luajit() or skip 'there is no luajit', 1;
        my $state = "$dir/orders.segment";
        local @ENV{qw(LUA_PATH LUA_CPATH)} = (lua_path(), lua_cpath());
        system($luajit, '-e', qq{local page = require "support.segment_page" page.make("$state") page.name_a_key("$state")}) == 0 or die $?;
        my ($port, $prefix) = serve(here(<<"END"), $native);
pid logs/nginx.pid;
error_log logs/error.log info;
events {}
http {
    access_log off;
    txid_reveal \$arg_image \$order key=/etc/txid/orders.key name=orders digits=10 check state=$state;
    txid_hide \$arg_number \$shown key=/etc/txid/orders.key name=orders digits=10;
    server { listen 127.0.0.1:8080; location / { return 200 "[\$order\$shown]"; } }
}
END
        is +(request($port, "/?image=$image"))[2], '[]', 'no number is revealed by a key that the store does not have';
        is +(request($port, "/?image=&number="))[2], '[]', 'and none by an empty image, of which the log says nothing';
        my @said = grep {/not (?:revealed|hidden)/} split /\n/, contents("$prefix/logs/error.log");
        like "@said", qr/^\S+ \S+ \[error\] (?:(?!not revealed).)* txid: not revealed: (?:(?!not revealed).)*$/, 'which the log says once, as an error';
    }

    # A worker that has just hidden a number, as the kernel or a debugger writes its memory.
    SKIP: {
        skip 'there is no gcore', 1 if system('command -v gcore >/dev/null 2>&1') != 0;
        my ($master) = contents("$prefix/logs/nginx.pid") =~ /(\d+)/;
        my ($worker) = `pgrep -P $master` =~ /(\d+)/;
        $answer->('/orders/93283471659');
        `gcore -o $dir/core $worker 2>&1`;
        my $core = contents("$dir/core.$worker");
        ok index($core, 'orders.key') >= 0, 'the core has what is in memory';
        my $bytes = pack 'H*', $hex;
        # The schedule of FIPS 197, appendix A.1: the key and its first and last round keys.
        for my $part ($bytes, pack('H*', 'a0fafe1788542cb123a339392a6c7605'), pack('H*', 'd014f9a8c9ee2589e13f0cc8b6630ca6'), $hex, lc $hex) {
            ok index($core, $part) < 0, 'but not ' . unpack 'H*', $part;
        }
    }

    # A reload forgets the key that was read before it.
    {
        my ($master) = contents("$prefix/logs/nginx.pid") =~ /(\d+)/;
        my $locked   = sub { contents("/proc/$master/status") =~ /^VmLck:\s*(\d+)/m && $1 };
        my $workers  = sub { join ' ', sort split ' ', `pgrep -P $master` };
        # The key of nginx's start was locked in the process that has become the master by a fork, which undoes that.
        my @locked = map {
            my $old = $workers->();
            kill HUP => $master;
            ok wait_until { my $new = $workers->(); $new ne '' && !grep { " $new " =~ / $_ / } split ' ', $old }, 'a reload has new workers';
            $locked->();
        } 1 .. 2;
        is $locked[1], $locked[0], 'and as much memory is locked for keys as after the one before';
    }

    {
        my ($directives, $locations) = ('', '');
        my $vectors = vectors('hidden');
        my @cases = ($vectors->{valid}->@*, $vectors->{invalid}->@*);
        for my $index (0 .. $#cases) {
            my $case = $cases[$index];
            my $of_case = write_file("$dir/$index.key", join('', map {"$_\n"} $case->{keys}->@*), 0600);
            my $options = join ' ', "key=$of_case", $case->{options}->@*;
            $directives .= qq(txid_hide \$inside$index \$image$index $options; txid_reveal \$shown$index \$original$index $options;\n);
            my $inside = $case->{inside} // '';
            my $shown = $case->{shown} =~ s/\n/\\n/r;
            $locations .= qq(location = /$index { set \$inside$index "$inside"; set \$shown$index "$shown"; return 200 "\$image$index \$original$index"; }\n);
        }
        my ($port) = serve("pid logs/nginx.pid; error_log logs/error.log;\nevents {}\n"
            . "http {\naccess_log off;\n${directives}server { listen 127.0.0.1:8080;\n$locations}\n}\n", $native);
        for my $index (0 .. $#cases) {
            my $case = $cases[$index];
            my $expected = defined $case->{inside} ? "$case->{shown} $case->{inside}" : ' ';
            is +(request($port, "/$index"))[2], $expected, $case->{name};
        }
    }

    my $test = sub {
        my ($directive, $prefix) = (@_, '');
        my $file = write_file("$dir/test.conf", here("load_module $native; pid $dir/pid; error_log stderr; events {} http { access_log off; $directive }"));
        my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
        my $said = `$prefix$nginx -t -e stderr -p $dir -c $file 2>&1`;
        return $said =~ /\[emerg\] (?:\d+#\d+: )?(.*?) in / ? $1 : $said;
    };
    # Where no memory may be locked, not even by root.
    my $unlocked = 'prlimit --memlock=0:0 ' . ($> == 0 ? 'setpriv --bounding-set -ipc_lock ' : '');
    like $test->("txid_hide \$arg_b \$a key=/etc/txid/orders.key name=a digits=6;", $unlocked),
        qr/\[warn\] .*txid_hide: the system may write the key to swap space: mlock: .*test is successful/s, 'a key that is not locked is said';
    like $test->("txid_hide \$arg_b \$a key=/etc/txid/orders.key name=a digits=6;"), qr/^nginx: the configuration file .*\n.*test is successful$/, 'and no other';
    if (my $luajit = luajit()) {
        local $ENV{LUA_PATH}  = lua_path();
        local $ENV{LUA_CPATH} = lua_cpath();
        my $log  = 'ngx = setmetatable({ log = print }, { __index = function(_, level) return level end })';
        my $said = `$unlocked$luajit -e 'local hidden = require "resty.txid.hidden" $log hidden.new { key_file = "$key", name = "a", digits = 6 }' 2>&1`;
        like $said, qr/^WARN\tresty.txid.hidden: the system may write the key to swap space: mlock: .*; raise the limit of locked memory$/, 'in Lua, too';
    }

    my $options = 'the options are key=FILE, name=NAME, digits=6..19 or letters=4..13 or uuid, and for numbers check and state=FILE';
    is $test->('txid_hide $b $a;'), "txid_hide: key= is missing; $options", 'nginx -t wants a key';
    is $test->('txid_reveal $a b key=/etc/txid/orders.key name=a digits=6;'), 'txid_reveal: "b" is not a variable: write $name',
        'and a variable';
    is $test->('txid_reveal $b $a key=/etc/txid/orders.key name=a digits=5;'),
        'txid_reveal: hidden numbers have 6 to 19 digits, not 5', 'and a length';
    like $test->('txid_reveal $b $a key=/none name=a digits=6;'), qr{^txid_reveal: cannot open the key file /none: }, 'and a file';
    chmod 0644, $key;
    like $test->('txid_hide $b $a key=/etc/txid/orders.key name=a digits=6;'),
        qr/^txid_hide: others may read or change the key file .*\(mode 0644\): chmod 600 /, 'that others may not read';
    chmod 0600, $key;
}

done_testing;
