#!/bin/sh
# release-binaries.sh [TARGET...]: builds the library, the command and the agent for each target as a release ships them, into
# target/portable/TARGET/release. With DRY_RUN=1, it only prints what it would build.
#
# zig links them against the oldest glibc that Rust's standard library works with, 2.17 (CentOS 7, 2012), and can link for
# other machines. It is installed from PyPI into target/zig.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu.2.17 aarch64-unknown-linux-gnu.2.17 x86_64-unknown-linux-musl aarch64-unknown-linux-musl

# has_std TARGET: whether this Rust can build for it. If not, asks rustup for the standard library.
has_std() {
    libraries=$(rustc --print target-libdir --target "$1")
    [ -n "$(find "$libraries" -name 'libstd-*.rlib' 2>/dev/null)" ] && return
    [ "${DRY_RUN-}" != 1 ] && command -v rustup >/dev/null && rustup target add "$1" >/dev/null 2>&1
}

built=
for wanted in "$@"; do
    target=${wanted%.[0-9]*.[0-9]*}
    if ! has_std "$target"; then
        [ "${DRY_RUN-}" = 1 ] || rm -rf "target/portable/$target"
        echo "$wanted: skipped: this Rust has no standard library for it (rustup target add $target)"
        continue
    fi
    if [ "${DRY_RUN-}" = 1 ]; then
        echo "$wanted: would run: cargo zigbuild --locked --release --target $wanted"
        continue
    fi
    scripts/venv.sh target/zig packaging/zig.txt
    # A shared object for musl links the C library dynamically.
    flags=${RUSTFLAGS-}
    case $target in *-musl) flags="$flags -C target-feature=-crt-static" ;; esac
    (
        export PATH="$PWD/target/zig/bin:$PATH" RUSTFLAGS="$flags" CARGO_TARGET_DIR="$PWD/target/portable" RUSTC_WRAPPER="$PWD/scripts/rustc.sh"
        cargo zigbuild --quiet --locked --release --target "$wanted"
        cargo zigbuild --quiet --locked --release --target "$wanted" --manifest-path agent/Cargo.toml
    )
    echo "$wanted: target/portable/$target/release"
    built="$built $target"
done
[ "${DRY_RUN-}" = 1 ] || [ -n "$built" ]
# A command for another machine cannot be run here. The one for this machine prints the same.
for target in $built; do packaging/manuals.sh "target/portable/$target/release" "target/portable/$(uname -m)-unknown-linux-gnu/release/txid"; done
