# txid_time of every text of tests/vectors/.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_of vectors);

# Nothing else looks like these: their time is shown if it can be. Of the others, it is shown unless something else can be meant.
my $now_ms = time() * 1000;
my %since = (
    uuid_v1 => -2**63, uuid_v6 => -2**63, uuid_v7 => 0, sofa => 1325376000000, skywalking => 1420070400000, ksuid => 0,
    eagleid => 1325376000000,
);

my $calls = '';
for my $case (map { @{ vectors('formats')->{$_} } } qw(valid invalid)) {
    # Others cannot be sent as the value of a header.
    next if $case->{text} !~ /\A[\x21-\xff]+\z/ || $case->{text} =~ /\x7f/;
    my ($ms, $since) = ($case->{ms} // '', $since{ $case->{format} });
    my $is_shown = exists $case->{fields} && $ms ne '' && defined $since && $ms >= $since && $ms <= $now_ms;
    # An invalid text can be an id of another format.
    my @allowed = !exists $case->{fields} ? () : $is_shown ? ($ms) : defined $since ? ('') : ('', $ms);
    my $name    = "$case->{format}: $case->{name}";
    $calls .= 'check(' . join(', ', map { lua_of($_) } $name, $case->{text}, @allowed) . ")\n";
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
--- lua
local http = require "support.http"
local function check(name, text, one, other)
    local response = http.send("GET / HTTP/1.0\\r\\nX-Id: " .. text .. "\\r\\n\\r\\n", \$TEST_NGINX_RAND_PORT_1)
    local time = response:match("\\r\\n\\r\\n(.*)")
    if one and time ~= one and time ~= other then
        ngx.say(name, ": ", time)
    end
end
$calls
ngx.say("all were read")
--- response_body
all were read


END

run_tests();
