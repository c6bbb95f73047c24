#!/bin/sh
# run.sh: compares how headers of traces are read here, by OpenTelemetry's propagators and by Kong's extractors; writes README.md.
# KONG_SRC, COUNT, TXID_SEED and XRAY_GO are described there. Takes a minute. Installs the propagators for Python and Node below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$root/target/propagators
wanted=
. "$root/scripts/nginx.sh"

[ -e "$root/target/release/libtxid.so" ] || make --no-print-directory -C "$root" build
(cd "$root" && scripts/need.sh studies)
TXID_INSTALL=1 "$root/scripts/venv.sh" "$work/venv" "$here/requirements.txt"
if ! cmp -s "$here/package.json" "$work/node/package.json"; then
    rm -rf "$work/node"
    mkdir -p "$work/node"
    cp "$here/package.json" "$work/node/"
    npm install --prefix "$work/node" --silent --no-audit --no-fund
fi
cp "$here/javascript.mjs" "$work/node/"
exec "$work/venv/bin/python" -B "$here/propagators.py" "$nginx" "$work/node"
