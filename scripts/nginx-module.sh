#!/bin/sh
# nginx-module.sh [DIR MODULE...]: builds these modules of the addon DIR, by default ngx_http_txid_module and
# ngx_stream_txid_module, for the nginx of the source tree $NGINX_SRC, by default that of Debian's nginx-dev.
# $NGINX_OUT is the output directory, by default target/nginx. Its file `version` says which nginx that is. The compiler and the
# linker also get $NGINX_CC_OPT. The tree with the objects stays in src/ of it, so that only changes are built again.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# Neither make nor nginx's configure takes a space in a path. A link has none.
case $root in
    *[[:space:]]*)
        link=$(mktemp -d)
        trap 'rm -rf "$link"' EXIT
        ln -s "$root" "$link/txid"
        root=$link/txid
        ;;
esac
. "$root/scripts/nginx-tree.sh"
src=${NGINX_SRC:-/usr/share/nginx/src}
out=${NGINX_OUT:-$root/target/nginx}
[ $# -gt 0 ] || set -- "$root" ngx_http_txid_module ngx_stream_txid_module
addon=$1
shift

mkdir -p "$out"
log=$out/build.log
# Not in the tree of links, which is removed.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target/nginx-rust}"

rm -f "$out"/*.so
# Angie has a header of its own, and two versions.
header=$src/src/core/angie.h
[ -f "$header" ] || header=$src/src/core/nginx.h

# The id of a build is a sum of its debug information, too, which strip removes later.
no_paths=-ffile-prefix-map=$root=.
tree=$out/src
# With --with-compat, a module also fits other builds of the same nginx version with that option, PCRE and gzip.
set_up() {
    nginx_tree "$src" "$tree" && (cd "$tree" && "$configure" --with-compat --with-threads --with-stream=dynamic \
        --with-cc-opt="-g -O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat -Werror=format-security $no_paths ${NGINX_CC_OPT:-}" \
        --with-ld-opt="-Wl,-z,relro -Wl,-z,now ${NGINX_CC_OPT:-}" --add-dynamic-module="$addon")
}

# Objects of other sources, of another compiler or of other options are not used again.
inputs="$addon $CARGO_TARGET_DIR ${NGINX_CC_OPT:-} $({ ls -lRL "$src"; cc --version; cat "$addon/config" "$root/nginx/config.make" "$0"; } 2>&1 | cksum)"
# shellcheck disable=SC2046 # a list of files
if ! { [ "$inputs" = "$(cat "$tree/inputs" 2>&1)" ] || { set_up && echo "$inputs" >"$tree/inputs"; } } >"$log" 2>&1 \
    || ! make -C "$tree" -f objs/Makefile $(printf 'objs/%s.so ' "$@") >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "txid: the modules could not be built; see $log" >&2
    exit 1
fi
for module; do
    strip -o "$out/$module.so" "$tree/objs/$module.so"
    echo "$out/$module.so"
done
# What its -v says.
sed -n 's/^#define \(ANGIE\|NGINX\)_VERSION *"\(.*\)"/\2/p' "$header" >"$out/version"
