#!/bin/sh
# VERSION=x.y.z release.sh: checks that every file with a version has this one, runs the tests, and packs dist/. With
# PUBLISH=1, then uploads to LuaRocks and OPM; with DRY_RUN=1, only checks, and prints what it would do.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
wanted=${VERSION-}
problems=0

check() { # check WHAT GOT EXPECTED
    [ "$2" = "$3" ] || {
        echo "txid: $1 is '$2', not '$3'" >&2
        problems=$((problems + 1))
    }
}

run() {
    if [ "${DRY_RUN-}" = 1 ]; then
        echo "would run: $*"
    else
        "$@"
    fi
}

ini() { sed -n "s/^$1 = //p" dist.ini; }

# In this order, because each needs those before it.
rocks="lua-resty-libtxid libtxid kong-plugin-txid apisix-plugin-txid"
for manifest in Cargo.toml crates/*/Cargo.toml agent/Cargo.toml agent/machines/Cargo.toml; do
    [ ! -f "$manifest" ] || check "the version in $manifest" \
        "$(sed -n 's/^version = "\(.*\)"/\1/p' "$manifest" | head -n 1)" "$wanted"
done
check "the version in Cargo.lock" "$(sed -n '/^name = "txid"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)" "$wanted"
check "the version in dist.ini" "$(ini version)" "$wanted"
check "the address in dist.ini" "$(ini repo_link)" "$repository"
kong=packaging/kong/kong/plugins/txid/handler.lua
check "the version in $kong" "$(sed -n 's/.*VERSION = "\(.*\)".*/\1/p' $kong)" "$wanted"
check "the version in packaging/alpine/APKBUILD" "$(sed -n 's/^pkgver=//p' packaging/alpine/APKBUILD)" "$wanted"
check "the address in packaging/alpine/APKBUILD" "$(sed -n 's/^url="\(.*\)"/\1/p' packaging/alpine/APKBUILD)" "$repository"
check "the address in packaging/nginx-image/txid/source" "$(cat packaging/nginx-image/txid/source)" \
    "$repository/releases/download/v$wanted/lua-resty-libtxid-$wanted.tar.gz"
for rock in $rocks; do
    rockspec=rockspec/$rock-$wanted-1.rockspec
    scm=rockspec/$rock-scm-1.rockspec
    check "the release's rockspec" "$(echo rockspec/$rock-[0-9]*.rockspec)" "$rockspec"
    check "the difference between the release's rockspec and packaging/rockspec.sh $rock $wanted" \
        "$(packaging/rockspec.sh $rock "$wanted" | diff - "$rockspec" 2>&1)" ""
    check "the address in $scm" "$(sed -n 's/.*homepage = "\(.*\)".*/\1/p' $scm)" "$repository"
done
check "the newest release in CHANGELOG.md" \
    "$(sed -n 's/^## \[\([0-9][^]]*\)\] - [0-9-]*$/\1/p' CHANGELOG.md | head -n 1)" "$wanted"
check "the tag of this commit" "$(git tag --points-at HEAD --list 'v*')" "v$wanted"
check "the list of uncommitted changes" "$(git status --porcelain)" ""
# Prints the targets of the release, and those that this Rust cannot build for.
DRY_RUN=1 packaging/release-binaries.sh
if [ $problems -gt 0 ]; then
    wanted=${wanted:-x.y.z}
    echo "txid: set them all with: make bump VERSION=$wanted; then commit, and tag that commit v$wanted" >&2
    exit 1
fi

if [ "${PUBLISH-}" = 1 ] && [ "${DRY_RUN-}" != 1 ]; then
    case $repository in
        */example.com/*) echo "txid: Cargo.toml has no real address of the repository yet" >&2; exit 1 ;;
    esac
    for tool in luarocks opm; do
        command -v $tool >/dev/null || { echo "txid: $tool is missing, and PUBLISH=1 uploads with it" >&2; exit 1; }
    done
    [ -n "${LUAROCKS_API_KEY-}" ] || { echo "txid: LUAROCKS_API_KEY is empty, and PUBLISH=1 uploads with it" >&2; exit 1; }
fi

run make lint test test-install
run packaging/pack.sh
if [ "${PUBLISH-}" = 1 ]; then
    for rock in $rocks; do
        # So that the key does not appear in the output.
        run sh -c "luarocks upload rockspec/$rock-$wanted-1.rockspec --api-key=\"\$LUAROCKS_API_KEY\""
    done
    run opm upload
fi
