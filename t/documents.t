# Every example in README.md, docs/, bench/studies/ and the agent's runs. An example that cannot run here has a comment in front of it:
#
#     <!-- not run here: why -->
#
# A block of Lua ends without an error. One of C is a program of examples/c. One of nginx starts, answers, writes a log line that the document shows, and logs no error.
# A block of console prints what the document shows, and so does docs/pictures/*.console: "..." stands for any lines, and ids and random node numbers may differ.
# A txid-agent with a store on another host starts, and waits for the store. Examples in Rust are run by `cargo test --doc`.

use strict;
use warnings;
use lib 't/support';
use Client qw(exchange);
use Cwd qw(getcwd realpath);
use Example qw(free_port request serve);
use File::Temp qw(tempdir);
use Files qw(contents write_file);
use IO::Socket::INET;
use POSIX qw(WNOHANG);
use Modules;
use OwnNginx qw(wait_until);
use Test::More;
use Tree qw(library lua_cpath lua_path luajit);

my $root      = getcwd();
my ($release) = library() =~ m{(.*)/};
my $native    = Modules::directory() . '/ngx_http_txid_module.so';
my $id        = qr/\b[0-9a-v]{19}[0g]\b/;
my $scratch   = realpath(tempdir(CLEANUP => 1));

# The command in TXID_COMMAND, or the one that is shipped.
my $programs = $release;
if ($ENV{TXID_COMMAND}) {
    mkdir "$scratch/bin";
    symlink $ENV{TXID_COMMAND}, "$scratch/bin/txid" or die "$scratch/bin/txid: $!";
    $programs = "$scratch/bin:$release";
}

# Where the documents have it.
my $key_file = write_file("$scratch/orders.key", "85962D72415D32DA4F2C574C02C44ED9\n", 0600);

# Each block: its language, text, line, and why it is not run.
sub blocks {
    my ($file) = @_;
    my (@blocks, $block, $reason);
    open my $in, '<', $file or die "$file: $!";
    while (<$in>) {
        if ($block) {
            if (/^```$/) { push @blocks, $block; undef $block }
            else         { $block->{text} .= $_ }
        }
        elsif (/^```(\w*)$/) {
            $block = { language => $1, line => $., reason => $reason, text => '' };
            undef $reason;
        }
        elsif (/^<!-- not run here: (\S.*) -->$/) { $reason = $1 }
        elsif (/\S/)                               { undef $reason }
    }
    die "$file: line $block->{line}: a block without an end\n" if $block;
    return @blocks;
}

sub here {
    my ($text) = @_;
    $text =~ s{/var/lib/txid}{$scratch}g;
    $text =~ s{/run/txid}{$scratch/run}g;
    $text =~ s{/etc/txid/orders\.key}{$key_file}g;
    $text =~ s{(?<![/\w])(app|gateway|payments|pod-[ab])\.log}{$scratch/$1.log}g;
    return $text =~ s{txid-agent run }{txid-agent run --dir $scratch/run }gr;
}

# The parts of an output that may differ from one run to the next.
sub masked {
    my ($text) = @_;
    $text =~ s/\[\d\d\/\w{3}\/\d{4}:[\d:]{8} [+-]\d{4}\]/[TIME]/g;
    $text =~ s/"bytes":\K\d+/BYTES/g;
    $text =~ s/" \d{3}\K \d+ "-" "[^"]*"/ BYTES "-" "AGENT"/g;
    return $text =~ s/$id/ID/gr =~ s/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/TIME/gr;
}

# The reason why nginx or txid-agent cannot run this here, or nothing.
sub missing {
    my ($language, $text) = @_;
    return 'there is no txid-agent: make agent' if $language =~ /^(?:sh|console)$/ && $text =~ /\btxid-agent\b/ && !-x "$release/txid-agent";
    return 'there is no node' if $language eq 'js' && !`which node`;
    return if $language ne 'nginx';
    return 'this nginx was built without --with-http_sub_module' if $text =~ /^\s*sub_filter /m && Modules::nginx('-V') !~ /--with-http_sub_module/;
    return if $text !~ /^\s*txid_\w+ /m && $text !~ /ngx_http_txid_module/;
    return "there is no $native: make nginx-module" if !-e $native;
    return Modules::misfit();
}

sub sends_the_id { $_[0] =~ /X-Request-Id|handle/ && $_[0] =~ m{http://backend} }

# What an example says for all servers is not meant for its upstream.
sub as_it_is {
    my ($text) = @_;
    return ($text =~ /^txid_handle on;/m ? 'txid_handle off;' : '')
        . join '', map { "${_}_by_lua_block { return } " } $text =~ /^(\w+)_by_lua_block +\{.*handle\(\)/mg;
}

# Completes a part of a configuration.
sub configuration {
    my ($text) = @_;
    $text =~ s/^\s*load_module .*;\n//mg;
    $text =~ s{/var/lib/txid}{PREFIX/state}g;
    $text =~ s{/etc/txid/orders\.key}{$key_file}g;
    $text =~ s{/var/log/(?:nginx/)?}{logs/}g;
    $text =~ s/^\s*upstream backend .*\n//mg;
    $text =~ s/\blisten 8080;/listen 127.0.0.1:8080;/g;
    $text =~ s/^(\s*server \{)$/$1 listen 127.0.0.1:8080;/mg unless $text =~ /\blisten /;
    $text .= "server { listen 127.0.0.1:8080; location / { return 200; } }\n" unless $text =~ /\bserver \{/;
    $text = "http {\n$text}\n" unless $text =~ /^http \{/m;
    $text = "events {}\n$text" unless $text =~ /^events /m;
    # nginx's own log is root's.
    $text =~ s!^http \{\n!http {\naccess_log logs/access.log;\n!m unless $text =~ /\baccess_log\b/;
    # As a service that asks for an id: of the subrequests of auth_request, too.
    my $refuses = sends_the_id($text) ? 'if ($http_x_request_id = "") { return 403; }' : '';
    my $as_it_is = as_it_is($text);
    my $upstream = <<"END";
upstream backend { server unix:PREFIX/upstream.sock; }
server {
    listen unix:PREFIX/upstream.sock;
    access_log off;
    $as_it_is
    # As many upstreams do. The client must not get it.
    add_header X-Request-Id upstream;
    location / {
        $refuses
        return 200 "\$http_x_request_id";
    }
}
END
    # Behind the example's own server, which is then the first of its address.
    $text =~ s/\}\s*\z/$upstream}\n/ if $text =~ m{http://backend};
    # Root's own tree may be closed to nginx's workers.
    my $user = $> == 0 ? "user root;\n" : '';
    return "${user}pid logs/nginx.pid;\nerror_log logs/error.log;\n$text";
}

sub check_nginx {
    my ($block, $document) = @_;
    my $text = $block->{text};
    my ($port, $prefix) = serve(configuration($text), $text =~ /^\s*txid_\w+ /m ? $native : ()) or return;
    my ($path) = $text =~ m{location / \{} ? '/' : $text =~ m{location = (/\S+)} ? $1 : '/';
    my ($status, $sent, $body) = request($port, $path);
    is $status, 200, "GET $path";
    if (sends_the_id($text)) {
        like $sent, qr/^$id$/, 'the response has one id';
        is $body, $sent, 'the upstream got the same';
    }
    if ($text =~ m{access_log\s+\S+/([\w-]+\.log)}) {
        my $log = contents("$prefix/logs/$1");
        like $log, qr/(?:^| |"id":")$sent(?:[ "]|$)/, 'the log has the same';
        my @shown = map { $_->{language} eq 'text' ? masked($_->{text}) : () } @$document;
        ok scalar(grep { $_ eq masked($log) } @shown), 'the document shows the line of the log' or diag($log);
    }
    # The client is at 127.0.0.1.
    if (sends_the_id($text) && $text !~ /accept [^;]*127\./) {
        (undef, $sent, $body) = request($port, $path, 'X-Request-Id: forged');
        like $sent, qr/^$id$/, "a client's id is not kept";
        is $body, $sent, 'nor does it reach the upstream';
    }
    if ($text =~ /handle/) {
        ($sent) = exchange($port, "GET garbage\r\n\r\n") =~ /^X-Request-Id: ($id)\r$/m;
        ok $sent, 'a 400 has an id';
    }
    unlike contents("$prefix/logs/error.log"), qr/\[(?:error|crit|alert|emerg)\]/, 'nothing is wrong in the error log';
}

sub check_lua {
    my ($block) = @_;
    my $luajit = luajit() or return pass('there is no luajit');
    my $file = write_file("$scratch/block.lua", here($block->{text}));
    my $output = `timeout 120 $luajit $file 2>&1`;
    is $?, 0, 'runs' or diag($output);
}

sub check_js {
    my ($block) = @_;
    my $text = $block->{text} =~ s|"\./txid\.js"|"$root/readers/js/txid.js"|r;
    # A text, a number or a list of texts behind a line is what the line gives.
    my $compared = $text =~ s{^(\w.*?); +// (".*?"|\d+|\[".*?"\])(?:;.*)?$}{assert.deepEqual($1, $2);}mg;
    my $file = write_file("$scratch/block.mjs", qq(import assert from "node:assert";\n$text));
    my $output = `node $file 2>&1`;
    is $?, 0, "runs, and gives the $compared values of its comments" or diag($output);
    ok $compared, 'has some';
}

sub check_python {
    my ($block) = @_;
    my $text = $block->{text};
    my $compared = $text =~ s{^(\w.*?) +# (\(?[\["].*[\]")])$}{assert ($1) == $2, ($1)}mg;
    my $file = write_file("$scratch/block.py", $text);
    my $output = `PYTHONPATH=readers/python python3 -B $file 2>&1`;
    is $?, 0, "runs, and gives the $compared values of its comments" or diag($output);
    ok $compared, 'has some';
}

sub check_c {
    my ($block) = @_;
    ok scalar(grep { contents($_) eq $block->{text} } glob 'examples/c/*.c'), 'is a program of examples/c';
    my $file = write_file("$scratch/block.c", here($block->{text}));
    my $output = `cc -Wall -Werror -Iinclude $file $release/libtxid.a -lpthread -ldl -lm -o $scratch/block 2>&1 && $scratch/block 2>&1`;
    is $?, 0, 'compiles and runs' or diag($output);
}

# Starts `make run` or `make try`, and returns when it serves.
sub make_run {
    my ($make, $port) = @_;
    my $pid = open my $out, '-|' // die $!;
    if (!$pid) {
        setpgrp;
        delete @ENV{qw(LUA_PATH LUA_CPATH)};
        $ENV{PORT} = $port;
        exec 'sh', '-c', "$make 2>&1";
    }
    my $said = '';
    while (<$out>) {
        $said .= $_;
        last if /^Serving/;
    }
    like $said, qr/^Serving/m, $make;
    return sub { kill TERM => -$pid; local $?; close $out };
}

sub check_console {
    my ($block) = @_;
    my (undef, @steps) = split /^\$ /m, $block->{text};
    my ($port, $stop);
    for (@steps) {
        my ($command, $shown) = /^(.*)\n(.*)\z/s ? split(/\n/, $_, 2) : ($_, '');
        if ($command =~ /^make (?:run|try)$/) {
            $stop = make_run($command, $port = free_port());
            next;
        }
        my $run = here($command);
        $run =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/g if $port;
        $run =~ s/\b(access|mixed)\.log/$scratch\/$1.log/g;
        $run =~ s/^curl -i/curl -s -i/;
        my $output = masked(`PATH=$programs:\$PATH; $run 2>&1` =~ s/\r//gr =~ s{\Q$scratch\E/}{}gr);
        # As grep, txid grep ends with 1 if it finds nothing.
        cmp_ok $? >> 8, '<=', $command =~ /^txid grep/ ? 1 : 0, "$command: status";
        my $pattern = join '', map { $_ eq "...\n" ? '(?s:.*)' : quotemeta } split /^/, masked($shown);
        like $output, qr/^$pattern$/, $command;
    }
    $stop->() if $stop;
}

# No server answers there.
sub check_agent {
    my ($block) = @_;
    for my $command ($block->{text} =~ /^(txid-agent run .*)/mg) {
        my $own = tempdir(CLEANUP => 1);
        my $run = $command =~ s{(--store '?\w+://(?:\w+@)?)[^/\s]+}{--dir $own ${1}127.0.0.1:1}r;
        my $pid = open my $messages, '-|', "PATH=$programs:\$PATH exec timeout 60 $run 2>&1" or die "$command: $!";
        my $output = '';
        while (<$messages>) {
            $output .= $_;
            last if /127\.0\.0\.1:1/;
        }
        like $output, qr/127\.0\.0\.1:1/, "$command: says that the store does not answer";
        is waitpid($pid, WNOHANG), 0, 'and waits for it' or diag($output);
        kill TERM => $pid;
        close $messages;
    }
}

sub check_sh {
    my ($block) = @_;
    return check_agent($block) if $block->{text} =~ /^txid-agent run /;
    my $output = do { local $ENV{PATH} = "$programs:$ENV{PATH}"; my $file = write_file("$scratch/block.sh", here($block->{text})); `sh -e $file 2>&1` };
    is $?, 0, 'runs' or diag($output);
}

my %check = (c => \&check_c, console => \&check_console, js => \&check_js, lua => \&check_lua, nginx => \&check_nginx, python => \&check_python, sh => \&check_sh);
my %not_run = map { $_ => 1 } qw(diff go java logql rust sql text toml vrl yaml);

$ENV{LUA_PATH}  = lua_path();
$ENV{LUA_CPATH} = lua_cpath();
write_file("$scratch/access.log", qq(b2fr5nvqg00000000000 200 "GET / HTTP/1.1"\n));
write_file("$scratch/mixed.log", <<'END');
35kLKK5Xcf76Cg11zybVdSPtuWA gateway: request
1-69b307e4-a006649127e371903a2de979 lambda: REPORT
1439530262794464807 bot: message
END

my $count = 0;
for my $file ('README.md', glob 'docs/*.md docs/dev/*.md agent/*.md agent/docs/*.md bench/studies/*/README.md') {
    my @document = blocks($file);
    for my $block (@document) {
        my ($language, $name) = ($block->{language}, "$file: line $block->{line}");
        next if $language eq '' || $not_run{$language};
        $count++;
        my $check = $check{$language} or fail("$name: there is no way to run '$language'"), next;
        subtest $name => sub {
            my $reason = $block->{reason} // missing($language, $block->{text});
            plan skip_all => $reason if $reason;
            # Examples use different nodes.
            unlink "$scratch/orders";
            # One example that cannot be tried does not keep the others from it.
            eval { $check->($block, \@document); 1 } or fail $@;
        };
    }
}
# Else services have a parent that is in no trace store.
my %traced = map { ($_ => contents($_)) } glob 'examples/*.conf examples/*/*.yml packaging/*/*.yml';
for my $file ('README.md', glob 'docs/*.md') { $traced{"$file: line $_->{line}"} = $_->{text} for blocks($file) }
for (grep { $traced{$_} =~ /\btxid_trace (?!off)|\btrace: \[?traceparent|config\.trace\[|\btrace = [{"]/ } sort keys %traced) {
    like $traced{$_}, qr/txid_otlp|span_line|trace_span/, "$_: somebody gets the span";
}
subtest 'examples/traces.conf' => sub {
    my $text = contents('examples/traces.conf');
    my $reason = missing('nginx', $text);
    plan skip_all => $reason if $reason;
    check_nginx({ text => $text }, []);
};
# Locations that somebody adds: their directives, and whether they ask an upstream, which answers with the id that it got.
my @ADDED = (
    ['proxy_pass http://added;', 1],
    ['proxy_set_header Host $host; add_header Other 1; proxy_pass http://added;', 1],
    ['fastcgi_pass 127.0.0.1:INTERFACES;', 1],
    ['uwsgi_pass 127.0.0.1:INTERFACES;', 1],
    ['scgi_pass 127.0.0.1:INTERFACES;', 1],
    ['grpc_pass grpc://127.0.0.1:GRPC;', 1],
    ['error_page 502 = @added; proxy_pass http://127.0.0.1:NOBODY;', 1],
    ['try_files /none @added;', 1],
    ['rewrite ^ /added/0 last;', 1],
    ['if ($arg_a = "") { proxy_pass http://added; }', 1],
    ['return 200;'],
    ['deny all;'],
);
my @ADDED_BY_LUA = (
    ['rewrite_by_lua_block { ngx.req.set_header("Other", 1) } proxy_pass http://added;', 1],
    ['access_by_lua_block { ngx.exec("/added/0") }', 1],
    ['content_by_lua_block { ngx.print(ngx.location.capture("/added/0").body) }', 1],
);

# Answers FastCGI, uwsgi and SCGI. Returns its process and port.
sub interfaces {
    my $listener = IO::Socket::INET->new(Listen => 8, LocalAddr => '127.0.0.1') or die $!;
    my $pid = fork // die $!;
    return ($pid, $listener->sockport) if $pid;
    while (my $client = $listener->accept) {
        sysread $client, my $asked, 65536;
        my $answer = "Status: 200\r\n\r\n" . ($asked =~ /HTTP_X_REQUEST_ID(?:\0|..)?(forged|[0-9a-v]{19}[0g])/s ? $1 : 'none');
        $answer = pack('CCnnn', 1, 6, 1, length $answer, 0) . $answer . pack('CCnnnNN', 1, 3, 1, 8, 0, 0, 0) if $asked =~ /^\x01/;
        print $client $answer;
    }
}

my @handle;
for my $file ('README.md', glob('docs/*.md'), map { "examples/$_.conf" } qw(gateway native nginx)) {
    my @all = $file =~ /md$/ ? grep { $_->{language} eq 'nginx' && !$_->{reason} } blocks($file) : { line => 1, text => contents($file) };
    push @handle, map { $_->{text} =~ /handle/ ? ["$file: line $_->{line}", $_->{text}] : () } @all;
}
for (@handle) {
    my ($name, $text) = @$_;
    subtest "$name, with added locations" => sub {
        my $reason = missing('nginx', $text);
        plan skip_all => $reason if $reason;
        my @added = (@ADDED, $text =~ /_by_lua_block/ ? @ADDED_BY_LUA : ());
        my $locations = join '', 'error_page 400 /added/0; location @added { proxy_pass http://added; }', map {"location = /added/$_ { $added[$_][0] }\n"} 0 .. $#added;
        my $upstream = 'server { listen unix:PREFIX/added.sock; listen 127.0.0.1:GRPC http2; AS_IT_IS add_header X-Request-Id upstream; return 200 "$http_x_request_id"; }';
        my ($pid, $interfaces) = interfaces();
        my %port = (INTERFACES => $interfaces, map { $_ => free_port() } qw(GRPC NOBODY));
        my $config = configuration($text =~ s/^(?:pid|error_log) .*\n//mgr);
        my $as_it_is = as_it_is($text);
        $upstream =~ s/AS_IT_IS/$as_it_is/;
        $config =~ s/(listen 127\.0\.0\.1:8080;)/$1\n$locations/;
        $config =~ s/\}\s*\z/upstream added { server unix:PREFIX\/added.sock; }\n$upstream\n}\n/;
        $config =~ s/\b(INTERFACES|GRPC|NOBODY)\b/$port{$1}/g;
        my ($port) = serve($config, $text =~ /^\s*txid_\w+ /m ? $native : ());
        for ($port ? 0 .. $#added : ()) {
            my (undef, $sent, $body) = request($port, "/added/$_", 'X-Request-Id: forged');
            like $sent, $text =~ /accept [^;]*127\./ ? qr/^forged$/ : qr/^$id$/, "$added[$_][0] the response has one id, and no client's";
            is $body, $sent, 'the upstream got the same' if $added[$_][1];
        }
        # nginx then has no list of headers, and lua-nginx-module adds none.
        for ($port && $text =~ /^\s*txid_handle/m ? ("GET /added/0\r\n", "garbage\r\n\r\n") : ()) {
            like exchange($port, $_), qr/(?:^|\n)$id$/, "@{[s/\s+$//r]}: the upstream got an id";
        }
        kill TERM => $pid;
        local $?;
        waitpid $pid, 0;
    };
}
# What a terminal of 90 columns shows of each command, without the bar of its progress.
for my $file (glob 'docs/pictures/*.console') {
    my ($command, $shown) = contents($file) =~ /^\$ (.*?)\n(.*)\z/s or die "$file has no command\n";
    my $script = write_file("$scratch/shot.sh", "stty cols 90; exec 2>/dev/null\n$command\n");
    my $printed = `cd docs/pictures && PATH=$programs:\$PATH script -qec 'sh $script' /dev/null`;
    is $printed =~ s/\r//gr =~ s/\e\[[\d;]*m//gr =~ s/ +$//gmr, $shown, $file;
}
is `scripts/pictures.pl check`, '', 'the pictures are drawn from their texts';

cmp_ok $count, '>', 20, 'the documents have examples';

done_testing;
