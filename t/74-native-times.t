# txid_time of every text of tests/vectors/.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_of vectors);

my $calendar = vectors('times')->{calendar};
# Nothing else looks like these: their time is shown if it can be. Of the others, it is shown unless something else can be meant.
my $now_ms = time() * 1000;
my %since = (
    uuid_v1 => -2**63, uuid_v6 => -2**63, uuid_v7 => 0, sofa => 1325376000000, skywalking => 1420070400000, ksuid => 0,
    eagleid => 1325376000000,
);

my ($calls, $body) = ('', '');
for my $case (map { @{ vectors('formats')->{$_} } } qw(valid invalid)) {
    # Others cannot be sent as the value of a header.
    next if $case->{text} !~ /\A[\x21-\xff]+\z/ || $case->{text} =~ /\x7f/;
    my ($ms, $since) = ($case->{ms} // '', $since{ $case->{format} });
    my $is_valid = exists $case->{fields};
    my $is_shown = $is_valid && $ms ne '' && defined $since && $ms >= $since && $ms <= $now_ms;
    my $pattern  = !$is_valid ? '\d*' : $is_shown ? $ms : defined $since ? '' : "(?:$ms)?";
    $calls .= 'print_time(' . join(', ', map { lua_of($_) } "$case->{format}: $case->{name}", $case->{text}) . ")\n";
    $body  .= quotemeta("$case->{format}: $case->{name}: ") . "$pattern\n";
}

spec_string(<<"END");
=== TEST 1: formats.json
--- http_config
txid_time \$http_x_id \$time ms;
server {
    listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1;
    access_log off;
    location / { return 200 "\$time"; }
}
--- config
location = /t { content_by_lua_block {
local http = require "support.http"
local function print_time(name, text)
    local response = http.send("GET / HTTP/1.0\\r\\nX-Id: " .. text .. "\\r\\n\\r\\n", \$TEST_NGINX_RAND_PORT_1)
    ngx.say(name, ": ", response:match("\\r\\n\\r\\n(.*)"))
end
$calls} }
--- response_body_like
^$body\$


END

no_long_string();
run_tests();
