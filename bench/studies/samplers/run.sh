#!/bin/sh
# run.sh: shows that samplers keep the share of nginx's traces that they should; writes README.md. COUNT is how many
# traces there are of each kind, by default a million. Takes minutes. Installs
# OpenTelemetry's SDKs for Python and Node below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$root/target/samplers
wanted=
. "$root/scripts/nginx.sh"

make --no-print-directory -C "$root" build nginx-module
(cd "$root" && scripts/need.sh studies)
TXID_INSTALL=1 "$root/scripts/venv.sh" "$work/venv" "$here/requirements.txt"
if ! cmp -s "$here/package.json" "$work/node/package.json"; then
    rm -rf "$work/node"
    mkdir -p "$work/node"
    npm install --prefix "$work/node" --silent --no-audit --no-fund \
        "$(sed -n 's/.*"\(@opentelemetry.*\)": "\(.*\)".*/\1@\2/p' "$here/package.json")"
    cp "$here/package.json" "$work/node/"
fi
cp "$here/samplers.mjs" "$work/node/"
exec "$work/venv/bin/python" -B "$here/samplers.py" "$root" "$nginx" "$work/node"
