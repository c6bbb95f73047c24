# The rock: made, used, packed, removed, installed without Rust, and beside the original library.
. packaging/test/_common.sh

. packaging/facts.sh
tree=$tmp/tree
rocks() { luarocks --lua-version 5.1 --tree "$tree" "$@"; }

id_of_tree() {
    (
        cd "$tmp"
        unset LUA_INIT
        LUA_PATH="$tree/share/lua/5.1/?.lua;;" LUA_CPATH="$tree/lib/lua/5.1/?.so" luajit -e '
            local txid, lib = require "resty.txid", require "resty.txid.lib"
            assert(lib.engine == "native", "the library was not found")
            assert(lib.path == package.cpath:gsub("?", "libtxid"), lib.path)
            print(txid())'
    )
}

packaging/rockspec.sh "$version" | diff "rockspec/lua-resty-libtxid-$version-1.rockspec" - ||
    fail "the release's rockspec is not what packaging/rockspec.sh writes: make bump VERSION=$version"

for rockspec in "rockspec/lua-resty-libtxid-$version-1.rockspec" rockspec/lua-resty-libtxid-scm-1.rockspec; do
    luarocks lint "$rockspec"
    rocks make "$rockspec"
    has_no_paths "$tree/lib/lua"
    is_id "$(id_of_tree)" "luajit with the tree of $rockspec"
    rocks remove lua-resty-libtxid
    is_empty "$tree/share" "$tree/lib/lua"
done

rocks make "rockspec/lua-resty-libtxid-$version-1.rockspec"
(cd "$tmp" && rocks pack lua-resty-libtxid "$version")
rock=$(ls "$tmp/lua-resty-libtxid-$version-1."*.rock)
rocks remove lua-resty-libtxid

without_cargo luarocks --lua-version 5.1 --tree "$tree" install "$rock"
is_id "$(id_of_tree)" "luajit with the tree of the binary rock"
rocks remove lua-resty-libtxid
is_empty "$tree/share" "$tree/lib/lua"

# LuaRocks is not one of those that may install packages.
if said=$(TXID_INSTALL='' without_cargo luarocks --lua-version 5.1 --tree "$tree" make rockspec/lua-resty-libtxid-scm-1.rockspec 2>&1); then
    fail "without cargo: $said"
fi
has "$said" "txid: these are missing: cargo"
is_empty "$tree/share" "$tree/lib/lua"

# The original library has the same module under the name lua-resty-txid. In either order, `require "resty.txid"` is ours, and
# removing the original leaves ours.
mkdir -p "$tmp/original/lib/resty"
echo 'error "this is the original library"' >"$tmp/original/lib/resty/txid.lua"
cat >"$tmp/original/lua-resty-txid-1.0.0-1.rockspec" <<'END'
package = "lua-resty-txid"
version = "1.0.0-1"
source = { url = "git+https://example.com/original" }
build = { type = "builtin", modules = { ["resty.txid"] = "lib/resty/txid.lua" } }
END
original() { (cd "$tmp/original" && rocks make); }
ours() { rocks install "$rock"; }
for order in "original ours" "ours original"; do
    for rock_of in $order; do $rock_of; done
    is_id "$(id_of_tree)" "luajit with the tree of $order"
    rocks remove lua-resty-txid
    is_id "$(id_of_tree)" "luajit after the original was removed"
    rocks remove lua-resty-libtxid
    is_empty "$tree/share" "$tree/lib/lua"
done
