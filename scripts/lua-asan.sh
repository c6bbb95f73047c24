#!/bin/sh
# lua-asan.sh SUITE...: runs these suites with libtxid under AddressSanitizer, and with buffers as t/support/exact makes them.
# The library is built as for nginx, which offers fewer formats: suites of makers do not pass.
set -eu

cd "$(dirname "$0")/.."
crates/capi/tests/asan/run.sh build
out=$PWD/target/lua-asan
mkdir -p "$out/release"
ln -sf "$PWD/target/asan/$(rustc -vV | sed -n 's/^host: //p')/debug/libtxid.so" "$out/release/"
wanted=
. scripts/nginx.sh
asan_nginx "$out/nginx"
TEST_NGINX_BINARY=$out/nginx CARGO_TARGET_DIR=$out TXID_EXACT_BUFFERS=1 scripts/prove.sh "$@"
