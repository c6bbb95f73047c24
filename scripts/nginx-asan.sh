#!/bin/sh
# nginx-asan.sh SUITE...: runs these suites with the nginx modules, but not nginx itself, under AddressSanitizer.
set -eu

cd "$(dirname "$0")/.."
export NGINX_OUT="$PWD/target/nginx-asan" NGINX_CC_OPT=-fsanitize=address
scripts/nginx-module.sh
wanted=
. scripts/nginx.sh
cat >"$NGINX_OUT/nginx" <<END
#!/bin/sh
ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 LD_PRELOAD="$(cc -print-file-name=libasan.so)" exec "$nginx" "\$@"
END
chmod 755 "$NGINX_OUT/nginx"
TEST_NGINX_BINARY=$NGINX_OUT/nginx TXID_NGINX_MODULES=$NGINX_OUT scripts/prove.sh "$@"
