package Instructions;

# Counts the instructions of requests to an nginx under callgrind. They are nearly the same on any machine: each request is sent when
# nginx sleeps, so that it looks for events once for each.

use strict;
use warnings;
use Exporter 'import';
use File::Spec;
use IO::Socket::INET;
use OwnNginx;
use POSIX qw(WNOHANG);

our @EXPORT = qw(can_count count);

my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';

# LuaJIT compiles its traces before instructions are counted. An id less than a millisecond after another one costs less, and how many
# are depends on the machine: so the requests that are counted are further apart. The lowest of several rounds counts, as soon as three
# of them agree on it.
use constant { UNCOUNTED => 500, ROUNDS => 10, AGREE => 3, REQUESTS => 100, APART => 0.002 };

sub can_count {
    return scalar grep { -x "$_/callgrind_control" } File::Spec->path;
}

# For each pair of a server's content and a request header: the instructions of a request; all, those without the C library's, and
# those of ngx_http_txid_module. All servers are in one http block, which begins with this text.
sub count {
    my ($http, @asked) = @_;
    my ($pid, $out, @ports) = start($http, @asked);
    my (@counts, $dumps);
    for (0 .. $#asked) {
        my $socket  = IO::Socket::INET->new("127.0.0.1:$ports[$_]") or die $!;
        my $header  = $asked[$_][1] // '';
        my $request = "GET /x HTTP/1.1\r\nHost: localhost\r\n$header\r\n";
        my $ask = sub {
            my ($times, $rests) = @_;
            for (1 .. $times) {
                if ($rests) {
                    select undef, undef, undef, APART;
                    wait_until_it_sleeps($pid);
                }
                syswrite $socket, $request;
                sysread $socket, my $answer, 4096 or die "no answer\n";
                $answer =~ m{^HTTP/1\.1 200 } or die $answer;
            }
        };
        $ask->(UNCOUNTED);
        # A dump also begins the counts anew.
        my $dump = sub {
            system "callgrind_control --dump $pid >/dev/null 2>&1";
            $dumps++;
        };
        # This uses up the words of the burst before it: the first ids cost less.
        $ask->(REQUESTS, 1);
        $dump->();
        my (@lowest, @rounds);
        for (1 .. ROUNDS) {
            $ask->(REQUESTS, 1);
            $dump->();
            my @now = map { $_ / REQUESTS } instructions("$out.$dumps");
            push @rounds, $now[1];
            @lowest = @now if !@lowest || $now[1] < $lowest[1];
            last if AGREE == grep { $_ < $lowest[1] + 1 } @rounds;
        }
        push @counts, [@lowest];
    }
    kill KILL => $pid;
    waitpid $pid, 0;
    unlink glob "$out*";
    return @counts;
}

# For at most a minute.
sub wait_until_it_sleeps {
    my ($pid) = @_;
    for (1 .. 300_000) {
        open my $stat, '<', "/proc/$pid/stat" or die "nginx has ended\n";
        return if readline($stat) =~ /\) S /;
        select undef, undef, undef, 0.0002;
    }
    die "nginx does not come to rest\n";
}

# Starts nginx under callgrind, with a server for each of those. Returns its process, where callgrind writes, and the ports. If
# another program has taken a port in the meantime, nginx ends at once, and others are chosen.
sub start {
    my ($http, @asked) = @_;
    for (1 .. 5) {
        my @ports = map { free_port() } @asked;
        my $servers = join '', map {"server { listen 127.0.0.1:$ports[$_]; $asked[$_][0] }\n"} 0 .. $#asked;
        write_config(<<"END");
events {}
daemon off;
master_process off;
http {
    access_log off;
    keepalive_requests 100000;
$http
$servers
}
END
        my $out = prefix() . '/callgrind';
        my $pid = fork // die $!;
        if (!$pid) {
            open STDERR, '>', prefix() . '/valgrind.log' or die $!;
            exec 'valgrind', '--tool=callgrind', '--compress-strings=no', '--separate-callers=4', "--callgrind-out-file=$out", $nginx, '-p', prefix() . '/', '-c', 'nginx.conf',
                '-e', prefix() . '/logs/error.log';
        }
        my $has_ended;
        # On a busy machine, valgrind alone takes longer than a test usually waits.
        for (1 .. 12) {
            my $is_up;
            wait_until { ($is_up = IO::Socket::INET->new("127.0.0.1:$ports[-1]")) || ($has_ended = waitpid $pid, WNOHANG) };
            return $pid, $out, @ports if $is_up;
            last if $has_ended;
        }
        if (!$has_ended) {
            kill KILL => $pid;
            waitpid $pid, 0;
        }
    }
    die "nginx does not start: ", log_lines('error.log'), "\n";
}

# nginx formats its cached times once a second. How often that falls on requests that are counted depends on the machine.
sub instructions {
    my ($file) = @_;
    my ($whole, $own, $module, $object, $is_counted, $is_call) = (0, 0, 0, '', 1, 0);
    open my $dump, '<', $file or die "$file: $!";
    while (<$dump>) {
        if    (/^ob=(.*)/)    { $object  = $1 }
        elsif (/^fn=(.*)/)    { $is_counted = $1 !~ /\bngx_time_update\b/ }
        elsif (/^calls=/)     { $is_call = 1 }
        elsif (my ($cost) = /^[\d+*-]\S* (\d+)$/) {
            if (!$is_call && $is_counted) {
                $whole  += $cost;
                $own    += $cost unless $object =~ m{/libc[.-]};
                $module += $cost if $object =~ m{/ngx_http_txid_module\.so$};
            }
            $is_call = 0;
        }
    }
    return $whole, $own, $module;
}

1;
