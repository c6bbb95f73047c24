#!/bin/sh
# test-gateways.sh: runs the plugins in real gateways, from their rocks, as the quick starts say. APISIX_HOME= is a directory with
# APISIX's apisix/ and conf/; openresty and luajit are those of PATH, and LUA_PATH and LUA_CPATH have what APISIX needs besides.
# KONG= is Kong's command; KONG_PLUGINS= are its other plugins, by default bundled. Nothing is changed there: each runs on a copy,
# or with a prefix of its own, without a database, and listens on 127.0.0.1 alone. Then it prints what a request costs without a plugin
# for ids, with the gateway's own, and with ours; for Kong, KONG_NGINX= is its nginx.
set -eu

cd "$(dirname "$0")/../../.."
. bench/studies/gateways/costs.sh
[ -n "${APISIX_HOME-}${KONG-}" ] || { echo "txid: give APISIX_HOME= or KONG=" >&2; exit 2; }
[ -f target/release/libtxid.so ] || { echo "txid: not built yet: run make build" >&2; exit 1; }

work=$(mktemp -d)
chmod 755 "$work"
clean_up() {
    trap - EXIT
    for pid in "$work"/upstream.pid "$work"/counted.pid "$work"/logs/nginx.pid "$work"/*/logs/nginx.pid "$work"/*/pids/nginx.pid; do
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

ports() { perl -MIO::Socket::INET -e 'print join " ", map { $_->sockport } map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 3'; }
# shellcheck disable=SC2046 # three words
set -- $(ports)
port=$1 upstream=$2 nobody=$3
# The variants that are compared have ports from here on.
cost_port=$((port > 60000 ? port - 100 : port + 100))

# Answers with the headers that it got, and with an id of its own, which the client must not see.
perl -MIO::Socket::INET -e '
    my $listener = IO::Socket::INET->new(Listen => 8, LocalAddr => "127.0.0.1", LocalPort => shift, ReuseAddr => 1) or die "upstream: $!\n";
    while (my $client = $listener->accept) {
        my %got;
        while (<$client>) { last if /^\r?\n$/; $got{lc $1} = $2 if /^([\w-]+): (.*?)\r?\n$/ }
        my $body = join " ", map { $got{$_} // "none" } "x-request-id", "traceparent";
        print $client "HTTP/1.0 200 OK\r\nX-Request-Id: upstream\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
    }' "$upstream" &
echo $! >"$work/upstream.pid"

fail() { echo "not ok - $*"; tail -n 5 "$logs/error.log"; exit 1; }
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
    ask "$1" --header "Host: a b"
    is "a 400" "$status $id" "400 $new"
    ask "$1" --header "X-Request-Id: from-a-client"
    is "the id of a client" "$id" "$new"
    trace=4bf92f3577b34da6a3ce929d0e0e4736
    ask "$1" --interface 127.0.0.2 --header "X-Request-Id: from-the-front" --header "traceparent: 00-$trace-00f067aa0ba902b7-01"
    is "the id of the gateway in front" "$id" from-the-front
    is "and its trace, upstream" "$body" "from-the-front 00-$trace-[0-9a-f]{16}-01"
    ask "$1" --interface 127.0.0.2 --header "X-Request-Id: b,ad"
    is "its malformed id" "$status $id" "200 $new"
    is "the error log has the id of the 502" "$(grep -c "request_id: \"$failed\"" "$logs/error.log")" '[1-9]'
}

# apisix_in DIRECTORY PORT PLUGINS RULE: starts APISIX with these plugins, and this rule for all routes.
apisix_in() {
    dir=$1
    mkdir -p "$dir/logs"
    cp -r "$home/apisix" "$home/conf" "$dir/"
    # The block of the document, and what else a gateway without etcd needs.
    document=docs/quick-start-apisix.md
    snippet=$(sed -n '/^nginx_config:$/,/^```$/p' $document | grep -v '^```')
    [ -n "$snippet" ] || { echo "txid: $document has no nginx_config" >&2; exit 1; }
    # It calls our plugin.
    case $4 in txid*) ;; *) snippet=nginx_config: ;; esac
    cat >"$dir/conf/config.yaml" <<END
deployment:
  role: data_plane
  role_data_plane: { config_provider: yaml }
apisix:
  node_listen: [{ ip: 127.0.0.1, port: $2 }]
  enable_ipv6: false
  enable_control: false
  ssl: { enable: false }
  extra_lua_path: "$rocks/share/lua/5.1/?.lua;${LUA_PATH-}"
  extra_lua_cpath: "$rocks/lib/lua/5.1/?.so;${LUA_CPATH-}"
$snippet
  worker_processes: 1
plugins: [$3]
stream_plugins: []
plugin_attr:
  txid:
    accept: ["127.0.0.2/32"]
    trace: ${trace:-traceparent}
END
    {
        cat <<END
routes:
  - { uri: /, upstream: { type: roundrobin, nodes: { "127.0.0.1:$upstream": 1 } } }
  - { uri: /dead, upstream: { type: roundrobin, nodes: { "127.0.0.1:$nobody": 1 } } }
END
        [ -z "$4" ] || printf 'global_rules:\n  - { id: one, plugins: { %s } }\n' "$4"
        echo '#END'
    } >"$dir/conf/apisix.yaml"
    (cd "$dir" && LUA_PATH="./?.lua;${LUA_PATH-;}" luajit ./apisix/cli/apisix.lua init) >"$dir/init" 2>&1 || { cat "$dir/init"; fail "apisix init"; }
    pid_file=$dir/logs/nginx.pid
    start_nginx "$dir/" "$dir/conf/nginx.conf" || fail "the start of APISIX"
}

apisix_variant() { # apisix_variant VARIANT DIRECTORY PORT
    trace=off
    case $1 in
        without) apisix_in "$2" "$3" proxy-rewrite "" ;;
        request-id-*) apisix_in "$2" "$3" request-id "request-id: { algorithm: ${1#request-id-} }" ;;
        txid) apisix_in "$2" "$3" txid "txid: {}" ;;
        txid-and-traceparent) trace=traceparent && apisix_in "$2" "$3" txid "txid: {}" ;;
    esac
}

test_apisix() {
    home=$APISIX_HOME logs=$work/logs nginx=$(command -v openresty)
    [ -f "$home/apisix/cli/apisix.lua" ] || { echo "txid: APISIX_HOME is '$home', and has no apisix/cli/apisix.lua" >&2; exit 2; }
    apisix_in "$work" "$port" "txid, proxy-rewrite" "txid: {}"
    with_ids /
    stop_in "$pid_file"
    is "the access log has it" "$(grep -c "\"$failed\"" "$work/logs/access.log")" 1
    echo "$(openresty -v 2>&1 | sed 's|.*: ||'), APISIX $(sed -n 's/.*VERSION = "\(.*\)".*/\1/p' "$home/apisix/core/version.lua")"
    start_variant() { apisix_variant "$@"; }
    measure / without request-id-uuid request-id-uuidv7 request-id-nanoid request-id-ksuid request-id-range_id txid txid-and-traceparent
}

services_of_kong() {
    cat <<END
services:
  - { name: up, url: "http://127.0.0.1:$upstream", routes: [{ paths: [/up] }] }
  - { name: dead, url: "http://127.0.0.1:$nobody", routes: [{ paths: [/dead] }] }
END
}

# start_kong [SETTING]: with the declarative file of the document, and these settings of the plugin besides.
start_kong() {
    {
        sed -n '/^_format_version/,/^```$/p' $document | grep -v '^```' | sed 's|10.0.0.0/8|127.0.0.2/32|'
        [ $# -eq 0 ] || echo "      $1"
        services_of_kong
    } >"$work/kong.yml"
    "$KONG" start >"$work/start" 2>&1 || { cat "$work/start"; fail "the start of Kong"; }
}

kong_variant() { # kong_variant VARIANT DIRECTORY PORT
    mkdir -p "$2"
    {
        echo '_format_version: "3.0"'
        case $1 in
            correlation-id-*) echo "plugins: [{ name: correlation-id, config: { generator: \"${1#correlation-id-}\", echo_downstream: true } }]" ;;
            txid) echo "plugins: [{ name: txid }]" ;;
            txid-and-traceparent) echo "plugins: [{ name: txid, config: { trace: [traceparent] } }]" ;;
        esac
        services_of_kong
    } >"$2.yml"
    (
        export KONG_PREFIX="$2" KONG_DECLARATIVE_CONFIG="$2.yml" KONG_PROXY_LISTEN="127.0.0.1:$3" KONG_PROXY_ACCESS_LOG=off
        # The document's settings read the id that our plugin makes.
        case $1 in txid*) ;; *) unset KONG_NGINX_HTTP_INCLUDE KONG_NGINX_PROXY_LUA_KONG_ERROR_LOG_REQUEST_ID ;; esac
        unset KONG_NGINX_HTTP_LOG_FORMAT
        "$KONG" prepare -p "$2" >"$work/start" 2>&1 || { cat "$work/start"; exit 1; }
        start_nginx "$2" "$2/nginx.conf"
    ) || fail "the start of Kong"
    pid_file=$2/pids/nginx.pid
}

test_kong() {
    document=docs/quick-start-kong.md logs=$work/kong/logs
    # The files of section 3 of the document, and its settings.
    sed -n 's/^map .*/&/p' $document >"$work/variables.conf"
    eval "$(sed -n '/^export KONG_NGINX_HTTP_INCLUDE/,/^```$/p' $document | grep -v '^```' | sed "s|/opt/txid|$work|")"
    export KONG_PREFIX="$work/kong" KONG_DATABASE=off KONG_DECLARATIVE_CONFIG="$work/kong.yml" KONG_PLUGINS="${KONG_PLUGINS:-bundled},txid" \
        KONG_LUA_PACKAGE_PATH="$rocks/share/lua/5.1/?.lua;;" KONG_LUA_PACKAGE_CPATH="$rocks/lib/lua/5.1/?.so;;" \
        KONG_PROXY_LISTEN="127.0.0.1:$port" KONG_ADMIN_LISTEN=off KONG_ADMIN_GUI_LISTEN=off KONG_STATUS_LISTEN=off \
        KONG_NGINX_WORKER_PROCESSES=1 KONG_ANONYMOUS_REPORTS=off
    start_kong
    with_ids /up
    stop_in "$work/kong/pids/nginx.pid"
    is "the access log has it" "$(grep -c "^$failed 502 " "$logs/access.log")" 1
    start_kong "on_invalid: reject"
    for _ in $(seq 50); do
        ask /up
        [ "$status" != 200 ] || break
        sleep 0.2
    done
    ask /up --interface 127.0.0.2 --header "X-Request-Id: b,ad"
    is "a malformed id, with on_invalid: reject" "$status $id" "400 $new"
    stop_in "$work/kong/pids/nginx.pid"
    echo "Kong $("$KONG" version)"
    nginx=${KONG_NGINX:-/usr/local/openresty/nginx/sbin/nginx}
    start_variant() { kong_variant "$@"; }
    measure /up without correlation-id-uuid correlation-id-uuid#counter correlation-id-tracker txid txid-and-traceparent
}

# measure PATH VARIANT...: with an upstream that costs little in place of the one that was asked so far.
measure() {
    kill "$(cat "$work/upstream.pid")" 2>/dev/null || :
    start_fast_upstream "$upstream"
    costs "$@"
    stop_in "$work/upstream/logs/nginx.pid"
}

[ -z "${APISIX_HOME-}" ] || test_apisix
[ -z "${KONG-}" ] || test_kong
