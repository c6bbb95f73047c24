#!/bin/sh
# test-nginx-sources.sh: builds each nginx, or fork of it, whose source tree is in $NGINX_SRCS three times: with the modules
# as files, with the modules built in, and with them built in under AddressSanitizer. Runs the tests that need no Lua with
# each.
set -eu

cd "$(dirname "$0")/.."
. scripts/nginx-tree.sh
root=$PWD
: "${NGINX_SRCS:?txid: name the source trees of nginx: make test-nginx-sources NGINX_SRCS='dir dir'}"
tests="t/native/directives.t t/native/processes.t t/native/symbols.t t/native/without-lua.t"
options="--with-compat --with-threads --with-http_ssl_module --with-http_v2_module --with-http_realip_module
    --with-http_auth_request_module --with-stream"

ran=
failed=
fail() { failed="$failed$1, "; }

run() { # run SRC KIND CC_OPT LD_OPT OPTION
    label="${1##*/} $2" kind=$2
    nginx_tree "$1" "$root/target/nginx-sources/${1##*/}-$kind" || { fail "$label"; return; }
    http3=
    ! grep -q with-http_v3_module "$1/auto/options" || http3=--with-http_v3_module
    # shellcheck disable=SC2086 # options
    nginx_build $options $http3 --with-cc-opt="$3" --with-ld-opt="$4" "$5" || { fail "$label"; return; }
    modules=
    [ "$kind" != dynamic ] || modules=$tree/objs
    echo "$label:"
    # shellcheck disable=SC2086 # a list of files
    if TEST_NGINX_BINARY=$binary TEST_NGINX_LOAD_MODULES='' TXID_NGINX_MODULES=$modules \
        ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 prove -I t/lib $tests; then
        ran="$ran$label, "
    else
        fail "$label"
    fi
}

for src in $NGINX_SRCS; do
    src=$(cd "$src" && pwd)
    run "$src" dynamic '-O2 -g' '' --add-dynamic-module="$root"
    run "$src" static '-O2 -g' '' --add-module="$root"
    run "$src" asan '-O1 -g -fsanitize=address -fno-omit-frame-pointer' '-fsanitize=address' --add-module="$root"
done
echo "passed with: ${ran%, }"
[ -z "$failed" ] || { echo "failed with: ${failed%, }"; exit 1; }
