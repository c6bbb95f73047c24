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

run cargo test --locked --workspace --all-features --no-fail-fast
run capi/tests/asan/run.sh
run scripts/prove.sh
run tests/peers/run.sh

[ -z "$failed" ] || {
    echo "txid: these failed:$failed" >&2
    exit 1
}
