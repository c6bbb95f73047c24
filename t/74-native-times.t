# txid_time of every text of tests/vectors/.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Vectors qw(lua_of vectors);

my $calendar = vectors('times')->{calendar};
my ($last_ms) = map { $_->{ms} } grep { $_->{name} eq 'the last moment of the calendar' } @$calendar or die 'no such case';

# Where a time of 41 bits may as well be random, there is none.
my %has_time = map { $_ => 1 } qw(txid uuid_v1 uuid_v6 uuid_v7 flake unique_id unique_id_short sofa skywalking);

my ($calls, $body) = ('', '');
for my $case (map { @{ vectors('formats')->{$_} } } qw(valid invalid)) {
    # Others cannot be sent as the value of a header.
    next if $case->{text} !~ /\A[\x21-\xff]+\z/ || $case->{text} =~ /\x7f/;
    my $ms       = $has_time{ $case->{format} } ? $case->{ms} : undef;
    my $is_shown = defined $ms && $ms <= $last_ms;
    $calls .= 'print_time(' . join(', ', map { lua_of($_) } "$case->{format}: $case->{name}", $case->{text}) . ")\n";
    $body  .= "$case->{format}: $case->{name}: " . ($is_shown ? $ms : '') . "\n";
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
--- response_body
$body


END

no_long_string();
run_tests();
