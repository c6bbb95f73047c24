#!/bin/sh
# rustc.sh RUSTC ARGUMENT...: what Cargo runs in place of rustc if this is its RUSTC_WRAPPER. The message of a panic names its source
# file, with the whole path if that is another crate's. Without the part that only this machine has, nothing that is shipped shows
# who built it, and other machines build the same bytes.
rustc=$1
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    set -- "$@" "--remap-path-prefix=$crates=crates"
done
# The standard library's sources, which rustup installs for editors.
std=$("$rustc" --print sysroot)/lib/rustlib/src/rust
if [ -d "$std" ]; then
    set -- "$@" "--remap-path-prefix=$std=/rustc/$("$rustc" -vV | sed -n 's/^commit-hash: //p')"
fi
# Cargo tells crates apart by a sum of their paths, if they are outside of its workspace: as the library is, seen from the agent.
# The sum is in the names of symbols, and so in the binaries. The name of a package serves instead: each exists once.
case ${CARGO_PKG_NAME-} in
    txid | txid-*)
        for argument; do
            shift
            case $argument in metadata=*) argument=metadata=$CARGO_PKG_NAME ;; esac
            set -- "$@" "$argument"
        done
        ;;
esac
exec "$@" "--remap-path-prefix=$(cd "$(dirname "$0")/.." && pwd)=."
