#!/bin/sh
# rocks.sh: packs dist/*.rock, which need no compiler: those of Lua files fit every machine, and libtxid's this one. $BUILT is the directory
# of its built library; without it, the library is built.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
if [ -z "${BUILT-}" ]; then
    cargo build --locked --release --quiet --package txid-capi
    BUILT=target/release
fi
export BUILT
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p dist
# In this order, because each needs those before it.
for rock in lua-resty-libtxid libtxid kong-plugin-txid apisix-plugin-txid; do
    rockspec=$PWD/rockspec/$rock-$version-1.rockspec
    # Where LuaRocks builds it from the repository.
    directory=$(sed -n 's|^    dir = "txid/\(.*\)",|\1|p' "$rockspec")
    (cd "./$directory" && luarocks --lua-version 5.1 --tree "$tree" make "$rockspec") >"$tree/log" 2>&1 || { cat "$tree/log" >&2; exit 1; }
    (cd dist && luarocks --lua-version 5.1 --tree "$tree" pack $rock "$version") >"$tree/log" 2>&1 || { cat "$tree/log" >&2; exit 1; }
    packed=$(echo dist/$rock-"$version"-1.*.rock)
    python3 packaging/rock.py "$packed"
    echo "$packed"
done
