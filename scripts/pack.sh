#!/bin/sh
# Packs all files of a release into dist/, with SHA-256 sums: the sources, what `make install` installs for each machine
# and C library, a binary rock, and the Debian and RPM packages.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
name=lua-resty-txid-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

scripts/need.sh build release
rm -rf dist
mkdir dist
git archive --prefix="$name/" --output="dist/$name.tar.gz" HEAD

# For each target that this Rust can build for, to be unpacked in /: glibc 2.17 and later, or musl.
scripts/release-binaries.sh
for built in target/portable/*-linux-*/release; do
    [ -f "$built/libtxid.so" ] || continue
    target=$(basename "$(dirname "$built")")
    machine=${target%%-*}
    libc=${target##*-}
    BUILT=$built PREFIX=/usr/local LIB_DIR=/usr/local/lib LUA_LIB_DIR=/usr/local/share/lua/5.1 LUA_C_DIR=/usr/local/lib/lua/5.1 \
        DESTDIR=$scratch/$target scripts/install.sh put
    tar -c -z -f "dist/$name-linux-$machine-$libc.tar.gz" --owner=0 --group=0 -C "$scratch/$target" usr
done

luarocks --lua-version 5.1 --tree "$scratch/tree" make "rockspec/$name-1.rockspec"
(cd dist && luarocks --lua-version 5.1 --tree "$scratch/tree" pack lua-resty-txid "$version")
cp "rockspec/$name-1.rockspec" dist/

# They have the library and the command of above, for old systems, too.
BUILT=target/portable/$(uname -m)-unknown-linux-gnu/release make --no-print-directory deb rpm

cd dist
sha256sum -- * >"$scratch/sums"
mv "$scratch/sums" SHA256SUMS
cat SHA256SUMS
