#!/bin/sh
# test-gateways.sh: runs the plugin of examples/apisix in the APISIX in APISIX_HOME=, a directory with its apisix/ and conf/,
# as docs/quick-start-apisix.md says. openresty and luajit are those of PATH, and LUA_PATH and LUA_CPATH have what APISIX needs
# besides. It changes nothing there: it runs in a copy of the directory, and listens on 127.0.0.1 alone.
set -eu

cd "$(dirname "$0")/.."
tree=$PWD
home=${APISIX_HOME-}
[ -f "$home/apisix/cli/apisix.lua" ] || { echo "txid: APISIX_HOME is '$home', and has no apisix/cli/apisix.lua" >&2; exit 2; }
[ -f target/release/libtxid.so ] || { echo "txid: not built yet: run make build" >&2; exit 1; }

work=$(mktemp -d)
cp -r "$home/apisix" "$home/conf" "$work/"
mkdir -p "$work/logs"
chmod 755 "$work"
clean_up() {
    trap - EXIT
    for pid in "$work/logs/nginx.pid" "$work/upstream.pid"; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || :
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

ports() { perl -MIO::Socket::INET -e 'print join " ", map { $_->sockport } map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 3'; }
# shellcheck disable=SC2046 # three words
set -- $(ports)
port=$1 upstream=$2 nobody=$3

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

# The blocks of the page, and what else a gateway without etcd needs. Its list of plugins is the one of conf/config.yaml.example
# as far as this test needs it.
page=docs/quick-start-apisix.md
snippet=$(sed -n '/^nginx_config:$/,/^```$/p' $page | grep -v '^```')
[ -n "$snippet" ] || { echo "txid: $page has no nginx_config" >&2; exit 1; }
cat >"$work/conf/config.yaml" <<END
deployment:
  role: data_plane
  role_data_plane: { config_provider: yaml }
apisix:
  node_listen: [{ ip: 127.0.0.1, port: $port }]
  enable_ipv6: false
  enable_control: false
  ssl: { enable: false }
  extra_lua_path: "$tree/lua/?.lua;$tree/examples/?.lua;${LUA_PATH-}"
  extra_lua_cpath: "$tree/target/release/?.so;${LUA_CPATH-}"
$snippet
  worker_processes: 1
plugins: [txid, proxy-rewrite]
stream_plugins: []
plugin_attr:
  txid:
    accept: ["127.0.0.2/32"]
    trace: traceparent
END
cat >"$work/conf/apisix.yaml" <<END
routes:
  - { uri: /, upstream: { type: roundrobin, nodes: { "127.0.0.1:$upstream": 1 } } }
  - { uri: /dead, upstream: { type: roundrobin, nodes: { "127.0.0.1:$nobody": 1 } } }
global_rules:
  - { id: txid, plugins: { txid: {} } }
#END
END
fail() { echo "not ok - $*"; tail -n 5 "$work/logs/error.log"; exit 1; }
(cd "$work" && luajit ./apisix/cli/apisix.lua init) >"$work/init" 2>&1 || { cat "$work/init"; fail "apisix init"; }
openresty -p "$work/" -c "$work/conf/nginx.conf" >"$work/start" 2>&1 || { cat "$work/start"; fail "the start of APISIX"; }

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
for _ in $(seq 50); do
    ask /
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
ask / --header "Host: a b"
is "a 400" "$status $id" "400 $new"
ask / --header "X-Request-Id: from-a-client"
is "the id of a client" "$id" "$new"
trace=4bf92f3577b34da6a3ce929d0e0e4736
ask / --interface 127.0.0.2 --header "X-Request-Id: from-the-front" --header "traceparent: 00-$trace-00f067aa0ba902b7-01"
is "the id of the gateway in front" "$id" from-the-front
is "and its trace, upstream" "$body" "from-the-front 00-$trace-[0-9a-f]{16}-01"
ask / --interface 127.0.0.2 --header "X-Request-Id: b,ad"
is "its malformed id" "$id" "$new"
is "the error log has the id of the 502" "$(grep -c "request_id: \"$failed\"" "$work/logs/error.log")" '[1-9]'
kill -QUIT "$(cat "$work/logs/nginx.pid")"
for _ in $(seq 50); do [ -s "$work/logs/nginx.pid" ] || break; sleep 0.1; done
is "the access log has it" "$(grep -c "\"$failed\"" "$work/logs/access.log")" 1
echo "$(openresty -v 2>&1 | sed 's|.*: ||'), APISIX $(sed -n 's/.*VERSION = "\(.*\)".*/\1/p' "$home/apisix/core/version.lua")"
