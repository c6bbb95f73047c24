# Tests the stand-in for Test::Nginx in t/lib: runs small test files with it in a
# child process, even if the other files use the real Test::Nginx.

use strict;
use warnings;
use File::Spec;
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep time);

my $lib    = File::Spec->rel2abs('t/lib');
my $nginx  = $ENV{TEST_NGINX_BINARY} || 'nginx';
my $build  = `$nginx -V 2>&1` // '';
my $debian = '/usr/lib/nginx/modules';

plan skip_all => "no nginx at $nginx" unless $build =~ /^nginx version|^nginx/m;

# Drops prove's -I options, so that children see the installed Test::Base and
# not the copy that comes with the real Test::Nginx.
delete $ENV{PERL5LIB};
plan skip_all => 'Test::Base is not installed' if system "$^X -e 'require Test::Base' 2>/dev/null";

delete @ENV{ grep { /^TEST_NGINX_/ && !/_(?:BINARY|LOAD_MODULES)$/ } keys %ENV };
if ($build =~ /--modules-path=\Q$debian\E/) {
    $ENV{TEST_NGINX_LOAD_MODULES} //= join ' ', map {"$debian/$_"}
        qw(ndk_http_module.so ngx_http_lua_module.so);
    $ENV{TEST_NGINX_LOAD_MODULES} .= " $debian/ngx_stream_module.so"
        if -e "$debian/ngx_stream_module.so"
        && $ENV{TEST_NGINX_LOAD_MODULES} !~ /ngx_stream_module/;
}
my $has_stream = $build =~ /--with-stream(?!\S)/
    || ($ENV{TEST_NGINX_LOAD_MODULES} // '') =~ /ngx_stream_module/;

# The server roots are below the current directory.
chdir tempdir(CLEANUP => 1) or die;
END { chdir '/' }

my $files = 0;

sub start_file {
    my ($text) = @_;
    my $file = 'file' . ++$files . '.t';
    open my $out, '>', $file or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
    my $pid = open my $tap, '-|';
    die "fork: $!" unless defined $pid;
    if ($pid == 0) {
        open STDERR, '>', "$file.err" or die;
        # A shell's background jobs, and so their children, ignore INT.
        $SIG{INT} = 'DEFAULT';
        exec $^X, '-w', "-I$lib", $file or die;
    }
    return { pid => $pid, tap => $tap, file => $file };
}

sub finish_file {
    my ($child) = @_;
    local $/;
    my $tap = readline $child->{tap};
    close $child->{tap};
    my $exit = $?;
    open my $in, '<', "$child->{file}.err" or die;
    return { tap => $tap // '', exit => $exit, stderr => readline($in) // '' };
}

sub run_file { finish_file(start_file(join "\n", @_)) }

sub count_of { scalar(() = $_[0]{tap} =~ /^\Q$_[1]\E /mg) }

sub passes {
    my ($name, $assertions, @text) = @_;
    my $got = run_file(@text);
    my $ok = ok $got->{exit} == 0
        && count_of($got, 'ok') == $assertions
        && !count_of($got, 'not ok')
        && $got->{stderr} eq '', "$name: $assertions assertions pass, no warning";
    diag "$got->{tap}$got->{stderr}exit $got->{exit}" unless $ok;
}

sub dies {
    my ($name, $message, @text) = @_;
    my $got = run_file(@text);
    isnt $got->{exit}, 0, "$name: a failure";
    like "$got->{tap}$got->{stderr}", $message, "$name: with a message";
    is count_of($got, 'ok'), 0, "$name: nothing passes";
}

sub nginx_processes {
    my ($directory) = @_;
    return grep {
        my $is_open = open my $in, '<', $_;
        $is_open && index(do { local $/; readline $in } // '', $directory) >= 0;
    } glob '/proc/[0-9]*/cmdline';
}

my $head = "use Test::Nginx::Socket::Lua 'no_plan';\nno_long_string();\n";
my $run  = "run_tests();\n__DATA__\n";

passes 'request and response', 17, $head, $run, <<'END';
=== body and default status
--- config
location = /t { content_by_lua_block { ngx.say("hello") } }
--- request
GET /t
--- response_body
hello

=== status and headers
--- config
location = /t { add_header X-A "1 $server_protocol" always; return 404 "port $server_port"; }
--- request
GET /t HTTP/1.0
--- error_code: 404
--- response_headers
X-A: 1 HTTP/1.0
! X-B
--- response_body chomp
port $TEST_NGINX_SERVER_PORT

=== patterns
--- config
location = /t { add_header X-A abc; return 201 "some text"; }
--- request
GET /t
--- error_code: 201
--- response_headers_like
X-A: [a-c]+
--- response_body_like: e t

=== POST with headers
--- config
location = /t { content_by_lua_block {
    ngx.req.read_body()
    ngx.print(ngx.var.http_x_a, ngx.var.content_length, ngx.req.get_body_data())
} }
--- request
POST /t
a=1&b=2
--- more_headers
X-A: x
--- response_body chomp
x7a=1&b=2

=== chunked response
--- config
location = /t { content_by_lua_block { ngx.print("a") ngx.flush(true) ngx.say("b") } }
--- request
GET /t
--- response_body
ab

=== root location and unlike
--- config
--- request
GET /
--- response_body_unlike: broken

=== no content
--- config
location = /t { return 204; }
--- request
HEAD /t
--- error_code: 204
--- response_body eval: ''
END

passes 'lists of requests', 21, $head, $run, <<'END';
=== one after the other
--- config
location = /a { add_header X 1; return 200 "a\n"; }
location = /b { return 404 "b\n"; }
--- request eval
["GET /a", "POST /b\nbody"]
--- more_headers eval
["A: a", "B: b"]
--- error_code eval
[200, 404]
--- response_headers eval
["X: 1", "! X"]
--- response_body eval
["a\n", qr/^b/]
--- no_error_log
[error]

=== pipelined
--- config
location = /a { return 200 "a\n"; }
location = /b { content_by_lua_block { ngx.say("b") } }
--- pipelined_requests eval
["GET /a", "GET /b", "GET /a"]
--- response_body eval
["a\n", "b\n", "a\n"]
--- no_error_log eval
[qr/\[error\]/]

=== HEAD and GET
--- config
location = /a { return 200 "a\n"; }
--- request eval
["HEAD /a", "GET /a"]
--- response_body_like eval
["^\$", "a"]
END

passes 'error log', 18, $head, 'repeat_each(2);', $run, <<'END';
=== lines
--- config
location = /t {
    content_by_lua_block { ngx.log(ngx.WARN, "n=", 1) ngx.log(ngx.WARN, "n=", 2) ngx.say("x") }
    log_by_lua_block { ngx.log(ngx.NOTICE, "in the log phase") }
}
--- request
GET /t
--- error_log
n=1
log phase
--- no_error_log
[error]
[alert]
--- wait: 0.01

=== patterns
--- config
location = /t { content_by_lua_block { ngx.log(ngx.ERR, "high") ngx.say("x") } }
--- request
GET /t
--- error_log eval
[qr/hi.h/, "content_by_lua"]
--- no_error_log eval
qr/low/
END

passes 'configuration', 7, $head, <<'SETTINGS', $run, <<'END';
master_on();
workers(2);
worker_connections(100);
log_level('warn');
$ENV{FOR_NGINX} = 'value';
env_to_nginx('FOR_NGINX');
$ENV{TEST_NGINX_HTML_DIR} = html_dir();
$ENV{TEST_NGINX_WORD} = 'word';
add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(response_body => "2 value text of word\n") unless defined $block->response_body;
});
SETTINGS
=== every section of it
--- main_config
env HOME;
--- http_config
lua_shared_dict memory 1m;
--- user_files
>>> sub/file.txt
text of $TEST_NGINX_WORD
>>> empty.txt
--- config
location = /t { content_by_lua_block {
    assert(ngx.shared.memory and os.getenv("HOME"))
    local file = assert(io.open("$TEST_NGINX_HTML_DIR/sub/file.txt"))
    ngx.print(ngx.worker.count(), " ", os.getenv("FOR_NGINX"), " ", file:read("*a"))
} }
--- request
GET /t
--- no_error_log
[error]

=== random ports and long strings
--- config
location = /t { content_by_lua_block {
    ngx.say("$TEST_NGINX_RAND_PORT_1" == "$TEST_NGINX_RAND_PORT_1",
        "$TEST_NGINX_RAND_PORT_1" == "$TEST_NGINX_RAND_PORT_2", $TEST_NGINX_SERVER_PORT == ngx.var.server_port + 0)
} }
--- request
GET /t
--- response_body
truefalsetrue
--- no_error_log
[error]
[warn]
END

passes 'LAST, SKIP, no config of its own', 6, $head, "no_shuffle();\n", $run, <<'END';
=== first
--- config
location = /t { return 200 "first\n"; }
--- request
GET /t
--- response_body
first

=== skipped
--- SKIP
--- config
nonsense on;
--- request
GET /t

=== same server
--- request
GET /t
--- response_body
first

=== last
--- LAST
--- config
location = /t { return 200 "last\n"; }
--- request
GET /t
--- response_body
last

=== not run
--- config
nonsense on;
END

{
    my $got = run_file($head, $run, "=== not run\n--- config\nnonsense on;\n",
        "=== only\n--- ONLY\n--- config\n--- request\nGET /\n");
    is $got->{exit}, 0, 'ONLY: passes';
    is count_of($got, 'ok'), 1, 'ONLY: one block ran';
}

passes 'plan in the import', 1,
    "use Test::Nginx::Socket::Lua tests => 1;\n", $run, <<'END';
=== nothing there
--- config
--- request
GET /no/such/file
--- error_code: 404
END

SKIP: {
    skip 'no stream module', 1 unless $has_stream;
    passes 'stream', 7, "use Test::Nginx::Socket::Lua::Stream 'no_plan';\n", $run, <<'END';
=== response
--- stream_server_config
return "hello\n";
--- stream_response
hello
--- no_error_log
[error]

=== pattern
--- stream_config
map $remote_addr $word { default there; }
--- stream_server_config
return "hello $word\n";
--- stream_response_like: hello \w+

=== request
--- config
location = /echo { content_by_lua_block { ngx.print("got: ", ngx.var.http_x_a) } }
--- stream_server_config
proxy_pass 127.0.0.1:$TEST_NGINX_SERVER_PORT;
--- stream_request eval
"GET /echo HTTP/1.0\r\nX-A: \"]]\$b\r\n\r\n"
--- stream_response_like eval: qr/got: "\]\]\$b/
END
}

# Each of these is added to a block that passes, and must make it fail.
my @wrong = (
    "--- response_body\nother\n",
    "--- response_body_like: other\n",
    "--- response_body_unlike: hello\n",
    "--- error_code: 201\n",
    "--- response_headers\nX-A: 2\n",
    "--- response_headers\n! X-A\n",
    "--- response_headers\nX-B: 1\n",
    "--- response_headers_like\nX-A: [b-z]\n",
    "--- error_log\nother\n",
    "--- error_log eval\nqr/other/\n",
    "--- no_error_log\nlogged\n",
    "--- no_error_log eval\n['other', qr/l.gged/]\n",
);
{
    my $got = run_file($head, $run, map {
        my $block = <<'END';
=== wrong
--- config
location = /t { content_by_lua_block {
    ngx.header["X-A"] = "1"
    ngx.log(ngx.WARN, "logged")
    ngx.say("hello")
} }
--- request
GET /t
END
        $block =~ s/wrong/wrong $_,/;
        $block . $wrong[$_];
    } 0 .. $#wrong);
    isnt $got->{exit}, 0, 'wrong expectations: a failure';
    for my $index (0 .. $#wrong) {
        my $failed = () = $got->{tap} =~ /^not ok .*wrong $index, /mg;
        is $failed, 1, "one failed assertion: $wrong[$index]" =~ s/\n/ /gr;
    }
    my ($root) = $got->{stderr} =~ /logs kept in (\S+)/;
    ok $root && -s "$root/logs/error.log", 'a failure leaves the logs and says where';
}

my $block = "=== the block\n--- config\nlocation = /t { return 200 hello; }\n--- request\nGET /t\n";

dies 'a response that does not come', qr/timed out/, $head, $run, <<'END';
=== slow
--- config
location = /t { content_by_lua_block { ngx.sleep(60) } }
--- request
GET /t
--- timeout: 0.1
END
dies 'an unknown section', qr/the block.*--- responce_body/, $head, $run, "$block--- responce_body\nhello\n";
dies 'an unknown section in a later block', qr/the block.*--- foo/, $head, "no_shuffle();",
    $run, "=== fine\n--- config\n--- request\nGET /\n\n$block--- foo: 1\n";
dies 'an unknown filter', qr/no_such_filter/, $head, $run, "$block--- response_body no_such_filter\nhello\n";
dies 'an unset variable', qr/no TEST_NGINX_UNSET/, $head, $run,
    "=== unset\n--- config\n# \$TEST_NGINX_UNSET\n--- request\nGET /\n";
dies 'a configuration nginx refuses', qr/cannot start nginx.*unknown directive "nonsense"/s, $head, $run,
    "=== refused\n--- config\nnonsense on;\n--- suppress_stderr\n--- request\nGET /\n";
dies 'several requests with one expectation', qr/response_body is not a list/, $head, $run,
    "$block--- response_body\nhello\n" =~ s{GET /t\n}{}r =~ s/request\n/request eval\n["GET \/t", "GET \/t"]\n/r
        =~ s/--- response_body/--- error_code eval: [500, 500]\n--- response_body/r;

{
    my @children = map { start_file("$head$run" . join "\n", ("$block--- response_body chomp\nhello\n") x 5) } 1 .. 2;
    my @results = map { finish_file($_) } @children;
    is_deeply [map { [$_->{exit}, count_of($_, 'ok'), $_->{stderr}] } @results], [([0, 10, '']) x 2],
        'two files at once';
}

for my $end (
    [INT  => "sleep 60;"],
    [TERM => "sleep 60;"],
    [die  => "die 'enough';"],
) {
    my ($how, $code) = @$end;
    my $root = File::Spec->rel2abs("root-$how");
    local $ENV{TEST_NGINX_SERVROOT} = $root;
    my $child = start_file($head . <<"END" . $run . $block);
add_cleanup_handler(sub { open my \$ready, '>', 'ready-$how'; close \$ready; $code });
END
    my $deadline = time + 60;
    sleep 0.01 until -e "ready-$how" || time > $deadline;
    ok scalar(nginx_processes("$root/")), "$how: nginx was running" if $how ne 'die';
    kill $how => $child->{pid} if $how ne 'die';
    my $got = finish_file($child);
    isnt $got->{exit}, 0, "$how: a failure";
    is scalar(nginx_processes("$root/")), 0, "$how: no nginx is left";
}

is_deeply [nginx_processes(File::Spec->rel2abs('t/servroot'))], [], 'no nginx is left by any file';

done_testing;
