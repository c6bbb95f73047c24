#!/bin/sh
# run.sh [TEST...]: compares the decisions of txid_sample with those of others' samplers: see samplers.py. COUNT is how many traces
# there are of each ratio, by default a million. Takes minutes. Installs the others below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/target/samplers
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"
export TXID_NGINX="$nginx" TXID_NGINX_MODULES="$modules $root/target/nginx/ngx_http_txid_module.so" TXID_NODE="$work/node"

"$root/scripts/venv.sh" "$work/venv" "$here/requirements.txt"
if ! cmp -s "$here/package.json" "$work/node/package.json"; then
    rm -rf "$work/node"
    mkdir -p "$work/node"
    cp "$here/package.json" "$work/node/"
    npm install --prefix "$work/node" --silent --no-audit --no-fund || { rm "$work/node/package.json"; exit 1; }
fi
cp "$here"/*.mjs "$work/node/"
cd "$here"
[ $# -gt 0 ] || set -- samplers
exec "$work/venv/bin/python" -B -m unittest --verbose "$@"
