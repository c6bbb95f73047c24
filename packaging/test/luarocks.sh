# The rocks: made, used, packed, removed, installed without Rust, and beside the original library. That is its real rock if PEERS= has its
# sources in lua-resty-txid, as for make bench; otherwise a stand-in.
. packaging/test/_common.sh

. packaging/facts.sh
tree=$tmp/tree
rocks() { luarocks --lua-version 5.1 --tree "$tree" "$@"; }

# id_of_tree ENGINE: made with the files of the tree alone.
id_of_tree() {
    (
        cd "$tmp"
        unset LUA_INIT
        ENGINE=$1 LUA_PATH="$tree/share/lua/5.1/?.lua;;" LUA_CPATH="$tree/lib/lua/5.1/?.so" luajit -e '
            local txid, lib = require "resty.txid", require "resty.txid.lib"
            assert(lib.engine == os.getenv "ENGINE", lib.engine)
            assert(lib.engine == "pure" or lib.path == package.cpath:gsub("?", "libtxid"), lib.path)
            print(txid())' 2>/dev/null
    )
}

for rock in lua-resty-libtxid libtxid kong-plugin-txid apisix-plugin-txid; do
    packaging/rockspec.sh $rock "$version" | diff "rockspec/$rock-$version-1.rockspec" - ||
        fail "the release's rockspec is not what packaging/rockspec.sh writes: make bump VERSION=$version"
    luarocks lint "rockspec/$rock-$version-1.rockspec"
    luarocks lint rockspec/$rock-scm-1.rockspec
    directory=$(sed -n 's|^    dir = "txid/\(.*\)",|\1/|p' rockspec/$rock-scm-1.rockspec)
    sed -n "s|.*= \"\(.*\.lua\)\",|$directory\1|p" rockspec/$rock-scm-1.rockspec
done | sort >"$tmp/listed"
find lua packaging/kong/kong packaging/apisix/apisix -name '*.lua' | sort | diff "$tmp/listed" - || fail "a rock does not have these Lua files, or they are not there"

# LuaRocks is not one of those that may install packages.
if said=$(TXID_INSTALL='' without_cargo luarocks --lua-version 5.1 --tree "$tree" make rockspec/libtxid-scm-1.rockspec --deps-mode none 2>&1); then
    fail "without cargo: $said"
fi
[ "$(printf '%s\n' "$said" | grep '^txid:')" = "txid: the rock libtxid needs Rust $(fact rust-version) or later and a C compiler: install cargo and gcc; lua-resty-libtxid alone needs neither" ] \
    || fail "without cargo: $said"
is_empty "$tree/share" "$tree/lib/lua"

for of in "$version" scm; do
    without_cargo luarocks --lua-version 5.1 --tree "$tree" make "rockspec/lua-resty-libtxid-$of-1.rockspec"
    is_id "$(id_of_tree pure)" "luajit with lua-resty-libtxid $of"
    rocks make "rockspec/libtxid-$of-1.rockspec"
    has_no_paths "$tree/lib/lua"
    is_id "$(id_of_tree native)" "luajit with libtxid $of"
    rocks remove libtxid
    is_id "$(id_of_tree pure)" "luajit without libtxid $of"
    rocks remove lua-resty-libtxid
    is_empty "$tree/share" "$tree/lib/lua"
done

packaging/rocks.sh
for gateway in kong apisix; do
    python3 -m zipfile -l dist/$gateway-plugin-txid-"$version"-1.all.rock | sed -n 's|^lua/\([^ ]*\).*|\1|p' >"$tmp/packed"
    (cd packaging/$gateway && find $gateway -name '*.lua') | sort | diff "$tmp/packed" - || fail "the rock for $gateway has other Lua files"
done
ours() { for rock in lua-resty-libtxid libtxid; do without_cargo luarocks --lua-version 5.1 --tree "$tree" install dist/$rock-"$version"-1.*.rock; done; }
not_ours() { rocks remove libtxid && rocks remove lua-resty-libtxid; }
ours
is_id "$(id_of_tree native)" "luajit with the rocks"
not_ours
is_empty "$tree/share" "$tree/lib/lua"

# The original library has the same module under the name lua-resty-txid. In either order, `require "resty.txid"` is ours, and
# removing the original leaves ours.
original=${PEERS-}/lua-resty-txid
if [ ! -f "$original/lua-resty-txid-1.0.0-1.rockspec" ]; then
    echo "# a stand-in for lua-resty-txid 1.0.0: PEERS= has no sources of it"
    original=$tmp/original
    mkdir -p "$original/lib/resty"
    echo 'error "this is the original library"' >"$original/lib/resty/txid.lua"
    cat >"$original/lua-resty-txid-1.0.0-1.rockspec" <<'END_OF_ROCKSPEC'
package = "lua-resty-txid"
version = "1.0.0-1"
source = { url = "git+https://example.com/original" }
build = { type = "builtin", modules = { ["resty.txid"] = "lib/resty/txid.lua" } }
END_OF_ROCKSPEC
fi
original() { (cd "$original" && rocks make lua-resty-txid-1.0.0-1.rockspec); }
for order in "original ours" "ours original"; do
    for rock_of in $order; do $rock_of; done
    is_id "$(id_of_tree native)" "luajit with the tree of $order"
    rocks remove lua-resty-txid
    is_id "$(id_of_tree native)" "luajit after the original was removed"
    not_ours
    is_empty "$tree/share" "$tree/lib/lua"
done

# As docs/migrating.md says: what depends on the original keeps it, and gets ours.
mkdir "$tmp/dependent"
echo 'return { id = require "resty.txid"(), engine = require("resty.txid.lib").engine }' >"$tmp/dependent/dependent.lua"
cat >"$tmp/dependent/dependent-1.0-1.rockspec" <<'END_OF_ROCKSPEC'
package = "dependent"
version = "1.0-1"
source = { url = "git+https://example.com/dependent" }
dependencies = { "lua-resty-txid ~> 1.0.0" }
build = { type = "builtin", modules = { dependent = "dependent.lua" } }
END_OF_ROCKSPEC
dependent() { (cd "$tmp/dependent" && rocks make); }
for order in "original dependent ours" "ours original dependent"; do
    for rock_of in $order; do $rock_of; done
    said=$(LUA_PATH="$tree/share/lua/5.1/?.lua" LUA_CPATH="$tree/lib/lua/5.1/?.so" luajit -e 'local d = require "dependent" print(d.id, d.engine)')
    is_id "${said%	*}" "the dependent, with the tree of $order"
    has "$said" native
    if said=$(rocks remove lua-resty-txid 2>&1); then fail "LuaRocks removes what dependent needs: $said"; fi
    not_ours
    rocks remove dependent
    rocks remove lua-resty-txid
    is_empty "$tree/share" "$tree/lib/lua"
done
