#!/bin/sh
# Writes bench/SEGMENTS.md: numbers a second from one page, by one process and by four, and requests a second of
# examples/leaf.conf.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
results=$root/bench/SEGMENTS.md
seconds=${SECONDS_EACH:-5}
rounds=5
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"

say() { echo "txid: $*" >&2; }

dir=$(mktemp -d)
pids=
clean_up() {
    trap - EXIT INT TERM HUP
    for pid in $pids; do
        kill "$pid" 2>/dev/null || :
        wait "$pid" 2>/dev/null || :
    done
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'clean_up; exit 1' INT TERM HUP
# nginx's workers do not run as root.
chmod 755 "$dir"
mkdir "$dir/logs"

agent() { # agent OPTIONS...: starts txid-agent with a store of its own
    "$root/target/release/txid-agent" run --assume-unused-store --create --store "file://$dir/store" --dir "$dir/run" "$@" 2>>"$dir/agent.log" &
    pids="$pids $!"
}

await() { # await FILE: waits until txid-agent has made this file
    tries=0
    while [ ! -e "$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { say "no $1:"; cat "$dir/agent.log" >&2; exit 1; }
        sleep 0.1
    done
}

median() { sort -n | sed -n "$((rounds / 2 + 1))p"; }

export LUA_PATH="$root/lua/?.lua;;" LUA_CPATH="$root/target/release/?.so;;"
take() { luajit "$root/bench/segment.lua" "$dir/run/$1.segment" "$seconds"; }

stat_of() { # stat_of TAG NAME: a number that txid-agent status shows
    "$root/target/release/txid-agent" status --json "$dir/run/$1.segment" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"
}

numbers() { # numbers TAG PROCESSES: a row's cells: the median round, and over all rounds numbers a range and refusals
    : >"$dir/rounds"
    ranges=$(stat_of "$1" ranges)
    for _ in $(seq $rounds); do
        takers=
        for process in $(seq "$2"); do
            take "$1" >"$dir/taken.$process" &
            takers="$takers $!"
        done
        for taker in $takers; do
            wait "$taker"
        done
        cat "$dir"/taken.* | awk -v seconds="$seconds" '{ taken += $1; refused += $2 } END { printf "%.1f %.0f %.0f\n", taken / seconds / 1e6, refused, taken }' >>"$dir/rounds"
        rm "$dir"/taken.*
    done
    ranges=$(($(stat_of "$1" ranges) - ranges))
    millions=$(cut -d ' ' -f 1 "$dir/rounds" | median)
    awk -v millions="$millions" -v ranges="$ranges" \
        '{ refused += $2; taken += $3 } END { printf "%s | %s | %.1f", millions, ranges ? sprintf("%.0f", taken / ranges) : "-", 100 * refused / (refused + taken) }' "$dir/rounds"
}

measure() { # measure TAG OPTIONS...: sets one and four, the cells of a tag's rows, with an agent of its own
    tag=$1
    shift
    agent "$@"
    await "$dir/run/$tag.segment"
    sleep 1
    one=$(numbers "$tag" 1)
    four=$(numbers "$tag" 4)
    # shellcheck disable=SC2086 # a list
    kill $pids
    # shellcheck disable=SC2086
    wait $pids || :
    pids=
    rm -r "$dir/run"
}

say "numbers a second"
# Ranges that are never used up here, and ranges of the default --max-step.
measure large --segment large=1000000000 --max-step 2000000000
large_one=$one large_four=$four
measure usual --segment usual=1000000
usual_one=$one usual_four=$four

say "requests a second"
port=$((20000 + $$ % 10000))
load=
for module in $modules; do
    load="$load load_module $module;"
done
sed "s|127.0.0.1:8080|127.0.0.1:$port|; s|/run/txid/|$dir/run/|; s|^worker_processes .*|worker_processes 1; worker_cpu_affinity 01;|
    s|^http {|http { lua_package_path '$LUA_PATH'; lua_package_cpath '$LUA_CPATH';|
    s|^    server {|    server { location = /constant { return 200 1042; }|" "$root/examples/leaf.conf" >"$dir/nginx.conf"
# The step that a tag would have at this rate.
agent --segment invoices=100000 --node orders=leaf -- "$nginx" -p "$dir/" -c nginx.conf -e "$dir/logs/error.log" -g "$load"
await "$dir/logs/nginx.pid"
sleep 1

worker=$(ps -o pid= --ppid "$(cat "$dir/logs/nginx.pid")" | tr -d ' ')
ticks() { awk '{ print $14 + $15 }' "/proc/$worker/stat"; }

requests() { # requests PATH: one round: requests a second, requests a second of the worker's own time, latency, failures
    ticks=$(ticks)
    taskset -c "$(($(nproc) - 1))" wrk -t 1 -c 32 -d "${seconds}s" --latency "http://127.0.0.1:$port$1" >"$dir/wrk"
    awk -v ticks="$(($(ticks) - ticks))" -v hertz="$(getconf CLK_TCK)" '
        /requests in/ { count = $1 } /^Requests\/sec/ { rate = $2 } $1 == "99%" { latency = $2 } /Non-2xx/ { failed = $NF }
        END { printf "%.0f %.0f %s %d\n", rate, count * hertz / ticks, latency, failed }' "$dir/wrk"
}

for path in /constant /api/segment/get/invoices /api/snowflake/get/order; do
    requests "$path" >/dev/null
    : >"$dir/$(basename "$path")"
done
# The paths take turns, so that other load affects all of them.
for _ in $(seq $rounds); do
    for path in /constant /api/segment/get/invoices /api/snowflake/get/order; do
        requests "$path" >>"$dir/$(basename "$path")"
    done
done
of() { # of NAME: a row's cells: the medians, and all failures
    median_of() { cut -d ' ' -f "$2" "$dir/$1" | median; }
    echo "$(median_of "$1" 1) | $(median_of "$1" 2) | $(median_of "$1" 3) | $(awk '{ failed += $4 } END { print failed }' "$dir/$1")"
}

cat >"$dir/SEGMENTS.md" <<EOM
# What \`make bench-segments\` measured

Written by \`make bench-segments\`. Each figure is the median of $rounds rounds of $seconds s.

| | |
|---|---|
| date | $(date -u +%Y-%m-%d) |
| processor | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them |
| busy with other work | load average $(cut -d ' ' -f 1-3 /proc/loadavg) at the end, of which some is this |
| nginx | $("$nginx" -v 2>&1 | sed 's/^[^:]*: //') |

## Numbers a second from one page

\`next()\` in plain LuaJIT, while \`txid-agent\` takes ranges from a directory. Millions a second of all processes together; the numbers in a
range; and the percentage of calls that got no number, because the next range was not there yet.

| | millions a second | numbers a range | refused, % |
|---|--:|--:|--:|
| one process, ranges of a thousand million | $large_one |
| four processes, ranges of a thousand million | $large_four |
| one process, ranges of a million | $usual_one |
| four processes, ranges of a million | $usual_four |

## Requests a second of examples/leaf.conf

**One** nginx worker runs on one processor, and \`wrk\` with 32 connections on another. The constant (\`return 200\`) is what nginx itself can
do here. The second column leaves out other load on the machine.

| | requests a second | a second of the worker's own processor time | 99 % within | failed |
|---|--:|--:|--:|--:|
| a constant | $(of constant) |
| \`/api/segment/get/invoices\` | $(of invoices) |
| \`/api/snowflake/get/order\` | $(of order) |

Leaf's README has "nearly 50,000" a second on a virtual machine with **4** processors and 8 GB, and 99.9 % within 1 ms, called by Meituan's
RPC and not by HTTP. That was another machine, years ago: compare the order of magnitude only.
EOM
cp "$dir/SEGMENTS.md" "$results"
cat "$results"
