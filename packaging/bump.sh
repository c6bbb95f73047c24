#!/bin/sh
# VERSION=x.y.z bump.sh: writes that version, and the repository's address from Cargo.toml, to all files that contain
# them.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh

printf '%s\n' "${VERSION-}" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' || {
    echo "txid: VERSION is '${VERSION-}', not as in: make bump VERSION=x.y.z" >&2
    exit 2
}

for manifest in Cargo.toml crates/*/Cargo.toml crates/cli/*/Cargo.toml agent/Cargo.toml agent/machines/Cargo.toml; do
    [ ! -f "$manifest" ] || sed -i "$manifest" \
        -e "/^\[package\]/,/^\[[^p]/s/^version = .*/version = \"$VERSION\"/" \
        -e "s/^\(txid[a-z-]*\) = { version = \"[^\"]*\"/\1 = { version = \"$VERSION\"/"
done
cargo update --quiet --offline --workspace
cargo update --quiet --offline --workspace --manifest-path agent/Cargo.toml

scm=rockspec/lua-resty-libtxid-scm-1.rockspec
address=$(sed -n 's/.*homepage = "\(.*\)".*/\1/p' $scm)
if [ "$address" != "$repository" ]; then
    git grep -lF "$address" | while read -r file; do sed -i "s|$address|$repository|g" "$file"; done
fi

rm -f rockspec/*-[0-9]*.[0-9]*-1.rockspec
for scm in rockspec/*-scm-1.rockspec; do
    rock=$(basename "$scm" -scm-1.rockspec)
    packaging/rockspec.sh "$rock" "$VERSION" >"rockspec/$rock-$VERSION-1.rockspec"
done

sed -i "s/^version = .*/version = $VERSION/" dist.ini
sed -i "s/txid-[0-9.]*-linux/txid-$VERSION-linux/g" docs/install.md
sed -i "s/VERSION = \".*\"/VERSION = \"$VERSION\"/" packaging/kong/kong/plugins/txid/handler.lua
sed -i "s/^pkgver=.*/pkgver=$VERSION/" packaging/alpine/APKBUILD
echo "$repository/releases/download/v$VERSION/lua-resty-libtxid-$VERSION.tar.gz" >packaging/nginx-image/txid/source

# The section of what is not released yet becomes this release's.
if ! grep -q "^## \[$VERSION\] - " CHANGELOG.md; then
    sed -i "s/^## \[.*\] (not released)\$/## [$VERSION] - $(date +%Y-%m-%d)/" CHANGELOG.md
fi
sed -i '/^\[[^]]*\]: /d' CHANGELOG.md
sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' CHANGELOG.md
{
    echo
    sed -n 's/^## \[\([0-9][^]]*\)\].*/\1/p' CHANGELOG.md | while read -r released; do
        echo "[$released]: $repository/releases/tag/v$released"
    done
} >>CHANGELOG.md

echo "Version $VERSION, at $repository. See git diff; then commit, tag v$VERSION, and: VERSION=$VERSION make release"
