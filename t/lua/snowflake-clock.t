# resty.txid.snowflake when the clock is stepped: libfaketime moves it, within one process and across a restart.
#
# Each line of a block's --- steps is a LuaJIT process; all use one state. Each word is a time, in seconds from the first
# reading of the clock, at which the process requests 1,000 ids. The output is "on" if it gets them all, each greater than all
# earlier ones; otherwise it is the reason.

use strict;
use warnings;
use lib 't/support';
use Test::Base;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use Files qw(write_file);
use Tree qw(library lua_cpath lua_path luajit);

my ($libfaketime) = grep {-e} map { glob "$_/faketime/libfaketime.so.1" } qw(/usr/lib/* /usr/lib /usr/lib64 /usr/local/lib);

plan(skip_all => 'there is no luajit')             unless luajit();
plan(skip_all => 'libfaketime is not installed') unless $libfaketime;
plan('no_plan');
library();

my $dir   = realpath(tempdir('txid-clock-XXXXXX', TMPDIR => 1, CLEANUP => 1));
my $state = 0;

# The clock only moves at a step, so that the counts are exact.
write_file("$dir/steps.lua", <<'END');
local state, options, last = arg[1], arg[2], tonumber(arg[3])
local snowflake = require "resty.txid.snowflake"
options = loadstring("return {" .. options .. "}")()
options.layout, options.node, options.state = options.layout or "snowflake", 17, state
local count = options.count or 1000
options.count = nil

local function put_clock(seconds)
    local file = assert(io.open(os.getenv("FAKETIME_TIMESTAMP_FILE"), "w"))
    -- 2026-01-01: no change to or from summer time.
    file:write(os.date("!%Y-%m-%d %H:%M:%S", 1767225600 + math.floor(seconds)),
               (".%03d"):format(math.floor(seconds * 1000 + 0.5) % 1000), "\n")
    file:close()
end

local last_id = arg[3]
local g
for i = 4, #arg do
    put_clock(tonumber(arg[i]))
    g = g or snowflake.new(options)
    local made, why = 0
    for _ = 1, count do
        local id, err = g()
        if not id then
            why = err
            break
        end
        assert(#id > #last_id or id > last_id, id .. " is not above " .. last_id)
        last_id = id
        made = made + 1
    end
    print(why and (made .. ": " .. why) or "on")
end
local stats = g:stats()
print(("%d issued, %d refused, %d steps"):format(stats.issued, stats.refused, stats.clock_steps))
print(last_id)
END

run {
    my ($block) = @_;
    $state++;
    my ($said, $last_id) = ('', '0');
    local @ENV{qw(LUA_PATH LUA_CPATH)} = (lua_path(), lua_cpath());
    for my $steps (split /\n/, $block->steps) {
        write_file("$dir/clock", "2026-01-01 00:00:00\n");
        local %ENV = (%ENV,
            LD_PRELOAD                   => $libfaketime,
            FAKETIME_TIMESTAMP_FILE      => "$dir/clock",
            FAKETIME_NO_CACHE            => 1,
            FAKETIME_DONT_FAKE_MONOTONIC => 1,
            TZ                           => 'UTC',
        );
        my $options = $block->options // '';
        my $luajit  = luajit();
        my $out     = `timeout 600 $luajit $dir/steps.lua $dir/state$state '$options' $last_id $steps 2>&1`;
        $out =~ s/(\d+)\n\z// and $last_id = $1;
        $said .= $out;
    }
    is($said, $block->out, $block->name);
};

__DATA__

=== TEST 1: a millisecond and five seconds back: ids continue from the last time used
--- steps
0 -0.001 -5 0
0 -0.001 -5 -5.5
--- out
on
on
on
on
4000 issued, 0 refused, 2 steps
on
on
on
on
4000 issued, 0 refused, 3 steps



=== TEST 2: an hour back: nil until the clock has caught up
--- steps
0 -3600 -11 -10.5 -9.9 0
--- out
on
0: the clock reads 2025-12-31T23:00:00.000Z, 3600000 ms behind the last time used, 2026-01-01T00:00:00.000Z; ids continue when it has caught up
0: the clock reads 2025-12-31T23:59:49.000Z, 11000 ms behind the last time used, 2026-01-01T00:00:00.000Z; ids continue when it has caught up
0: the clock reads 2025-12-31T23:59:49.500Z, 10500 ms behind the last time used, 2026-01-01T00:00:00.000Z; ids continue when it has caught up
on
on
3000 issued, 3 refused, 1 steps



=== TEST 3: an hour back and a restart: the state remembers
--- steps
0
-3600
-3600 -5
1
--- out
on
1000 issued, 0 refused, 0 steps
0: the clock reads 2025-12-31T23:00:00.000Z, 3600000 ms behind the last time used, 2026-01-01T00:00:00.000Z; ids continue when it has caught up
0 issued, 1 refused, 0 steps
0: the clock reads 2025-12-31T23:00:00.000Z, 3600000 ms behind the last time used, 2026-01-01T00:00:00.000Z; ids continue when it has caught up
on
1000 issued, 1 refused, 0 steps
on
1000 issued, 0 refused, 0 steps



=== TEST 4: an hour ahead and back, and a restart in between
--- steps
0 3600 0
0
3595
--- out
on
on
0: the clock reads 2026-01-01T00:00:00.000Z, 3600000 ms behind the last time used, 2026-01-01T01:00:00.000Z; ids continue when it has caught up
2000 issued, 1 refused, 1 steps
0: the clock reads 2026-01-01T00:00:00.000Z, 3600000 ms behind the last time used, 2026-01-01T01:00:00.000Z; ids continue when it has caught up
0 issued, 1 refused, 0 steps
on
1000 issued, 0 refused, 0 steps



=== TEST 5: above the layout's rate, nil comes exactly when max_drift is used up
4 ids of this millisecond and of each of the 1001 to come. No binary fraction is 1.001.
--- options: layout = { time_bits = 41, node_bits = 20, sequence_bits = 2 }, max_drift = 1.001, count = 500000
--- steps
0 0.001 0.003
--- out
4008: all ids of the layout up to 2026-01-01T00:00:01.001Z are used up, and the clock reads 2026-01-01T00:00:00.000Z
4: all ids of the layout up to 2026-01-01T00:00:01.002Z are used up, and the clock reads 2026-01-01T00:00:00.001Z
8: all ids of the layout up to 2026-01-01T00:00:01.004Z are used up, and the clock reads 2026-01-01T00:00:00.003Z
4020 issued, 3 refused, 0 steps



=== TEST 6: the same with the ten seconds that are the default, in units of ten milliseconds
--- options: layout = "sonyflake", count = 1000000
--- steps
0 0.01
0.01 0.02
--- out
256256: all ids of the layout up to 2026-01-01T00:00:10.000Z are used up, and the clock reads 2026-01-01T00:00:00.000Z
256: all ids of the layout up to 2026-01-01T00:00:10.010Z are used up, and the clock reads 2026-01-01T00:00:00.010Z
256512 issued, 2 refused, 0 steps
0: all ids of the layout up to 2026-01-01T00:00:10.010Z are used up, and the clock reads 2026-01-01T00:00:00.010Z
256: all ids of the layout up to 2026-01-01T00:00:10.020Z are used up, and the clock reads 2026-01-01T00:00:00.020Z
256 issued, 2 refused, 0 steps
