#!/bin/sh
# strong.sh: measures what a strong id costs here, in times the floor. With Linux 6.11 or later, it needs no system call;
# the price elsewhere is that call's.
set -eu

cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc -O2 -shared -fPIC -o "$dir/floors.so" bench/floor.c
BENCH_FLOORS=$dir/floors.so LUA_PATH="bench/?.lua;lua/?.lua" LUA_CPATH="target/release/?.so" luajit bench/strong.lua
echo "$(ldd --version | sed -n '1s/.* /glibc /p'), Linux $(uname -r)"
