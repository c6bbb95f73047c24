#!/bin/sh
# Makes the three tables of bench/RESULTS.md from target/release/libtxid.so. PEERS names a directory that holds other
# people's libraries (bench/rows.lua says which) for the first table.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
results=$root/bench/RESULTS.md
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"
load=
for module in $modules; do
    load="$load load_module $module;"
done

say() { echo "txid: $*" >&2; }

dir=$(mktemp -d)
pids=
stop() {
    for pid in $pids; do
        # An nginx without a master overlooks a signal that comes just before it waits for events.
        while kill "$pid" 2>/dev/null; do
            sleep 0.1
        done
    done
    pids=
}
clean_up() {
    trap - EXIT INT TERM HUP
    stop
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'clean_up; exit 1' INT TERM HUP
# Workers are another user than root, and leave the first table in here.
chmod 777 "$dir"

serve() { # serve CONF DIRECTIVES [UNDER...]: starts nginx with this configuration and under this command
    conf=$1
    directives="daemon off;$load$2"
    shift 2
    "$@" "$nginx" -p "$dir/" -c "$conf" -e "$dir/error.log" -g "$directives" &
    pid=$!
    pids="$pids $pid"
}

fail() { # fail WHAT: with what nginx had to say
    say "$1"
    cat "$dir"/lua.failed "$dir/error.log" >&2 2>/dev/null || :
    exit 1
}

await() { # await FILE: until nginx has written it
    while [ ! -s "$dir/$1" ]; do
        [ ! -s "$dir/lua.failed" ] && kill -0 "$pid" 2>/dev/null || fail "no $1:"
        sleep 0.1
    done
}

say "the first table: in LuaJIT, in an nginx worker"
cc -O2 -shared -fPIC -o "$dir/floors.so" "$root/bench/floor.c"
cat >"$dir/paths.conf" <<EOF
lua_package_path "$root/bench/?.lua;$root/lua/?.lua;${PEERS:+$PEERS/lua-resty-txid/lib/?.lua;$PEERS/lua-resty-string/lib/?.lua;};";
lua_package_cpath "$root/target/release/?.so;;";
EOF
cp "$root/bench/lua.conf" "$root/bench/requests.conf" "$dir/"
export BENCH_DIR="$root/bench" BENCH_FLOORS="$dir/floors.so" PEERS="${PEERS:-}"
serve lua.conf ""
await lua.md
stop

say "the second table: at the C ABI and in Rust"
cargo build --locked --release --quiet --manifest-path "$root/bench/rust/Cargo.toml" --target-dir "$root/target/bench"
bench=$root/target/bench/release/txid-bench
"$bench" ids "$root/target/release/libtxid.so" "$dir" >"$dir/criterion.log" 2>&1 || { cat "$dir/criterion.log" >&2; exit 1; }

say "the encoders"
"$bench" encoders "$dir"

say "the third table: requests"
port=$((20000 + $$ % 10000))
sed "s/PORT/$((port + 1))/; s/nginx.pid/callgrind.pid/" "$dir/requests.conf" >"$dir/callgrind.conf"
sed -i "s/PORT/$port/" "$dir/requests.conf"
serve callgrind.conf "master_process off;" valgrind --quiet --tool=callgrind --callgrind-out-file="$dir/callgrind"
counted=$pid
await callgrind.pid
serve requests.conf ""
await nginx.pid
sleep 0.2
"$bench" requests "$(ps -o pid= --ppid "$pid" | tr -d ' ')" "127.0.0.1:$port" "$counted" "127.0.0.1:$((port + 1))" "$dir"
stop

version_of() { "$@" 2>&1 | head -n 1; }
{
    cat <<EOF
# What \`make bench\` measured

Written by \`make bench\`. Medians, and in brackets the quartiles; the contenders of a table take turns, round by round, and
a ratio is one of two contenders within a round.

| | |
|---|---|
| date | $(date -u +%Y-%m-%d) |
| processor | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them |
| system | $(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r) |
| busy with other work | load average $(cut -d ' ' -f 1-3 /proc/loadavg) at the end |
| nginx | $(version_of "$nginx" -v | sed 's/^[^:]*: //') |
| LuaJIT | $(cat "$dir/luajit") |
| Rust | $(version_of rustc --version) |
| wrk | $(version_of wrk -v | cut -d ' ' -f 1-2) |

## In LuaJIT, inside an nginx worker

Nanoseconds of the worker's own processor time for one string, which is then kept in a ring of 256. The floor is what any
such library has under it: a C function that writes as many bytes, and \`ffi.string\`.

EOF
    cat "$dir/lua.md"
    cat <<EOF

## At the C ABI, and in Rust

Nanoseconds of processor time from nothing to text in a buffer, as criterion finds them. \`txid_fill\` is called through
\`libtxid.so\` and is given its time, as nginx has it at hand; the third row asks the system for it, as most of the others do.

EOF
    cat "$dir/ids.md"
    cat <<EOF

## Encoders

What the library writes by hand, next to what it would use instead: nanoseconds of processor time from a value to text in a
buffer, or back.

EOF
    cat "$dir/encoders.md"
    cat <<EOF

## Requests a second

One nginx worker on one processor, and on the other \`wrk\`, which asks for one row after the other. A row's constant is the
one above it that is answered in the same way. The worker's own processor time leaves out what else kept the machine busy.
Instructions are counted by callgrind, and are nginx's own, without the kernel's, or by
\`perf stat\`, with them, where it can.

EOF
    cat "$dir/requests.md"
} >"$dir/RESULTS.md"
cp "$dir/RESULTS.md" "$results"
cat "$results"
