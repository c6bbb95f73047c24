#!/bin/sh
# Packs into dist/ all that a release has, with SHA-256 sums: the sources, what `make install` installs, a binary rock, and
# the Debian and RPM packages.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
name=lua-resty-txid-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

rm -rf dist
mkdir dist
git archive --prefix="$name/" --output="dist/$name.tar.gz" HEAD

make --no-print-directory install DESTDIR="$scratch/root"
tar -c -z -f "dist/$name-linux-$(uname -m).tar.gz" --owner=0 --group=0 -C "$scratch/root" usr

luarocks --lua-version 5.1 --tree "$scratch/tree" make "rockspec/$name-1.rockspec"
(cd dist && luarocks --lua-version 5.1 --tree "$scratch/tree" pack lua-resty-txid "$version")
cp "rockspec/$name-1.rockspec" dist/

make --no-print-directory deb rpm

cd dist
sha256sum -- * >"$scratch/sums"
mv "$scratch/sums" SHA256SUMS
cat SHA256SUMS
