#!/bin/sh
# Writes bench/RESULTS.md and bench/ids.svg. Measures libtxid.so and txid-agent in target/release, and the nginx module, which it builds. PEERS is a
# directory with other libraries for the first table (listed in bench/rows.lua), and with ngx_txid for the third.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
results=$root/bench/RESULTS.md
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"
load_lua=
for module in $modules; do
    load_lua="$load_lua load_module $module;"
done

say() { echo "txid: $*" >&2; }

dir=$(mktemp -d)
pids=
stop() {
    for pid in $pids; do
        # nginx without a master process misses a signal that arrives just before it waits for events, so repeat it.
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
# nginx's workers do not run as root.
chmod 755 "$dir"

serve() { # serve NAME CONF DIRECTIVES [UNDER...]: starts nginx in $dir/NAME with this configuration and under this command
    name=$1 conf=$2 directives="daemon off; $3"
    shift 3
    "$@" "$nginx" -p "$dir/$name/" -c "$conf" -e "$dir/$name/error.log" -g "$directives" &
    pid=$!
    pids="$pids $pid"
}

fail() { # fail WHAT: prints nginx's errors, and exits
    say "$1"
    cat "$dir/$name"/*.failed "$dir/$name/error.log" >&2 2>/dev/null || :
    exit 1
}

await() { # await FILE: waits until the nginx that was started last has written this file
    while [ ! -s "$dir/$name/$1" ]; do
        [ ! -s "$dir/$name/lua.failed" ] && kill -0 "$pid" 2>/dev/null || fail "no $1:"
        sleep 0.1
    done
}

say "the first table: in LuaJIT, in an nginx worker"
mkdir "$dir/lua"
cc -O2 -shared -fPIC -o "$dir/floors.so" "$root/bench/floor.c"
cat >"$dir/lua/paths.conf" <<EOF
lua_package_path "$root/bench/?.lua;$root/lua/?.lua;${PEERS:+$PEERS/lua-resty-txid/lib/?.lua;$PEERS/lua-resty-string/lib/?.lua;};";
lua_package_cpath "$root/target/release/?.so;;";
EOF
cp "$root/bench/lua.conf" "$dir/lua/nginx.conf"
export BENCH_DIR="$root/bench" BENCH_FLOORS="$dir/floors.so" PEERS="${PEERS:-}"
serve lua nginx.conf "$load_lua" "$root/target/release/txid-agent" run --store "file://$dir/store" --assume-unused-store --dir "$dir/lua/agent" \
    --node orders=snowflake --segment invoices=1000000 --create --
await lua.md
stop

say "the second table: at the C ABI and in Rust"
cargo build --release --quiet --manifest-path "$root/bench/rust/Cargo.toml" --target-dir "$root/target/bench"
bench=$root/target/bench/release/txid-bench
# The library on a processor that has no instructions for AES.
RUSTFLAGS='--cfg aes_backend="soft"' cargo build --locked --release --quiet --package txid-capi --target-dir "$root/target/bench-soft"
"$bench" ids "$root/target/release/libtxid.so" "$root/target/bench-soft/release/libtxid.so" "$dir" >"$dir/criterion.log" 2>&1 || { cat "$dir/criterion.log" >&2; exit 1; }

say "the encoders"
"$bench" encoders "$dir"

say "the third table: requests"
NGINX_OUT=$dir/modules "$root/scripts/nginx-module.sh" >/dev/null
port=$((20000 + $$ % 10000))
servers=
serve_requests() { # serve_requests NAME CONF DIRECTIVES: starts one nginx for wrk, and one under callgrind
    mkdir -p "$dir/$1"
    sed "s/PORT/$((port + 1))/; s/nginx.pid/callgrind.pid/" "$root/bench/$2" >"$dir/$1/callgrind.conf"
    sed "s/PORT/$port/" "$root/bench/$2" >"$dir/$1/nginx.conf"
    serve "$1" callgrind.conf "master_process off; $3" \
        valgrind --quiet --tool=callgrind --callgrind-out-file="$dir/$1/callgrind"
    counted=$pid
    await callgrind.pid
    serve "$1" nginx.conf "$3"
    await nginx.pid
    sleep 0.2
    servers="$servers $1 $(ps -o pid= --ppid "$pid" | tr -d ' ') 127.0.0.1:$port $counted 127.0.0.1:$((port + 1))"
    port=$((port + 2))
}

serve_requests lua requests.conf "$load_lua"
mkdir "$dir/native"
cp "$root/bench/native_module.conf" "$dir/native/module.conf"
serve_requests native native.conf "load_module $dir/modules/ngx_http_txid_module.so;"
if [ -d "${PEERS:-/nonexistent}/ngx_txid" ]; then
    mkdir "$dir/addon"
    cp "$PEERS/ngx_txid"/*.c "$dir/addon/"
    # Its own config cannot build a dynamic module, and its code falls through a switch, which compilers now warn about.
    cat >"$dir/addon/config" <<'EOF'
ngx_addon_name=ngx_txid_module
ngx_module_type=HTTP
ngx_module_name=ngx_txid_module
ngx_module_srcs="$ngx_addon_dir/ngx_txid_module.c $ngx_addon_dir/base32.c"
CFLAGS="$CFLAGS -Wno-error"
. auto/module
EOF
    NGINX_OUT=$dir/peers_modules "$root/scripts/nginx-module.sh" "$dir/addon" ngx_txid_module >/dev/null
    serve_requests ngx_txid native.conf "load_module $dir/peers_modules/ngx_txid_module.so;"
fi
# shellcheck disable=SC2086 # words
"$bench" requests "$dir" $servers
stop

say "logs"
"$bench" logs "$root/target/release/txid" "$dir"

version_of() { "$@" 2>&1 | head -n 1; }
{
    cat <<EOF
# What \`make bench\` measured

Written by \`make bench\`. Figures are medians, with the quartiles in brackets. The rows of a table take turns in each round, and a
ratio compares two rows of the same round.

![What a string takes in LuaJIT, in an nginx worker: times the floor](ids.svg)

| | |
|---|---|
| date | $(date -u +%Y-%m-%d) |
| processor | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them |
| system | $(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r) |
| busy with other work | load average $(cut -d ' ' -f 1-3 /proc/loadavg) at the end |
| nginx | $(version_of "$nginx" -v | sed 's/^[^:]*: //') |
| LuaJIT | $(cat "$dir/lua/luajit") |
| Rust | $(version_of rustc --version) |
| wrk | $(version_of wrk -v | cut -d ' ' -f 1-2) |

## In LuaJIT, inside an nginx worker

Nanoseconds of the worker's own processor time for one string, which then stays in a ring of 256. The floor is the least that any
such library needs: a C function that writes as many bytes, and \`ffi.string\`.

EOF
    cat "$dir/lua/lua.md"
    cat <<EOF

## At the C ABI, and in Rust

Nanoseconds of processor time from nothing to text in a buffer, measured by criterion. \`txid_fill\` is called through \`libtxid.so\`,
and gets the time as an argument, because nginx has it already. The third row reads the clock, as most of the others do.
Nobody can guess the UUIDs of \`txid_uuid_v4\` and \`uuid v4, fast-rng\`: ChaCha8 here, ChaCha12 there. A generator that can be guessed has
a row of its own: \`xoshiro256++\`, without what makes \`txid_fill\` safe in forks and copies.

EOF
    cat "$dir/ids.md"
    cat <<EOF

## Encoders

The library's own encoders, next to the code that could replace them: nanoseconds of processor time from a value to text in a
buffer, or back.

EOF
    cat "$dir/encoders.md"
    cat <<EOF

## Requests a second

One nginx worker runs on one processor, and \`wrk\` on the other, which requests the rows in turn. A row's constant is the one above it
that is answered in the same way. The worker's own processor time leaves out other load on the machine. Instructions are counted by
callgrind, without the kernel's, or by \`perf stat\`, with the kernel's, where that is allowed.

EOF
    cat "$dir/requests.md"
    cat <<EOF

## Logs

A gigabyte of an access log, searched and sorted by the command and, in the C locale, by the program beside it, in turn. Seconds are
processor time, the kernel's included; \`sort\` uses all processors. \`grep -F\` searches for one id in the rows of ten minutes, and for
two characters that each line has in the others.

EOF
    cat "$dir/logs.md"
} >"$dir/RESULTS.md"
cp "$dir/RESULTS.md" "$results"
luajit "$root/bench/picture.lua" "$results" >"$root/bench/ids.svg"
cat "$results"
