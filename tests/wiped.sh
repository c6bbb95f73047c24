#!/bin/sh
# wiped.sh: runs tests/helpers/tests/wiped.rs with the permutation and AES built for size or speed: as in libtxid.so, as Cargo builds other
# programs, and as those that are built for size. A compiler leaves other things on the stack for each.
set -eu

cd "$(dirname "$0")/.."
for levels in '"s" 3' '3 3' '"s" "s"'; do
    cargo test --locked --profile soak -p txid-test-helpers --test wiped --config "profile.soak.package.txid-keyed.opt-level=${levels% *}" \
        --config "profile.soak.package.aes.opt-level=${levels#* }"
done
