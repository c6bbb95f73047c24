#!/bin/sh
# run.sh [native]: serves examples/nginx.conf, or examples/native.conf, on $ADDRESS:$PORT, 127.0.0.1:8080 by default, until
# Ctrl-C, and leaves nothing behind.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
port=${PORT:-8080}
address=${ADDRESS:-127.0.0.1}
case $port in
    '' | *[!0-9]*) echo "txid: PORT is '$port', not a number" >&2; exit 2 ;;
esac

example=nginx
wanted="ndk_http_module ngx_http_lua_module"
ours=
if [ "${1:-}" = native ]; then
    example=native
    wanted=ngx_stream_module
    ours="$root/target/nginx/ngx_http_txid_module.so $root/target/nginx/ngx_stream_txid_module.so"
fi
. "$root/scripts/nginx.sh"
load=
for module in $modules $ours; do
    load="$load load_module $module;"
done

prefix=$(mktemp -d)
pid=
clean_up() {
    trap - EXIT INT TERM HUP
    [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid"; } || :
    rm -rf "$prefix"
}
trap clean_up EXIT
trap 'clean_up; exit 0' INT TERM HUP

# Workers run as another user than root, and must reach the upstream's socket in here.
chmod 755 "$prefix"
mkdir "$prefix/logs"
"$root/packaging/web-reader.sh" >"$prefix/reader.html"
# nginx makes sockets with relative names in its working directory.
cd "$prefix"
# The directories that nginx was built with belong to root, or are not there before it has been root's.
paths=
for name in client_body proxy fastcgi uwsgi scgi; do
    case $("$nginx" -V 2>&1) in
        *--without-http_${name}_module*) ;;
        *) paths="$paths ${name}_temp_path $name;" ;;
    esac
done
sed -e "s/127\.0\.0\.1:8080/$address:$port/" -e "s/^http {\$/&$paths/" "$root/examples/$example.conf" >"$prefix/nginx.conf"

LUA_PATH="$root/lua/?.lua;;" LUA_CPATH="$root/target/release/?.so;;" \
    "$nginx" -p "$prefix/" -c nginx.conf -e "$prefix/logs/error.log" -g "daemon off;$load" 2>"$prefix/stderr" &
pid=$!

# nginx writes its pid when it listens. If a port is in use, it retries for 2.5 s.
while [ ! -s "$prefix/logs/nginx.pid" ]; do
    if ! kill -0 "$pid" 2>/dev/null; then
        pid=
        if grep -q 'Address already in use' "$prefix/stderr" "$prefix/logs/error.log"; then
            echo "txid: port $port is in use; choose another with PORT=8081" >&2
        else
            echo "txid: nginx did not start: $(grep -h emerg "$prefix/stderr" "$prefix/logs/error.log" | head -n 1)" >&2
        fi
        exit 1
    fi
    sleep 0.1
done

[ "$example" = native ] || [ -f "$root/target/release/libtxid.so" ] \
    || echo "The library is not built (make build), so ids are made in plain LuaJIT."
cat <<EOF
Serving examples/$example.conf on http://127.0.0.1:$port/ until Ctrl-C. Try:

  curl -i http://127.0.0.1:$port/
  curl -s http://127.0.0.1:$port/logs
EOF
[ "$example" = native ] || echo "
  a browser: http://127.0.0.1:$port/reader"
wait "$pid"
