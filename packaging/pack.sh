#!/bin/sh
# pack.sh [MACHINE...]: packs all files of a release into dist/, with SHA-256 sums: the sources, and for each machine (x86_64 and
# aarch64) and C library an archive with install.sh. For this machine, which must be one of them, also the rocks and the Debian and
# RPM packages. With NGINX_SRCS=, the modules for each of these nginx, and an RPM with those for the first.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
name=lua-resty-libtxid-$version
: "${NGINX_SRCS=}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

scripts/need.sh build release
rm -rf dist
mkdir dist
git archive --prefix="$name/" --output="dist/$name.tar.gz" HEAD

# What install.sh of the archive takes, where the scripts look for it.
archive() { # archive BUILT NAME
    root=$scratch/$2
    mkdir -p "$root/built/agent" "$root/packaging" "$root/readers"
    cp -R lua include LICENSE CHANGELOG.md "$root"
    cp -R readers/sql "$root/readers"
    cp -R packaging/agent packaging/install.sh packaging/txid.pc.in "$root/packaging"
    for file in libtxid.so libtxid.a txid txid-agent man completions; do cp -R "$1/$file" "$root/built"; done
    cp -R "$1/agent/man" "$1/agent/completions" "$root/built/agent"
    printf "version='%s'\nrepository='%s'\n" "$version" "$repository" >"$root/packaging/facts.sh"
    install -m 755 packaging/archive.sh "$root/install.sh"
    python3 packaging/crates.py "$root" txid-capi txid-cli txid-agent
    packaging/tarball.sh "$scratch" "$2"
}

# For glibc 2.17 and later, and for musl, if this Rust can build for them.
[ $# -gt 0 ] || set -- x86_64 aarch64
targets=
for machine in "$@"; do targets="$targets $machine-unknown-linux-gnu.2.17 $machine-unknown-linux-musl"; done
# shellcheck disable=SC2086 # a list of names
packaging/release-binaries.sh $targets
for machine in "$@"; do
    for libc in gnu musl; do
        built=target/portable/$machine-unknown-linux-$libc/release
        [ ! -f "$built/libtxid.so" ] || archive "$built" "txid-$version-linux-$machine-$libc"
    done
done

packaging/web-reader.sh >"dist/txid-reader-$version.html"

# These have the same library and command, which ask for no newer glibc.
export BUILT="target/portable/$(uname -m)-unknown-linux-gnu/release"
cp rockspec/*-"$version"-1.rockspec dist/
packaging/rocks.sh
make --no-print-directory deb
NGINX_SRC=${NGINX_SRCS%% *} make --no-print-directory rpm
unset BUILT

[ -z "$NGINX_SRCS" ] || packaging/release-modules.sh

# Built from the sources of the release, which it knows by their sum.
{
    cat packaging/alpine/APKBUILD
    printf '\nsha512sums="\n%s\n"\n' "$(cd dist && sha512sum "$name.tar.gz")"
} >dist/APKBUILD
packaging/tarball.sh packaging/nginx-image txid "txid-nginx-image-$version"

cd dist
sha256sum -- * >"$scratch/sums"
mv "$scratch/sums" SHA256SUMS
cat SHA256SUMS
