#!/bin/sh
# test.sh: runs all tests of what is built, even if some fail, and prints at the end which failed.
set -eu

cd "$(dirname "$0")/.."
rust="cargo test --locked --workspace --all-features --no-fail-fast"
agent="cargo test --locked --workspace --no-fail-fast --manifest-path agent/Cargo.toml --target-dir target"
failed=$(mktemp)
run() {
    echo "$*"
    "$@" || echo "    $*" >>"$failed"
}

# What is tested is what is shipped: nothing may put another build in its place.
library=target/release/libtxid.so
built=$(cksum "$library")
library_is_unchanged() { [ "$(cksum "$library")" = "$built" ]; }

# nginx, databases and the agent wait more than they work, so the other suites run beside those of Rust, and so do the agent's tests with
# servers. What they print comes last.
export failed RUST_TEST_THREADS=$(($(nproc) * 2))
said=$(mktemp -d)
groups=
beside() {
    output=$said/$1
    shift
    setsid sh -c '
        for suite; do
            echo "$suite"
            eval "$suite" || echo "    $suite" >>"$failed"
        done' sh "$@" >"$output" 2>&1 &
    groups="$groups -$!"
}
# The whole groups: a command in the background does not see Ctrl-C.
# shellcheck disable=SC2086 # several groups, or options
trap 'kill -- $groups 2>/dev/null || :; rm -rf "$failed" "$said"' EXIT
trap 'exit 130' INT TERM
beside servers "$agent --test with_servers"
beside suites scripts/prove.sh crates/capi/tests/asan/run.sh tests/peers/run.sh tests/sql/run.sh
# shellcheck disable=SC2086
run $rust --lib --bins --tests
# shellcheck disable=SC2086
run $rust --doc
# shellcheck disable=SC2086
run $agent --lib --bins --test '[!w]*'
# shellcheck disable=SC2086
run $agent --doc
wait
cat "$said"/*
run library_is_unchanged

[ -s "$failed" ] || exit 0
echo "txid: these failed:" >&2
cat "$failed" >&2
exit 1
