#!/bin/sh
# prove.sh [FILE...]: runs the test-nginx suites against target/release/libtxid.so, all of t/ without arguments.
set -eu

cd "$(dirname "$0")/.."
wanted="ndk_http_module ngx_http_lua_module ngx_http_headers_more_filter_module ngx_stream_module ngx_stream_lua_module"
. scripts/nginx.sh

export TEST_NGINX_BINARY="${TEST_NGINX_BINARY:-$nginx}"
export TEST_NGINX_LOAD_MODULES="${TEST_NGINX_LOAD_MODULES:-${modules# }}"

if perl -MTest::Nginx::Socket::Lua -e 1 2>/dev/null; then
    echo "t/: with the installed Test::Nginx"
    exec prove "${@:-t/}"
fi
echo "t/: with the stand-in for Test::Nginx in t/lib"
exec prove -I t/lib "${@:-t/}"
