#!/bin/sh
# test.sh: runs all tests of what is built, even if some fail, and prints at the end which failed.
set -eu

cd "$(dirname "$0")/.."
failed=
run() {
    echo "$*"
    "$@" || failed="$failed
    $*"
}

# What is tested is what is shipped: nothing may put another build in its place.
library=target/release/libtxid.so
built=$(cksum "$library")
library_is_unchanged() { [ "$(cksum "$library")" = "$built" ]; }

run cargo test --locked --workspace --all-features --no-fail-fast
run capi/tests/asan/run.sh
run scripts/prove.sh
run tests/peers/run.sh
run library_is_unchanged

[ -z "$failed" ] || {
    echo "txid: these failed:$failed" >&2
    exit 1
}
