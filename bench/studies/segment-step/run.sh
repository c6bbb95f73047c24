#!/bin/sh
# Draws segment-step.svg: how many numbers txid-agent takes at a time, while the load rises and falls. The agent's clock runs 120 times
# as fast, so that seven hours take three and a half minutes.
set -eu

cd "$(dirname "$0")/../../.."
scripts/need.sh build studies
[ -e target/release/libtxid.so ] && [ -e target/release/txid-agent ] || make --no-print-directory build agent
work=$(mktemp -d)
agent=
trap '[ -z "$agent" ] || kill "$agent"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# faketime starts the agent in its own place, so that this is the agent's id.
faketime --exclude-monotonic -f '+0 x120' target/release/txid-agent run --store "file://$work/store" --new --dir "$work/run" \
    --segment invoices=1000 --create 2>"$work/log" &
agent=$!
for _ in $(seq 100); do
    [ ! -e "$work/run/invoices.segment" ] || break
    sleep 0.1
done
LUA_PATH="lua/?.lua;;" LUA_CPATH="target/release/?.so;;" \
    luajit bench/studies/segment-step/segment-step.lua "$work/run/invoices.segment" >"$work/svg"
cp "$work/svg" bench/studies/segment-step/segment-step.svg
