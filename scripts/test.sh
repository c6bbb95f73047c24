#!/bin/sh
# test.sh: runs all tests of what is built, even if some fail, and prints at the end which failed.
set -eu

cd "$(dirname "$0")/.."
rust="cargo test --locked --workspace --all-features --no-fail-fast"
failed=$(mktemp)
run() {
    echo "$*"
    "$@" || echo "    $*" >>"$failed"
}

# What is tested is what is shipped: nothing may put another build in its place.
library=target/release/libtxid.so
built=$(cksum "$library")
library_is_unchanged() { [ "$(cksum "$library")" = "$built" ]; }

# shellcheck disable=SC2086 # a command and its options
run $rust --no-run
# nginx and the agent wait more than they work, so the suites of nginx run beside all others, and print what they say last.
said=$(mktemp)
setsid scripts/prove.sh >"$said" 2>&1 &
prove=$!
# The whole group: a command in the background does not see Ctrl-C.
trap 'kill -- "-$prove" 2>/dev/null || :; rm -f "$failed" "$said"' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2086
RUST_TEST_THREADS=$(($(nproc) * 2)) run $rust
run capi/tests/asan/run.sh
run tests/peers/run.sh
prove() {
    wait "$prove"
    status=$?
    cat "$said"
    return "$status"
}
run prove
run library_is_unchanged

[ -s "$failed" ] || exit 0
echo "txid: these failed:" >&2
cat "$failed" >&2
exit 1
