# txid_time: of every text of tests/vectors/, and of the formats that a server makes.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua::Stream 'no_plan';
use State;
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
    # Zeros are rather a number of something else.
    $is_shown &&= $case->{text} !~ /\A0+\z/;
    # An invalid text can be an id of another format.
    my @allowed = !exists $case->{fields} ? () : $is_shown ? ($ms) : defined $since ? ('') : ('', $ms);
    my $name    = "$case->{format}: $case->{name}";
    $calls .= 'check(' . join(', ', map { lua_of($_) } $name, $case->{text}, @allowed) . ")\n";
}

my ($own) = do { local (@ARGV, $/) = __FILE__; <> } =~ /^__DATA__\n(.*)/ms;
spec_string(<<"END" . $own);
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

__DATA__

=== TEST 2: times of the formats that this server makes, and of others
--- http_config
txid_variable $other snowflake node=3 layout=discord state=DIR/asked;
txid_variable $day trace_id epoch=2020-01-01;
txid_time $arg_id $time;
txid_time $arg_id $xid format=xid;
txid_time $arg_id $iso iso8601 format=trace_id(epoch=2020-01-01);
txid_time $arg_id $number format=snowflake(layout=instagram);
--- config
location = /t { return 200 "[$time] [$xid] [$iso] [$number]\n"; }
--- request eval
[map {"GET /t?id=$_"} 'b2fr5nvmbtcu7vl9phl0', '9m4e2mr0ui3e8a215n4g', '00000000800000000000000000000001', '175928847299117063', '']
--- response_body_like eval
[qr/^\[1522545688537\] \[1486861023000\] \[\] \[\]$/,
qr/^\[\d*\] \[1300816219000\] \[\] \[\]$/,
qr/^\[1577836800256\] \[\] \[2020-01-01T00:00:00.256Z\] \[\]$/,
qr/^\[1462015105796\] \[\] \[\] \[\d{13}\]$/,
qr/^\[\] \[\] \[\] \[\]$/]



=== TEST 3: and of the one that its own ids have; a number can be an id of any layout
--- http_config
txid_time $arg_id $time;
--- config
txid_format trace_id(epoch=2020-01-01);
location = /t { return 200 "[$time]\n"; }
--- request eval
[map {"GET /t?id=$_"} '00000000800000000000000000000001', '1160090501362225152', '7f3a']
--- response_body eval
["[1577836800256]\n", "[]\n", "[]\n"]



=== TEST 4: and in stream
--- stream_config
map $remote_addr $old { default b2fr5nvmbtcu7vl9phl0; }
map $remote_addr $number { default 175928847299117063; }
txid_variable $other snowflake node=4 state=DIR/asked-in-stream layout=discord;
txid_time $old $ms;
txid_time $old $iso iso8601 format=xid;
txid_time $number $of_number;
--- stream_server_config
return "$ms $iso $of_number\n";
--- stream_response
1522545688537 2017-02-12T00:57:03.000Z 1462015105796
