# What nginx's own module costs a request, in instructions of nginx, which come out the same on any machine: against the same
# location with a constant in the place of an id. The C library's are left out: what malloc needs depends on the requests
# before, and would drown what is counted here.

use strict;
use warnings;
use lib 't/support';
use File::Spec;
use IO::Socket::INET;
use Native;
use OwnNginx;
use Test::More;

plan skip_all => 'no valgrind' unless grep { -x "$_/callgrind_control" } File::Spec->path;

my $id     = '4om9qi54la8ffr4bd9sg';
my $nginx  = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $modules = $ENV{TEST_NGINX_LOAD_MODULES} // '';

# Of a server with each of these contents, for a request with each of these headers, the instructions.
sub count {
    my (@asked) = @_;
    my @ports = map { free_port() } @asked;
    my $servers = join '', map {"server { listen 127.0.0.1:$ports[$_]; $asked[$_][0] }\n"} 0 .. $#asked;
    write_config(<<"END");
events {}
daemon off;
master_process off;
http {
    access_log off;
    keepalive_requests 100000;
    map "" \$constant { default $id; }
$servers
}
END
    my $out = prefix() . '/callgrind';
    my $pid = fork // die $!;
    if (!$pid) {
        open STDERR, '>', prefix() . '/valgrind.log' or die $!;
        exec 'valgrind', '--tool=callgrind', '--compress-strings=no', "--callgrind-out-file=$out", $nginx, '-p', prefix() . '/', '-c', 'nginx.conf',
            '-e', prefix() . '/logs/error.log';
    }
    wait_until { IO::Socket::INET->new("127.0.0.1:$ports[-1]") } or die "nginx does not start\n";

    my @counts;
    for (0 .. $#asked) {
        my $socket  = IO::Socket::INET->new("127.0.0.1:$ports[$_]") or die $!;
        my $header  = $asked[$_][1] // '';
        my $request = "GET /x HTTP/1.1\r\nHost: localhost\r\n$header\r\n";
        my $ask = sub { for (1 .. $_[0]) { syswrite $socket, $request; sysread $socket, my $answer, 4096 or die "no answer\n" } };
        $ask->(200);
        system "callgrind_control --zero $pid >/dev/null 2>&1";
        $ask->(500);
        system "callgrind_control --dump $pid >/dev/null 2>&1";
        push @counts, outside_of_libc("$out." . (@counts + 1)) / 500;
    }
    kill KILL => $pid;
    waitpid $pid, 0;
    unlink glob "$out*";
    return @counts;
}

sub outside_of_libc {
    my ($file) = @_;
    my ($sum, $object, $is_call) = (0, '', 0);
    open my $dump, '<', $file or die "$file: $!";
    while (<$dump>) {
        if    (/^ob=(.*)/)    { $object  = $1 }
        elsif (/^calls=/)     { $is_call = 1 }
        elsif (/^[\d+*-]\S* (\d+)$/) {
            $sum += $1 unless $is_call || $object =~ m{/libc[.-]};
            $is_call = 0;
        }
    }
    return $sum;
}

sub at_most {
    my ($what, $count, $constant, $bound) = @_;
    my $ratio = sprintf '%.4f', $count / $constant;
    cmp_ok $ratio, '<=', $bound, sprintf '%s: %.0f instructions, of a constant %.0f, that is %s', $what, $count, $constant, $ratio;
}

my ($constant, $txid, $with_header, $checked, $added, $response) = count(
    ['location = /x { return 200 $constant; }'],
    ['location = /x { return 200 $txid; }'],
    ['location = /x { return 200 $constant; }', "X-Request-Id: $id\r\n"],
    ['txid_accept 127.0.0.0/8; location = /x { return 200 $request_txid; }', "X-Request-Id: $id\r\n"],
    ["location = /x { add_header X-Request-Id $id always; return 200 hello; }"],
    ['location = /x { txid_response_header X-Request-Id; return 200 hello; }'],
);
at_most('$txid', $txid, $constant, 1.015);
at_most('$request_txid and a header to check', $checked, $with_header, 1.04);
at_most('txid_response_header', $response, $added, 1.07);

my @untouched = (["location = /x { return 200 $id; }"]);
my ($with) = count(@untouched);
$ENV{TEST_NGINX_LOAD_MODULES} = $modules =~ s/\S*txid\S*//gr;
SKIP: {
    skip 'the modules are built in', 1 if $ENV{TEST_NGINX_LOAD_MODULES} eq $modules;
    my ($without) = count(@untouched);
    cmp_ok $with - $without, '<=', 50, sprintf 'a request that needs none of it: %.0f more', $with - $without;
}

done_testing;
