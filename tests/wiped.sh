#!/bin/sh
# wiped.sh: runs tests/wiped.rs with the permutation built for size, as in libtxid.so, and for speed, as Cargo builds it for other
# programs; AES is built for speed in both. What a compiler leaves on the stack depends on that.
set -eu

cd "$(dirname "$0")/.."
for level in '"s"' 3; do
    cargo test --locked --profile soak -p txid --test wiped --config "profile.soak.package.txid-keyed.opt-level=$level" \
        --config "profile.soak.package.aes.opt-level=3"
done
