#!/bin/sh
# test-nginx-sources.sh: builds each nginx whose source tree is in $NGINX_SRCS three times: with the modules as files, with
# the modules built in, and with them built in under AddressSanitizer. Runs the tests that need no Lua with each.
set -eu

cd "$(dirname "$0")/.."
root=$PWD
: "${NGINX_SRCS:?txid: name the source trees of nginx: make test-nginx-sources NGINX_SRCS='dir dir'}"
tests="t/62-native-directives.t t/66-native-processes.t t/67-native-symbols.t t/69-native-without-lua.t"
options="--with-compat --with-threads --with-http_ssl_module --with-http_v2_module --with-http_realip_module
    --with-http_auth_request_module --with-stream"

ran=
failed=
fail() { echo "txid: $1" >&2; failed="$failed$2, "; }

run() { # run SRC KIND CC_OPT LD_OPT OPTION...
    src=$1 kind=$2 cc_opt=$3 ld_opt=$4
    shift 4
    version=$(sed -n 's/^#define NGINX_VERSION *"\(.*\)"/\1/p' "$src/src/core/nginx.h")
    work=$root/target/nginx-sources/$version-$kind
    rm -rf "$work"
    mkdir -p "$work"
    for entry in "$src"/*; do
        case ${entry##*/} in
            objs | Makefile) ;;
            *) ln -s "$entry" "$work/" ;;
        esac
    done
    configure=./configure
    [ -x "$work/configure" ] || configure=./auto/configure
    # shellcheck disable=SC2086 # options
    if ! (cd "$work" && "$configure" $options --with-cc-opt="$cc_opt" --with-ld-opt="$ld_opt" "$@" \
        && make -j "$(nproc)") >"$work/build.log" 2>&1; then
        tail -n 20 "$work/build.log" >&2
        fail "nginx $version, $kind, could not be built" "$version $kind"
        return
    fi
    modules=
    [ "$kind" != dynamic ] || modules=$work/objs
    echo "nginx $version, $kind:"
    # shellcheck disable=SC2086 # a list of files
    if TEST_NGINX_BINARY=$work/objs/nginx TEST_NGINX_LOAD_MODULES='' TXID_NGINX_MODULES=$modules \
        ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 prove -I t/lib $tests; then
        ran="$ran$version $kind, "
    else
        fail "nginx $version, $kind, failed" "$version $kind"
    fi
}

for src in $NGINX_SRCS; do
    run "$src" dynamic '-O2 -g' '' --add-dynamic-module="$root/nginx"
    run "$src" static '-O2 -g' '' --add-module="$root/nginx"
    run "$src" asan '-O1 -g -fsanitize=address -fno-omit-frame-pointer' '-fsanitize=address' --add-module="$root/nginx"
done
echo "ran with nginx: ${ran%, }"
[ -z "$failed" ] || { echo "failed: ${failed%, }"; exit 1; }
