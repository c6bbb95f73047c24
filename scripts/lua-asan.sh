#!/bin/sh
# lua-asan.sh SUITE...: runs these suites with libtxid under AddressSanitizer, and with buffers as t/support/exact makes them.
set -eu

cd "$(dirname "$0")/.."
crates/capi/tests/asan/run.sh build
out=$PWD/target/lua-asan
mkdir -p "$out/release"
ln -sf "$PWD/target/asan/$(rustc -vV | sed -n 's/^host: //p')/debug/libtxid.so" "$out/release/"
wanted=
. scripts/nginx.sh
cat >"$out/nginx" <<END
#!/bin/sh
ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 LD_PRELOAD="$(cc -print-file-name=libasan.so)" exec "$nginx" "\$@"
END
chmod 755 "$out/nginx"
TEST_NGINX_BINARY=$out/nginx CARGO_TARGET_DIR=$out TXID_EXACT_BUFFERS=1 scripts/prove.sh "$@"
