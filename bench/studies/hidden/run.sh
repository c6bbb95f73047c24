#!/bin/sh
# run.sh: prints what it costs to hide numbers and UUIDs, in C and in LuaJIT. Needs x86-64, a C compiler, luajit and valgrind.
set -eu

cd "$(dirname "$0")/../../.."
[ -e target/release/libtxid.so ] || make --no-print-directory build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(umask 077; target/release/txid key >"$work/orders.key")
export KEY="key=$work/orders.key" LUA_PATH="lua/?.lua;;" LUA_CPATH="target/release/?.so;;"
cc -O2 -Iinclude -o "$work/hidden" bench/studies/hidden/hidden.c target/release/libtxid.so -Wl,-rpath,"$work"
cp target/release/libtxid.so "$work/libtxid.so.2"
echo "in C: ns at least, ns in the median, times ten AES blocks"
"$work/hidden"
echo "in LuaJIT: ns at least, ns in the median"
luajit bench/studies/hidden/hidden.lua
echo "instructions of a call"
for row in 0 1 2 3 4; do
    valgrind --tool=callgrind --callgrind-out-file="$work/out.$row" "$work/hidden" "$row" 2>/dev/null
    callgrind_annotate --inclusive=yes "$work/out.$row" | awk -v row="$row" '/ten_blocks|hide_number|reveal_number|hide_uuid|reveal_uuid/ { gsub(",", "", $1); print row, $1 / 20000; exit }'
done
