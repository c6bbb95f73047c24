# examples/python, go, node and java: together with nginx, on one leased node and one segment, they make no id twice.

use strict;
use warnings;
use lib 't/support';
use Agent;
use Cwd qw(getcwd);
use Example qw(request serve);
use File::Path qw(make_path);
use Files qw(contents write_file);
use State ();
use Test::More;
use Time::HiRes qw(sleep time);
use Tree qw(library);

my $dir  = State::directory();
my $root = getcwd();
my $node_modules = "$root/target/languages/node_modules";

sub is_there { return system("command -v $_[0] >/dev/null 2>&1") == 0 }

# The library and its .pc file, as `make install` puts them. Their directory is always the same: go takes the path of a library
# from its cache, and does not notice that it has changed.
my $installed = "$root/target/languages/lib";
make_path $installed;
for my $name (qw(libtxid.so libtxid.so.2)) {
    unlink "$installed/$name";
    symlink library(), "$installed/$name" or die "$installed/$name: $!";
}
my %variables = (PREFIX => $root, LIB_DIR => $installed, VERSION => '0', REPOSITORY => '');
write_file("$installed/txid.pc", contents('packaging/txid.pc.in') =~ s/\@(\w+)\@/$variables{$1} \/\/ die $1/ger);
$ENV{LD_LIBRARY_PATH} = $ENV{PKG_CONFIG_PATH} = $installed;
$ENV{GOCACHE} = "$root/target/languages/go-cache";
$ENV{GO111MODULE} = 'off';

# An import looks for packages beside the file that it is in.
symlink $node_modules, "$dir/node_modules";
symlink "$root/examples/node/ids.mjs", "$dir/ids.mjs";

my ($jna) = grep { -e } $ENV{JNA_JAR} // (), glob '/usr/share/java/jna.jar';

# How each is built, is run, and why it is not.
my %programs = (
    python => { run => 'python3 examples/python/ids.py', missing => !is_there('python3') && 'there is no python3' },
    go     => {
        build   => "go build -o $dir/ids-go examples/go/ids.go",
        run     => "$dir/ids-go",
        missing => !is_there('go') && 'there is no go: apt-get install golang-go',
    },
    node => {
        run     => "node --preserve-symlinks --preserve-symlinks-main $dir/ids.mjs",
        missing => !is_there('node')      ? 'there is no node: apt-get install nodejs'
                 : !-d "$node_modules/koffi" && 'there is no koffi: npm install --prefix target/languages koffi',
    },
    java => {
        build   => "javac -cp " . ($jna // '') . " -d $dir examples/java/Ids.java",
        run     => 'java -cp ' . ($jna // '') . ":$dir Ids",
        missing => !is_there('javac') ? 'there is no javac: apt-get install default-jdk-headless'
                 : !$jna && 'there is no JNA: apt-get install libjna-java',
    },
);

Agent::start('orders', '--segment', 'invoices=1000000', '--create');
my $run = "$dir/run-orders";
chmod 0666, "$run/invoices.segment";

my ($port) = serve(<<"CONFIG");
worker_processes 2;
pid logs/nginx.pid;
events {}
http {
    access_log off;
    init_by_lua_block {
        txid = require "resty.txid"
        order_id = require "resty.txid.snowflake".new { layout = "snowflake", node = "lease", state = "$run/orders" }
        invoice_no = require "resty.txid.segment".new { state = "$run/invoices.segment" }
    }
    server {
        listen 127.0.0.1:8080;
        location / {
            content_by_lua_block {
                local lines = {}
                for i = 1, 1000 do
                    lines[i] = txid() .. " " .. assert(order_id()) .. " " .. assert(invoice_no())
                end
                ngx.say(table.concat(lines, "\\n"))
            }
        }
    }
}
CONFIG

# All are built before one runs, and each runs again until all have made ids, so that they do so at once; 50 times at most, because a
# slow machine would check millions of ids.
my @languages;
for my $language (sort keys %programs) {
    my $program = $programs{$language};
    SKIP: {
        skip "$language: $program->{missing}", 1 if $program->{missing};
        my $output = $program->{build} ? `$program->{build} 2>&1` : '';
        is $output, '', "$language: it is built without a warning" or next;
        push @languages, $language;
    }
}
my %pids;
for my $language (@languages) {
    my $run_each = "for i in \$(seq 50); do [ ! -e $dir/stop ] || exit 0; $programs{$language}{run} $run 2000 || exit; done";
    my $pid = fork() // die "fork: $!";
    exec 'sh', '-c', "{ $run_each; } >$dir/$language.ids 2>$dir/$language.errors" if !$pid;
    $pids{$language} = $pid;
}
my $lines = '';
my $end = time + 600;
do {
    (undef, undef, my $body) = request($port, '/');
    $lines .= $body;
    sleep 0.05;
} until time > $end || !grep { !-s "$dir/$_.ids" && !-s "$dir/$_.errors" } @languages;
write_file("$dir/stop", '');
waitpid $_, 0 for values %pids;
write_file("$dir/nginx.ids", $lines);

my %made;
for my $maker ('nginx', @languages) {
    my @lines = split /\n/, contents("$dir/$maker.ids");
    cmp_ok scalar @lines, '>=', 1000, "$maker: made ids";
    is join("\n", (grep { !/^[0-9a-v]{19}[0g] \d{19} \d+$/ } @lines)[0 .. 0] // ()), '', "$maker: each line has three";
    for my $line (@lines) {
        my @ids = split / /, $line;
        push @{ $made{$ids[$_]} }, $maker for 0 .. $#ids;
    }
    my @orders = map { (split / /)[1] } @lines;
    is_deeply [grep { $orders[$_] <= $orders[ $_ - 1 ] } 1 .. $#orders], [], "$maker: 64-bit ids increase" if $maker ne 'nginx';
    next if $maker eq 'nginx';
    is contents("$dir/$maker.errors"), '', "$maker: no error";
    my $refused = `$programs{$maker}{run} $dir/none 2>&1`;
    is $? >> 8, 1, "$maker: ends with status 1 if there is no file";
    like $refused, qr{\Q$dir/none/orders does not exist; txid-agent makes it\E}, "$maker: says why";
}
my @twice = grep { @{ $made{$_} } > 1 } sort keys %made;
is_deeply [map {"$_ by @{ $made{$_} }"} @twice[0 .. ($#twice < 9 ? $#twice : 9)]], [], 'no id twice, among ' . keys %made;

done_testing;
