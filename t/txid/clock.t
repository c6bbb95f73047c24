# Time never goes backwards, unless it was far ahead. libfaketime moves the clock that nginx sees.

use lib 't/support';
my ($libfaketime, $clock_file);

# Before Test::Nginx is loaded, because it keeps the LD_PRELOAD of that moment.
BEGIN {
    ($libfaketime) = grep {-e} map { glob "$_/faketime/libfaketime.so.1" }
        qw(/usr/lib/* /usr/lib /usr/lib64 /usr/local/lib);
    if ($libfaketime) {
        require File::Temp;
        $clock_file = File::Temp->new(TEMPLATE => 'txid-clock-XXXXXX', TMPDIR => 1);
        print $clock_file "+0\n";
        close $clock_file;
        %ENV = (%ENV,
            LD_PRELOAD                   => $libfaketime,
            FAKETIME_TIMESTAMP_FILE      => $clock_file->filename,
            FAKETIME_NO_CACHE            => 1,
            FAKETIME_DONT_FAKE_MONOTONIC => 1,
        );
    }
}

use Test::Nginx::Socket::Lua;
use Suite;

plan($libfaketime ? 'no_plan' : (skip_all => 'libfaketime is not installed'));

env_to_nginx(grep {/^FAKETIME_/} keys %ENV);

add_block_preprocessor(sub {
    my ($block) = @_;
    $block->set_value(http_config => <<'END');
init_by_lua_block {
    local decode = require "support.decode"
    local txid = require "resty.txid"
    local start

    -- Sets the clock to this offset from its first reading. Returns how far the clock and the time in a new id are then from
    -- where the first one was, to the nearest second.
    function step_to(seconds)
        local file = assert(io.open(os.getenv("FAKETIME_TIMESTAMP_FILE"), "w"))
        file:write(("%+d\n"):format(seconds))
        file:close()

        ngx.update_time()
        local now, id = ngx.now(), decode(txid()) / 1000
        start = start or id
        return ("clock %+.0f id %+.0f"):format(now - start, id - start)
    end
}
END
});

run_tests();

__DATA__

=== TEST 1: time stays after a step back by up to ten seconds; a clock further behind, and each step forward, is followed
--- lua
for _, seconds in ipairs { 0, -5, -9, -3, 1, 30, 86400, 86395, -3600, -3604, -3590, -3601 } do
    ngx.say(step_to(seconds))
end
--- response_body
clock +0 id +0
clock -5 id +0
clock -9 id +0
clock -3 id +0
clock +1 id +1
clock +30 id +30
clock +86400 id +86400
clock +86395 id +86400
clock -3600 id -3600
clock -3604 id -3600
clock -3590 id -3590
clock -3601 id -3601



=== TEST 2: in that time, ids have the same millisecond
--- lua
local txid = require "resty.txid"
step_to(0)
local before = txid()
step_to(-5)
local after = txid()
ngx.say(after ~= before, " ", require("support.decode")(after) == require("support.decode")(before))
--- response_body
true true



=== TEST 3: a time given as an argument is used as it is, and does not affect later ids
--- lua
local txid = require "resty.txid"
local decode = require "support.decode"
ngx.say(step_to(0))
txid((ngx.now() + 5) * 1000)
ngx.say(step_to(0))
step_to(-5)
local ms = math.floor(ngx.now() * 1000)
ngx.say(decode(txid(ms)) == ms)
--- response_body
clock +0 id +0
clock +0 id +0
true



=== TEST 4: exactly ten seconds are a step back, and a millisecond more is not
--- lua
local decode, txid = require "support.decode", require "resty.txid"

-- Stops the clock at this moment. Returns it, and the time in a new id.
local function stop_at(moment)
    local file = assert(io.open(os.getenv("FAKETIME_TIMESTAMP_FILE"), "w"))
    file:write("2031-05-06 07:08:", moment, "\n")
    file:close()
    ngx.update_time()
    return math.floor(ngx.now() * 1000 + 0.5), decode(txid())
end

local first = stop_at("20.000")
for _, moment in ipairs { "20.000", "10.000", "09.999" } do
    local now, id = stop_at(moment)
    ngx.say("clock ", now - first, " id ", id - first)
end
--- response_body
clock 0 id 0
clock -10000 id 0
clock -10001 id -10001
