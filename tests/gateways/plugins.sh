#!/bin/sh
# plugins.sh: runs the plugins in real gateways, from their rocks, as the quick starts say. APISIX_HOME= is a directory with APISIX's
# apisix/ and conf/; openresty and luajit are those of PATH, and LUA_PATH and LUA_CPATH have what APISIX needs besides. KONG= is Kong's
# command; KONG_PLUGINS= are its other plugins, by default bundled. Nothing is changed there: each runs on a copy, or with a prefix of its
# own, without a database, and listens on 127.0.0.1 alone.
set -eu

cd "$(dirname "$0")/../.."
[ -n "${APISIX_HOME-}${KONG-}" ] || { echo "txid: give APISIX_HOME= or KONG=" >&2; exit 2; }
[ -f target/release/libtxid.so ] || { echo "txid: not built yet: run make build" >&2; exit 1; }

work=$(mktemp -d)
chmod 755 "$work"
clean_up() {
    trap - EXIT
    for pid in "$work"/upstream.pid "$work"/logs/nginx.pid "$work"/*/logs/nginx.pid "$work"/*/pids/nginx.pid; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || :
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

rocks=$work/rocks
packaging/rocks.sh >"$work/packed" 2>&1 || { cat "$work/packed" >&2; exit 1; }
for rock in lua-resty-libtxid libtxid kong-plugin-txid apisix-plugin-txid; do
    luarocks --lua-version 5.1 --tree "$rocks" install dist/$rock-[0-9]*.rock >"$work/packed" 2>&1 || { cat "$work/packed" >&2; exit 1; }
done

ports() { perl -MIO::Socket::INET -e 'print join " ", map { $_->sockport } map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 4'; }
# shellcheck disable=SC2046 # four words
set -- $(ports)
port=$1 upstream=$2 nobody=$3 admin=$4

# Answers with the head that it got, and with an id of its own, which the client must not see.
perl -MIO::Socket::INET -e '
    my $listener = IO::Socket::INET->new(Listen => 8, LocalAddr => "127.0.0.1", LocalPort => shift, ReuseAddr => 1) or die "upstream: $!\n";
    while (my $client = $listener->accept) {
        my (%got, $head);
        while (<$client>) { last if /^\r?\n$/; $head .= $_; $got{lc $1} = $2 if /^([\w-]+): (.*?)\r?\n$/ }
        my $body = $head . join " ", map { $got{$_} // "none" } "x-request-id", "traceparent";
        print $client "HTTP/1.0 200 OK\r\nX-Request-Id: upstream\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
    }' "$upstream" &
echo $! >"$work/upstream.pid"

fail() { echo "not ok - $*"; tail -n 5 "$logs/error.log"; exit 1; }
# stop_in PID_FILE
stop_in() {
    [ ! -s "$1" ] || kill -QUIT "$(cat "$1")" 2>/dev/null || :
    for _ in $(seq 300); do [ -s "$1" ] || break; sleep 0.1; done
}
# ask PATH [OPTION...]: sets status, id and body.
ask() {
    path=$1
    shift
    answer=$(curl -s -i --max-time 10 "$@" "http://127.0.0.1:$port$path" | tr -d '\r')
    status=$(printf '%s\n' "$answer" | sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p')
    id=$(printf '%s\n' "$answer" | sed -n 's/^[Xx]-[Rr]equest-[Ii]d: //p')
    body=$(printf '%s\n' "$answer" | tail -n 1)
}
# is WHAT TEXT PATTERN
is() {
    printf '%s\n' "$2" | grep -Eqx "$3" || fail "$1: '$2', not $3"
    echo "ok - $1"
}
new='[0-9a-v]{19}[0g]'

# with_ids PATH: what both promise. PATH leads to the upstream, /dead to nobody, and /none nowhere.
with_ids() {
    for _ in $(seq 50); do
        ask "$1"
        [ "$status" != 200 ] || break
        sleep 0.2
    done
    is "a request" "$status $id" "200 $new"
    is "its id and trace, upstream" "$body" "$id 00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]"
    for case in "/none 404" "/dead 502"; do
        ask "${case% *}"
        is "a ${case#* }" "$status $id" "${case#* } $new"
    done
    failed=$id
    ask "$1" --header "X-Request-Id: from-a-client"
    is "the id of a client" "$id" "$new"
    trace=4bf92f3577b34da6a3ce929d0e0e4736
    ask "$1" --interface 127.0.0.2 --header "X-Request-Id: from-the-front" --header "traceparent: 00-$trace-00f067aa0ba902b7-01"
    is "the id of the gateway in front" "$id" from-the-front
    is "and its trace, upstream" "$body" "from-the-front 00-$trace-[0-9a-f]{16}-01"
    is "the error log has the id of the 502" "$(grep -c "request_id: \"$failed\"" "$logs/error.log")" '[1-9]'
}

# decide TEST CONFIGURATION: the rows of the table, each with its options in a route.
decide() {
    (cd tests/gateways && TXID_PLUGIN="$port $upstream $logs/error.log $2" python3 -B -m unittest --quiet "decisions.$1") || fail "a row of tests/vectors"
    echo "ok - the rows of tests/vectors, and options of routes"
}

# Starts APISIX with our plugin for all routes.
start_apisix() {
    dir=$work
    mkdir -p "$dir/logs"
    cp -r "$home/apisix" "$home/conf" "$dir/"
    # The block of the document, and what else a gateway without etcd needs.
    document=docs/quick-start-apisix.md
    snippet=$(sed -n '/^nginx_config:$/,/^```$/p' $document | grep -v '^```')
    [ -n "$snippet" ] || { echo "txid: $document has no nginx_config" >&2; exit 1; }
    cat >"$dir/conf/config.yaml" <<END
deployment:
  role: data_plane
  role_data_plane: { config_provider: yaml }
apisix:
  node_listen: [{ ip: 127.0.0.1, port: $port }, { ip: "[::1]", port: $port }]
  enable_ipv6: false
  enable_control: false
  ssl: { enable: false }
  extra_lua_path: "$rocks/share/lua/5.1/?.lua;${LUA_PATH-}"
  extra_lua_cpath: "$rocks/lib/lua/5.1/?.so;${LUA_CPATH-}"
$snippet
  worker_processes: 1
  error_log_level: info
  http: { real_ip_header: X-Real-IP, real_ip_from: ["0.0.0.0/0"] }
plugins: [txid, proxy-rewrite]
stream_plugins: []
plugin_attr:
  txid:
    accept: ["127.0.0.2/32"]
    trace: traceparent
END
    cat >"$dir/conf/apisix.yaml" <<END
routes:
  - { uri: /, upstream: { type: roundrobin, nodes: { "127.0.0.1:$upstream": 1 } } }
  - { uri: /dead, upstream: { type: roundrobin, nodes: { "127.0.0.1:$nobody": 1 } } }
global_rules:
  - { id: one, plugins: { txid: {} } }
#END
END
    (cd "$dir" && LUA_PATH="./?.lua;${LUA_PATH-;}" luajit ./apisix/cli/apisix.lua init) >"$dir/init" 2>&1 || { cat "$dir/init"; fail "apisix init"; }
    pid_file=$dir/logs/nginx.pid
    openresty -p "$dir/" -c "$dir/conf/nginx.conf" >"$work/start" 2>&1 || { cat "$work/start"; fail "the start of APISIX"; }
}

test_apisix() {
    home=$APISIX_HOME logs=$work/logs
    [ -f "$home/apisix/cli/apisix.lua" ] || { echo "txid: APISIX_HOME is '$home', and has no apisix/cli/apisix.lua" >&2; exit 2; }
    start_apisix
    with_ids /
    decide Apisix "$work/conf/apisix.yaml"
    stop_in "$pid_file"
    is "the access log has it" "$(grep -c "\"$failed\"" "$work/logs/access.log")" 1
    echo "$(openresty -v 2>&1 | sed 's|.*: ||'), APISIX $(sed -n 's/.*VERSION = "\(.*\)".*/\1/p' "$home/apisix/core/version.lua")"
}

services_of_kong() {
    cat <<END
services:
  - { name: up, url: "http://127.0.0.1:$upstream", routes: [{ paths: [/up] }] }
  - { name: dead, url: "http://127.0.0.1:$nobody", routes: [{ paths: [/dead] }] }
END
}

test_kong() {
    document=docs/quick-start-kong.md logs=$work/kong/logs
    # The files of section 3 of the document, and its settings.
    sed -n 's/^map .*/&/p' $document >"$work/variables.conf"
    eval "$(sed -n '/^export KONG_NGINX_HTTP_INCLUDE/,/^```$/p' $document | grep -v '^```' | sed "s|/opt/txid|$work|")"
    export KONG_PREFIX="$work/kong" KONG_DATABASE=off KONG_DECLARATIVE_CONFIG="$work/kong.yml" KONG_PLUGINS="${KONG_PLUGINS:-bundled},txid" \
        KONG_LUA_PACKAGE_PATH="$rocks/share/lua/5.1/?.lua;;" KONG_LUA_PACKAGE_CPATH="$rocks/lib/lua/5.1/?.so;;" \
        KONG_PROXY_LISTEN="127.0.0.1:$port, [::1]:$port" KONG_ADMIN_LISTEN="127.0.0.1:$admin" KONG_ADMIN_GUI_LISTEN=off KONG_STATUS_LISTEN=off \
        KONG_NGINX_WORKER_PROCESSES=1 KONG_ANONYMOUS_REPORTS=off KONG_LOG_LEVEL=info KONG_TRUSTED_IPS=0.0.0.0/0
    {
        sed -n '/^_format_version/,/^```$/p' $document | grep -v '^```'
        echo '    config: { accept: ["127.0.0.2/32"], trace: [traceparent] }'
        echo "  - { name: file-log, config: { path: \"$work/requests.json\" } }"
        services_of_kong
    } >"$work/kong.yml"
    # Kong's workers write it, as another user.
    touch "$work/requests.json"
    chmod 666 "$work/requests.json"
    "$KONG" start >"$work/start" 2>&1 || { cat "$work/start"; fail "the start of Kong"; }
    with_ids /up
    decide Kong "http://127.0.0.1:$admin/config"
    stop_in "$work/kong/pids/nginx.pid"
    is "the access log has it" "$(grep -c "\" 502 .* $failed$" "$logs/access.log")" 1
    is "a log plugin has it" "$(grep -c "\"correlation_id\":\"$failed\"" "$work/requests.json")" 1
    echo "Kong $("$KONG" version)"
}

[ -z "${APISIX_HOME-}" ] || test_apisix
[ -z "${KONG-}" ] || test_kong
