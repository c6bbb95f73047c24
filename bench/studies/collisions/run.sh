#!/bin/sh
# run.sh [svg]: prints the odds of equal ids, and compares the formula with ids of the library; with "svg", draws collisions.svg.
set -eu

cd "$(dirname "$0")/../../.."
[ -e target/release/libtxid.so ] || make --no-print-directory build
export LUA_PATH="lua/?.lua;;" LUA_CPATH="target/release/?.so;;"
if [ "${1:-}" = svg ]; then exec luajit bench/studies/collisions/collisions.lua svg >bench/studies/collisions/collisions.svg; fi
exec luajit bench/studies/collisions/collisions.lua
