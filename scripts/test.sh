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

# nginx and the agent wait more than they work, so the other suites run beside those of Rust. Their output comes last.
said=$(mktemp)
setsid sh -c '
    for suite in scripts/prove.sh capi/tests/asan/run.sh tests/peers/run.sh tests/sql/run.sh; do
        echo "$suite"
        "$suite" || echo "    $suite" >>"$1"
    done' sh "$failed" >"$said" 2>&1 &
others=$!
# The whole group: a command in the background does not see Ctrl-C.
trap 'kill -- "-$others" 2>/dev/null || :; rm -f "$failed" "$said"' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2086 # a command and its options
RUST_TEST_THREADS=$(($(nproc) * 2)) run $rust
wait "$others" || :
cat "$said"
run library_is_unchanged

[ -s "$failed" ] || exit 0
echo "txid: these failed:" >&2
cat "$failed" >&2
exit 1
