#!/bin/sh
# nginx-module.sh [DIR MODULE...]: builds these modules of the addon DIR, by default ngx_http_txid_module and
# ngx_stream_txid_module of nginx/, for the nginx of the source tree $NGINX_SRC, by default that of Debian's nginx-dev.
# $NGINX_OUT is the output directory, by default target/nginx. Its file `version` says which nginx that is.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
src=${NGINX_SRC:-/usr/share/nginx/src}
out=${NGINX_OUT:-$root/target/nginx}
[ $# -gt 0 ] || set -- "$root/nginx" ngx_http_txid_module ngx_stream_txid_module
addon=$1
shift

configure=$src/configure
[ -x "$configure" ] || configure=$src/auto/configure
[ -x "$configure" ] || { echo "txid: no configure in '$src': set NGINX_SRC to nginx's source tree" >&2; exit 1; }
mkdir -p "$out"
log=$out/build.log
# Not in the tree of links, which is removed.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target/nginx-rust}"

# configure must run in the source tree, which may not be writable: $work is a tree of links to it.
work=$out/src
rm -rf "$work" "$out"/*.so
mkdir -p "$work"
for entry in "$src"/*; do
    case ${entry##*/} in
        objs | Makefile) ;;
        *) ln -s "$entry" "$work/" ;;
    esac
done

# With --with-compat, a module also fits other builds of the same nginx version with that option, PCRE and gzip.
# shellcheck disable=SC2046 # a list of files
if ! { cd "$work" && "$configure" --with-compat --with-threads --with-stream=dynamic \
        --with-cc-opt='-g -O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat -Werror=format-security' \
        --with-ld-opt='-Wl,-z,relro -Wl,-z,now' --add-dynamic-module="$addon" \
    && make -f objs/Makefile $(printf 'objs/%s.so ' "$@"); } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "txid: the modules could not be built; see $log" >&2
    exit 1
fi
for module; do
    strip -o "$out/$module.so" "$work/objs/$module.so"
    echo "$out/$module.so"
done
sed -n 's/^#define NGINX_VERSION *"\(.*\)"/\1/p' "$src/src/core/nginx.h" >"$out/version"
rm -rf "$work"
