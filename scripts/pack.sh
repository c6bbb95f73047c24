#!/bin/sh
# pack.sh [MACHINE...]: packs all files of a release into dist/, with SHA-256 sums: the sources, and what `make install`
# installs for each machine (x86_64 and aarch64) and C library. For this machine, which must be one of them, also a binary
# rock and the Debian and RPM packages.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
name=lua-resty-libtxid-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

scripts/need.sh build release
rm -rf dist
mkdir dist
git archive --prefix="$name/" --output="dist/$name.tar.gz" HEAD

# To be unpacked in /: for glibc 2.17 and later, and for musl, if this Rust can build for them.
[ $# -gt 0 ] || set -- x86_64 aarch64
targets=
for machine in "$@"; do targets="$targets $machine-unknown-linux-gnu.2.17 $machine-unknown-linux-musl"; done
# shellcheck disable=SC2086 # a list of names
scripts/release-binaries.sh $targets
for machine in "$@"; do
    for libc in gnu musl; do
        built=target/portable/$machine-unknown-linux-$libc/release
        [ -f "$built/libtxid.so" ] || continue
        BUILT=$built PREFIX=/usr/local LIB_DIR=/usr/local/lib LUA_LIB_DIR=/usr/local/share/lua/5.1 LUA_C_DIR=/usr/local/lib/lua/5.1 \
            DESTDIR=$scratch/$machine-$libc scripts/install.sh put
        tar -c -z -f "dist/$name-linux-$machine-$libc.tar.gz" --owner=0 --group=0 -C "$scratch/$machine-$libc" usr
    done
done

luarocks --lua-version 5.1 --tree "$scratch/tree" make "rockspec/$name-1.rockspec"
(cd dist && luarocks --lua-version 5.1 --tree "$scratch/tree" pack lua-resty-libtxid "$version")
cp "rockspec/$name-1.rockspec" dist/

# They have the same library and command, which ask for no newer glibc.
BUILT=target/portable/$(uname -m)-unknown-linux-gnu/release make --no-print-directory deb rpm

cd dist
sha256sum -- * >"$scratch/sums"
mv "$scratch/sums" SHA256SUMS
cat SHA256SUMS
