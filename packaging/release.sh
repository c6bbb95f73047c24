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

rockspec=rockspec/lua-resty-libtxid-$wanted-1.rockspec
scm=rockspec/lua-resty-libtxid-scm-1.rockspec
for manifest in Cargo.toml crates/*/Cargo.toml agent/Cargo.toml agent/machines/Cargo.toml; do
    [ ! -f "$manifest" ] || check "the version in $manifest" \
        "$(sed -n 's/^version = "\(.*\)"/\1/p' "$manifest" | head -n 1)" "$wanted"
done
check "the version in Cargo.lock" "$(sed -n '/^name = "txid"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)" "$wanted"
check "the version in dist.ini" "$(ini version)" "$wanted"
check "the address in dist.ini" "$(ini repo_link)" "$repository"
kong=examples/kong/plugins/txid/handler.lua
check "the version in $kong" "$(sed -n 's/.*VERSION = "\(.*\)".*/\1/p' $kong)" "$wanted"
check "the release's rockspec" "$(echo rockspec/lua-resty-libtxid-[0-9]*.rockspec)" "$rockspec"
check "the difference between the release's rockspec and packaging/rockspec.sh $wanted" \
    "$(packaging/rockspec.sh "$wanted" | diff - "$rockspec" 2>&1)" ""
check "the address in $scm" "$(sed -n 's/.*homepage = "\(.*\)".*/\1/p' $scm)" "$repository"
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
    # So that the key does not appear in the output.
    run sh -c "luarocks upload $rockspec --api-key=\"\$LUAROCKS_API_KEY\""
    run opm upload
fi
