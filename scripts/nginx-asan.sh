#!/bin/sh
# nginx-asan.sh SUITE...: runs these suites with the nginx modules, but not nginx itself, under AddressSanitizer.
set -eu

cd "$(dirname "$0")/.."
export NGINX_OUT="$PWD/target/nginx-asan" NGINX_CC_OPT=-fsanitize=address
scripts/nginx-module.sh
wanted=
. scripts/nginx.sh
asan_nginx "$NGINX_OUT/nginx"
TEST_NGINX_BINARY=$NGINX_OUT/nginx TXID_NGINX_MODULES=$NGINX_OUT scripts/prove.sh "$@"
