# txid_time and txid_hide follow a variable that changes, that has no value when it is first read, or loses it.

use strict;
use warnings;
use lib 't/support';
use File::Temp qw(tempdir);
use Files qw(write_file);
use Native qw(nginx_has_stream);
use OwnNginx;
use Test::More;

my ($one, $other) = qw(01890000-0000-7000-8000-000000000000 01890000-0001-7000-8000-000000000000);
my ($ms, $other_ms) = (1687922147328, 1687922147329);
my ($port, $backend, $stream) = map { free_port() } 1 .. 3;
my $key = write_file(tempdir(CLEANUP => 1) . '/a.key', "85962d72415d32da4f2c574c02c44ed9\n", 0600);
my $options = "key=$key name=a digits=6";
my $stream_block = !nginx_has_stream() ? '' : <<"END";
stream {
    map \$upstream_addr \$id { volatile; default $one; "" ""; }
    txid_time \$id \$ms;
    txid_time \$id \$ms_too;
    map \$upstream_addr \$number { volatile; default 7; "" ""; }
    txid_hide \$number \$image $options;
    log_format times "[\$ms_too] \$ms \$image";
    server {
        listen 127.0.0.1:$stream;
        set \$early "[\$ms] \$image";
        access_log logs/stream.log times;
        proxy_pass 127.0.0.1:$backend;
    }
}
END
write_config(<<"END");
events {}
http {
    access_log off;
    txid_time \$arg_id \$ms;
    txid_time \$upstream_http_x_id \$upstream_ms;
    txid_hide \$arg_number \$image $options;
    log_format left '\$ms|\$image';
    server {
        listen 127.0.0.1:$port;
        location = /changes {
            set \$early \$ms;
            rewrite ^ /changed?id=$other?;
        }
        location = /changed { return 200 "\$early \$ms"; }
        location = /numbers {
            set \$early \$image;
            rewrite ^ /hidden?number=8?;
        }
        location = /hidden { return 200 "\$early \$image"; }
        location = /gone { set \$early "\$ms \$image"; rewrite ^ /left?; }
        location = /wrong { set \$early "\$ms \$image"; rewrite ^ /left?id=x&number=x?; }
        location = /left { access_log logs/left.log left; return 200 "\$early [\$ms\$image]"; }
        location = /late {
            set \$early \$upstream_ms;
            proxy_pass http://127.0.0.1:$backend;
            add_header X-Times "[\$early] \$upstream_ms";
        }
    }
    server {
        listen 127.0.0.1:$backend;
        location / { add_header X-Id $one; return 200; }
    }
}
$stream_block
END
is nginx(), '', 'nginx starts' or BAIL_OUT('it does not');
wait_until { IO::Socket::INET->new("127.0.0.1:$port") };

like exchange($port, "GET /changes?id=$one HTTP/1.0\r\n\r\n"), qr/\r\n\r\n$ms $other_ms\z/, 'an argument, before and after a rewrite';
my ($of_7) = exchange($port, "GET /hidden?number=7 HTTP/1.0\r\n\r\n") =~ / (\d{6})\z/;
like exchange($port, "GET /numbers?number=7 HTTP/1.0\r\n\r\n"), qr/\r\n\r\n$of_7 (?!$of_7)\d{6}\z/, 'and a number';
for my $path (qw(gone wrong)) {
    like exchange($port, "GET /$path?id=$one&number=7 HTTP/1.0\r\n\r\n"), qr/\r\n\r\n$ms $of_7 \[\]\z/, "what has no value any more: $path";
}
wait_until { (my @lines = log_lines('left.log')) == 2 };
is join('', log_lines('left.log')), "-|-\n" x 2, 'and is none in the log';
like exchange($port, "GET /late HTTP/1.0\r\n\r\n"), qr/^X-Times: \[\] $ms\r$/m, 'a header of the upstream, before and after it came';
SKIP: {
    skip 'this nginx has no stream', 1 unless nginx_has_stream();
    exchange($stream, "GET / HTTP/1.0\r\n\r\n");
    wait_until { log_lines('stream.log') };
    is join('', log_lines('stream.log')), "[$ms] $ms $of_7\n", 'in stream, before and after the upstream is known';
}

done_testing;
