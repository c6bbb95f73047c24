#!/bin/sh
# test-nginx-tests.sh: runs nginx's own tests in $NGINX_TESTS with the nginx of the source tree $NGINX_SRC and the modules
# built in: without our directives, and with those below in every http block. Fails if any result differs. $KINDS are the
# builds: plain, asan or both.
set -eu

cd "$(dirname "$0")/.."
. scripts/nginx-tree.sh
usage="make test-nginx-tests NGINX_TESTS=dir NGINX_SRC=dir"
: "${NGINX_SRC:?txid: name nginx's source tree: $usage}" "${NGINX_TESTS:?txid: name the tree of nginx-tests: $usage}"
[ -f "$NGINX_TESTS/lib/Test/Nginx.pm" ] || { echo "txid: '$NGINX_TESTS' has no lib/Test/Nginx.pm" >&2; exit 1; }
root=$PWD
src=$(cd "$NGINX_SRC" && pwd)
directives='txid_accept all; txid_response_header X-Request-Id; txid_trace traceparent; txid_error_log on;'
# Not compared: its X-Request-Id is nginx's own $request_id, which txid_response_header must replace.
expected=./request_id.t
# The tests' files are only their user's.
user=
[ "$(id -u)" -ne 0 ] || user='user root;'
# All modules with tests, but those that need Perl or GeoIP in nginx.
options="--with-debug --with-threads --with-mail --with-mail_ssl_module --with-stream --with-stream_realip_module
    --with-stream_ssl_module --with-stream_ssl_preread_module $(printf -- '--with-http_%s_module ' addition auth_request dav \
        degradation flv gunzip gzip_static image_filter mp4 random_index realip secure_link slice ssl stub_status sub v2 v3 xslt)"

# run OUT DIRECTIVES JOBS [FILE...]: writes the result of each test in the files, by default in all, to OUT/FILE. Some
# tests are in the order of a hash, so their numbers do not count.
run() {
    out=$1 globals=$2 jobs=$3
    shift 3
    mkdir -p "$out"
    # shellcheck disable=SC2046 # a list of files
    [ $# -gt 0 ] || set -- $(cd "$NGINX_TESTS" && ls ./*.t)
    # shellcheck disable=SC2016 # for the inner shell
    printf '%s\n' "$@" | (cd "$NGINX_TESTS" && out=$out TEST_NGINX_BINARY=$binary TEST_NGINX_GLOBALS=$user \
        TEST_NGINX_GLOBALS_HTTP=$globals ASAN_OPTIONS=detect_leaks=0 LC_ALL=C xargs -P "$jobs" -I '{}' sh -c '
            timeout 600 perl "$1" >"$out/$1.all" 2>&1
            sed -n "s/^\(not ok\|ok\) [0-9]*/\1/p" "$out/$1.all" | sort >"$out/$1"' run '{}')
}

# Files whose results are not the same in both.
differing() {
    (cd "$tree/with" && for file in ./*.t; do
        [ "$file" = "$expected" ] || cmp -s "$file" "$tree/without/$file" || echo "$file"
    done)
}

# count RESULT DIRECTORY
count() { cat "$2"/*.t | grep -v '# TODO' | grep -c "^$1"; }

failed=
for kind in ${KINDS:-plain asan}; do
    nginx_tree "$src" "$root/target/nginx-tests/$kind"
    cc='-O2 -g' ld=
    [ "$kind" = plain ] || cc='-O1 -g -fsanitize=address -fno-omit-frame-pointer' ld=-fsanitize=address
    # shellcheck disable=SC2086 # options
    nginx_build $options --with-cc-opt="$cc" --with-ld-opt="$ld" --add-module="$root"
    # They wait most of the time.
    run "$tree/without" '' "$((4 * $(nproc)))"
    run "$tree/with" "$directives" "$((4 * $(nproc)))"
    # Many measure times: only what differs each time counts.
    for attempt in 1 2 3; do
        again=$(differing)
        [ -n "$again" ] || break
        # shellcheck disable=SC2086 # a list of files
        { run "$tree/without" '' 1 $again && run "$tree/with" "$directives" 1 $again; }
    done
    for result in without with; do
        echo "$kind, $result our directives: $(count ok "$tree/$result") passed, $(count 'not ok' "$tree/$result") failed"
    done
    for file in $(differing); do
        diff "$tree/without/$file" "$tree/with/$file" || :
        failed="$failed $kind $file,"
    done
done
[ -z "$failed" ] || { echo "txid: with our directives, results of nginx's own tests differ:${failed%,}" >&2; exit 1; }
