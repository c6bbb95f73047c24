# The stand-in for Test::Nginx in t/lib notices what is wrong: the other files show that it runs blocks that are right. It runs small
# files of its own in child processes, even if the other files use the real Test::Nginx.

use strict;
use warnings;
use lib 't/support';
use Cwd qw(realpath);
use File::Spec;
use File::Temp qw(tempdir);
use Files qw(contents write_file);
use Test::More;
use Time::HiRes qw(sleep time);

my $lib = File::Spec->rel2abs('t/lib');

# Drops prove's -I options, so that children see the installed Test::Base and not the copy that comes with the real Test::Nginx.
delete $ENV{PERL5LIB};
plan skip_all => 'Test::Base is not installed' if system "$^X -e 'require Test::Base' 2>/dev/null";

# The server roots are below the current directory.
chdir realpath(tempdir(CLEANUP => 1)) or die;
END { chdir '/' }

# How long it waits for a line in the log that does not come, and for an nginx that is asked to end.
$ENV{TEST_NGINX_TIMEOUT} = 1;

sub start_file {
    write_file('file.t', join "\n", "use Test::Nginx::Socket::Lua 'no_plan';\nrun_tests();\n__DATA__\n", @_);
    my $pid = open(my $tap, '-|') // die "fork: $!";
    if ($pid == 0) {
        open STDERR, '>', 'file.err' or die;
        # A shell's background jobs, and so their children, ignore INT.
        $SIG{INT} = 'DEFAULT';
        exec $^X, '-w', "-I$lib", 'file.t' or die;
    }
    return ($pid, $tap);
}

# What it said, and whether it failed.
sub finish_file {
    my ($tap) = @_;
    my $said = do { local $/; readline $tap } // '';
    close $tap;
    return ($said . contents('file.err'), $? != 0);
}

sub run_file {
    my (undef, $tap) = start_file(@_);
    return finish_file($tap);
}

sub nginx_processes {
    my $root = File::Spec->rel2abs('t/servroot');
    return grep {
        my $is_open = open my $in, '<', $_;
        $is_open && index(do { local $/; readline $in } // '', $root) >= 0;
    } glob '/proc/[0-9]*/cmdline';
}

my $fine = <<'END';
=== the block
--- config
location = /t { content_by_lua_block {
    ngx.header["X-A"] = "1"
    ngx.log(ngx.WARN, "logged")
    ngx.say("hello")
} }
--- request
GET /t
END

my @right = (
    "--- response_body\nhello\n",
    "--- response_headers\nX-A: 1\n! X-B\n--- error_log\nlogged\n--- no_error_log\n[error]\n",
);
my ($said, $failed) = run_file(map {"$fine$_"} @right);
ok !$failed, 'what is right passes' or diag $said;

# Each of these is added to a block that passes, and must make it fail.
my @wrong = (
    "--- response_body\nother\n",
    "--- response_body_like: other\n",
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
    my ($said, $failed) = run_file(map { $fine =~ s/the block/wrong $_,/r . $wrong[$_] } 0 .. $#wrong);
    ok $failed, 'wrong expectations: a failure';
    for my $index (0 .. $#wrong) {
        my $times = () = $said =~ /^not ok .*wrong $index, /mg;
        is $times, 1, "one failed assertion: $wrong[$index]" =~ s/\n/ /gr;
    }
    my ($root) = $said =~ /logs kept in (\S+)/;
    ok $root && -s "$root/logs/error.log", 'a failure leaves the logs and says where';
}

my $slow = "=== slow\n--- config\nlocation = /t { content_by_lua_block { io.open('asked', 'w'):close() ngx.sleep(60) } }\n--- request\nGET /t\n";

for my $case (
    ['a response that does not come',            qr/timed out/,                     "$slow--- timeout: 0.1\n"],
    ['an unknown section',                       qr/the block.*--- responce_body/,  "=== fine\n--- config\n--- request\nGET /\n", "$fine--- responce_body\n"],
    ['an unknown filter',                        qr/no_such_filter/,                "$fine--- response_body no_such_filter\nhello\n"],
    ['an unset variable',                        qr/no TEST_NGINX_UNSET/,           "=== unset\n--- config\n# \$TEST_NGINX_UNSET\n--- request\nGET /\n"],
    ['a configuration that nginx refuses',       qr/cannot start nginx.*unknown directive "nonsense"/s, $fine =~ s/location/nonsense on; location/r],
    ['several requests with one expectation',    qr/response_body is not a list/,   $fine =~ s{request\nGET /t}{request eval\n[("GET /t") x 2]}r . "--- response_body\nhello\n"],
) {
    my ($name, $message, @blocks) = @$case;
    my ($said, $failed) = run_file(@blocks);
    ok $failed, "$name: a failure";
    like $said, $message, "$name: with a message";
}

for my $signal (qw(INT TERM)) {
    unlink 'asked';
    my ($pid, $tap) = start_file("$slow--- timeout: 60\n");
    my $deadline = time + 60;
    sleep 0.01 until -e 'asked' || time > $deadline;
    ok scalar(nginx_processes()), "$signal: nginx was running";
    kill $signal => $pid;
    my (undef, $failed) = finish_file($tap);
    ok $failed, "$signal: a failure";
    is scalar(nginx_processes()), 0, "$signal: no nginx is left";
}

done_testing;
