#!/bin/sh
# run.sh: runs W3C's suite for Trace Context, in the source tree $TRACE_CONTEXT_SRC of w3c/trace-context, against nginx: with the
# native module, and with Lua. Each request goes through nginx to a service that knows nothing of traces, whose own request goes
# through nginx again. The strict tests of the suite want a tracestate with anything wrong dropped; the specification
# leaves that open, and here it is passed on as it came.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
wanted="ndk_http_module ngx_http_lua_module"
. "$root/scripts/nginx.sh"
: "${TRACE_CONTEXT_SRC:?txid: name the source tree of w3c/trace-context: make test-trace-context TRACE_CONTEXT_SRC=dir}"
suite=$(cd "$TRACE_CONTEXT_SRC" && pwd)/test/test.py
[ -f "$suite" ] || { echo "txid: '$TRACE_CONTEXT_SRC' has no test/test.py" >&2; exit 1; }
venv=$root/target/trace-context
"$root/scripts/venv.sh" "$venv" "$here/requirements.txt"

work=$(mktemp -d)
chmod 755 "$work"
mkdir "$work/logs"
pids=
clean_up() {
    trap - EXIT
    # shellcheck disable=SC2086 # a list of processes
    [ -z "$pids" ] || kill $pids 2>/dev/null || :
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2046 # three words
set -- $(perl -MIO::Socket::INET -e \
    'print join " ", map { $_->sockport } map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 3')
front=$1 service=$2 harness=$3

# nginx_conf MODULES HTTP LOCATION
nginx_conf() {
    # shellcheck disable=SC2086 # a list of files
    printf 'load_module %s;\n' $1
    cat <<END
daemon off; pid nginx.pid; error_log logs/error.log;
events { }
http {
    access_log off;
    $2
    map \$uri \$upstream { /test 127.0.0.1:$service; default 127.0.0.1:$harness; }
    server {
        listen 127.0.0.1:$front;
        location / {
            $3
            proxy_pass http://\$upstream;
        }
    }
}
END
}

# conf_of FACE
conf_of() {
    case $1 in
        native) nginx_conf "$root/target/nginx/ngx_http_txid_module.so" 'txid_accept all; txid_trace traceparent; txid_sample 1%;' \
            'proxy_set_header traceparent $txid_traceparent; proxy_set_header tracestate $txid_tracestate;' ;;
        Lua) nginx_conf "$modules" "lua_package_path '$root/lua/?.lua;;'; lua_package_cpath '$root/target/release/?.so;;';
            init_by_lua_block { require('resty.txid.request').configure { accept = 'all', trace = 'traceparent', sample = '1%' } }" \
            "rewrite_by_lua_block { require('resty.txid.request').handle() }" ;;
    esac
}

listens() { perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift)' "$1"; }

"$venv/bin/python" -B "$here/service.py" "$service" "$front" &
pids=$!
status=0
for face in native Lua; do
    conf_of "$face" >"$work/nginx.conf"
    "$nginx" -p "$work/" -c nginx.conf -e logs/error.log &
    server=$!
    pids="$pids $server"
    until listens "$service" && listens "$front"; do
        kill -0 "$server" || { cat "$work/logs/error.log" >&2; exit 1; }
        sleep 0.1
    done
    echo "$face:"
    (cd "$work" && PYTHONDONTWRITEBYTECODE=1 HARNESS_PORT=$harness SPEC_LEVEL=2 STRICT_LEVEL=1 \
        "$venv/bin/python" "$suite" "http://127.0.0.1:$front/test") >"$work/out" 2>&1 || { status=1; cat "$work/out"; }
    tail -n 3 "$work/out"
    kill "$server"
    wait "$server" || :
done
cat "$work/logs/error.log" >&2
exit "$status"
