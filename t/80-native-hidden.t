# Hidden numbers at a gateway: examples/hidden.conf, and the directives of the native modules. Nothing of the key is in a core dump.

use strict;
use warnings;
use lib 't/support';
use Cwd qw(getcwd realpath);
use Example qw(contents request serve);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use Modules;
use Test::More;

# A key file of this test's, where the examples have theirs.
my $dir = realpath(tempdir(CLEANUP => 1));
chmod 0755, $dir or die $!;
my $key = "$dir/orders.key";
my $hex = '2B7E151628AED2A6ABF7158809CF4F3C';
{
    open my $out, '>', $key or die $!;
    print $out "$hex\n";
    close $out or die $!;
    chmod 0600, $key or die $!;
}

sub here { return $_[0] =~ s{/etc/txid/orders\.key}{$key}gr }

sub http {
    my ($port, $path) = @_;
    my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die $!;
    print $socket "GET $path HTTP/1.0\r\nHost: localhost\r\n\r\n";
    return do { local $/; readline $socket };
}

{
    my ($port, $prefix) = serve(here(contents('examples/hidden.conf')));
    my ($status, undef, $body) = request($port, '/orders/57616774447');
    is "$status $body", qq(200 {"path":"/orders/42","order":"57616774447"}\n), 'the application sees the number';
    for my $path ('/orders/57616774448', '/orders/42', '/orders/', '/orders/57616774447x', '/orders/5761677444%31%0a') {
        ($status) = request($port, $path);
        is $status, $path eq '/orders/' ? 200 : 404, "$path: not for an order";
    }
    my $answer = http($port, '/orders');
    like $answer, qr{^Location: (?:http://[^/]+)?/orders/57616774447\r$}m, 'Location is hidden';
    like $answer, qr{^\{"order":"57616774447","items":3\}$}m, 'and so is the field';
    unlike contents("$prefix/logs/error.log"), qr/\[(?:error|crit|alert|emerg)\]/, 'nothing is wrong in the error log';
}

my $native = Modules::directory() . '/ngx_http_txid_module.so';
my $misfit = -e $native ? Modules::misfit() : "there is no $native: make nginx-module";
SKIP: {
    skip $misfit, 1 if $misfit;
    my ($port, $prefix) = serve(here(<<'END'), $native);
pid logs/nginx.pid;
error_log logs/error.log info;
events {}
http {
    access_log off;
    txid_reveal $order $image key=/etc/txid/orders.key name=orders digits=10 check;
    txid_hide   $shown $arg_number key=/etc/txid/orders.key name=orders digits=10 check;
    txid_hide   $longest $arg_number key=/etc/txid/orders.key name=orders letters=13;
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
    like $answer->('/orders/57616774447'), qr/^42 57616774447 [0-9a-z]{13}$/, 'revealed, and hidden again';
    is $answer->("/orders/$_"), 404, "'$_' is no image" for '', '42', '57616774448', '5761677444x', '5761677444%0a';
    like $answer->('/order?number=18446744073709551615'), qr/^  [0-9a-z]{13}$/, 'only a longer image has all 64 bits';
    like $answer->("/order?number=$_"), qr/^  $/, "'$_' is no number" for '18446744073709551616', '-1', 'x', '';
    my ($one, $two) = split ' ', $answer->('/twice');
    ok $one ne $two, 'a value that changes is hidden anew';
    my $log = contents("$prefix/logs/error.log");
    like $log, qr/\[info\].* txid: not revealed: its check digit is wrong/, 'the log says why';
    like $log, qr/\[error\].* txid: not hidden: 18446744073709551615 is above 9999999999/, 'of both';
    unlike $log, qr/\[(?:crit|alert|emerg)\]/, 'and nothing else is wrong';

    # A worker that has just hidden a number, as the kernel or a debugger writes its memory.
    SKIP: {
        skip 'there is no gcore', 1 if system('command -v gcore >/dev/null 2>&1') != 0;
        my ($master) = contents("$prefix/logs/nginx.pid") =~ /(\d+)/;
        my ($worker) = `pgrep -P $master` =~ /(\d+)/;
        $answer->('/orders/57616774447');
        `gcore -o $dir/core $worker 2>&1`;
        my $core = contents("$dir/core.$worker");
        ok index($core, 'orders.key') >= 0, 'the core has what is in memory';
        my $bytes = pack 'H*', $hex;
        # The schedule of FIPS 197, appendix A.1: the key and its first and last round keys.
        for my $part ($bytes, pack('H*', 'a0fafe1788542cb123a339392a6c7605'), pack('H*', 'd014f9a8c9ee2589e13f0cc8b6630ca6'), $hex, lc $hex) {
            ok index($core, $part) < 0, 'but not ' . unpack 'H*', $part;
        }
    }

    my $test = sub {
        my ($directive) = @_;
        my $file = "$dir/test.conf";
        open my $out, '>', $file or die $!;
        print $out here("load_module $native; pid $dir/pid; error_log stderr; events {} http { $directive }");
        close $out or die $!;
        my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
        my $said = `$nginx -t -p $dir -c $file 2>&1`;
        return $said =~ /\[emerg\] (?:\d+#\d+: )?(.*?) in / ? $1 : $said;
    };
    my $options = 'the options are key=FILE, name=NAME, digits=6..19 or letters=4..13, check, and state=FILE';
    is $test->('txid_hide $a $b;'), "txid_hide: key= is missing; $options", 'nginx -t wants a key';
    is $test->('txid_reveal $a b key=/etc/txid/orders.key name=a digits=6;'), 'txid_reveal: "b" is not a variable: write $name',
        'and a variable';
    is $test->('txid_reveal $a $b key=/etc/txid/orders.key name=a digits=5;'),
        'txid_reveal: hidden numbers have 6 to 19 digits, not 5', 'and a length';
    like $test->('txid_reveal $a $b key=/none name=a digits=6;'), qr{^txid_reveal: cannot open the key file /none: }, 'and a file';
    chmod 0644, $key;
    like $test->('txid_hide $a $b key=/etc/txid/orders.key name=a digits=6;'),
        qr/^txid_hide: others may read or change the key file .*\(mode 0644\): chmod 600 /, 'that others may not read';
    chmod 0600, $key;
}

done_testing;
