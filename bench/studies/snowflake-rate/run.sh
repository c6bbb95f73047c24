#!/bin/sh
# Draws snowflake-rate.svg: ids and refusals a second, for more and more requests. Takes 20 seconds.
set -eu

cd "$(dirname "$0")/../../.."
[ -e target/release/libtxid.so ] || make --no-print-directory build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LUA_PATH="lua/?.lua;;" LUA_CPATH="target/release/?.so;;" luajit bench/studies/snowflake-rate/snowflake-rate.lua "$work" >"$work/svg"
cp "$work/svg" bench/studies/snowflake-rate/snowflake-rate.svg
