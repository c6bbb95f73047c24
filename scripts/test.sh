#!/bin/sh
# test.sh [all|agent]: builds what the tests need, and runs them, even if some fail: those of the root, all of them, or those of the agent. A
# table in docs/dev/CONTRIBUTING.md says which are left out without `all`. Prints what each part took, and at the end which tests failed, and how to run each again. Whatever a part says is in target/test/.
set -eu

cd "$(dirname "$0")/.."
workspace=${1:-root}
logs=target/test/$workspace
rm -rf "$logs"
mkdir -p "$logs"
begun=$(date +%s)
trap 'trap - TERM; kill 0; exit 130' INT TERM

# part NAME COMMAND...: runs it, and prints how many seconds after the beginning it began and ended.
part() {
    name=$1
    shift
    from=$(($(date +%s) - begun))
    echo "\$ $*" >"$logs/$name.log"
    result=ok
    "$@" >>"$logs/$name.log" 2>&1 </dev/null || { result=FAILED; : >"$logs/$name.failed"; }
    printf '%-6s  %4d s to %4d s  %s\n' "$result" "$from" "$(($(date +%s) - begun))" "$name"
    [ "$result" = ok ]
}

# Ends with what failed. Nothing else can be tested of what cannot be built.
report() {
    wait
    # Only these lines of a part that passed are shown.
    grep -h ': left out ' "$logs"/*.log || :
    skipped=$(grep -h 'skipped: ' "$logs"/*.log | sort -u)
    [ -z "$skipped" ] || printf '%d skipped, and so not passed:\n%s\n' "$(echo "$skipped" | wc -l)" "$skipped"
    set --
    for mark in "$logs"/*.failed; do
        [ ! -e "$mark" ] || set -- "$@" "${mark%.failed}.log"
    done
    [ $# -gt 0 ] || exit 0
    scripts/failures.pl "$@" >&2
    exit 1
}

# nginx, databases and the agent wait more than they work.
RUST_TEST_THREADS=$(($(nproc) * 2))
export RUST_TEST_THREADS

# Nothing is there to be reused in a first build, which takes a fifth less without what the next one would reuse.
ls target/debug/incremental/* >/dev/null 2>&1 || export CARGO_INCREMENTAL=0

# A newcomer waits for neither the command as it is shipped, nor for each test of a browser and of single instructions.
library=library less="--skip web_reader:: --skip speed::" pages=t/documents.t
export TXID_COMMAND="$PWD/target/debug/txid"
if [ "$workspace" = all ]; then
    library=build less='' pages="t/documents.t t/install.t"
    TXID_COMMAND="$PWD/target/release/txid"
else
    export PROPTEST_CASES="${PROPTEST_CASES:-64}"
fi

# The suites begin when the library and the modules are there, while the tests in Rust are still built: Cargo locks each profile by itself.
part library make --no-print-directory "$library" &
library=$!
part modules make --no-print-directory nginx-module &
modules=$!

if [ "$workspace" = agent ]; then
    agent="cargo test --locked --workspace --no-fail-fast --manifest-path agent/Cargo.toml --target-dir target"
    # shellcheck disable=SC2086 # several words, here and below
    part programs $agent --no-run || report
    # Most of them wait for the end of a lease. They begin in the order of their names: those of stores, which take long, would be last.
    agents="env RUST_TEST_THREADS=$(($(nproc) * 8)) $agent --test with_servers --"
    part stores $agents stores:: segments:: &
    part with_servers $agents --skip stores:: --skip segments:: &
    part rust $agent --lib --bins --test all || :
    part documentation $agent --doc || :
    wait "$library" && wait "$modules" || report
    # shellcheck disable=SC2046 # a list of files
    part suites scripts/prove.sh $(grep -rl --include='*.t' '^use Agent' t) || :
    report
fi

# Tests run the shipped build: nothing may put another in its place.
library_is_unchanged() { [ "$(cksum target/release/libtxid.so)" = "$built" ] || { echo "target/release/libtxid.so is another one than at the beginning"; return 1; }; }

rust="cargo test --locked --workspace --all-features --no-fail-fast"
# shellcheck disable=SC2086
part programs $rust --no-run &
programs=$!
wait "$library" && wait "$modules" || report
built=$(cksum target/release/libtxid.so)
part suites scripts/prove.sh &
if [ "$workspace" = all ]; then
    {
        part instructions scripts/prove.sh t/*/instructions.t || :
        part asan crates/capi/tests/asan/run.sh || :
        part nginx-asan scripts/nginx-asan.sh t/native/client-ids.t t/native/decisions.t t/native/variables.t t/native/error-log.t || :
        part lua-asan scripts/lua-asan.sh t/request/handle.t t/txid/format.t t/lua/codec.t t/lua/snowflake.t || :
        part peers tests/peers/run.sh || :
        part sql tests/sql/run.sh || :
    } &
    {
        part gateways tests/gateways/run.sh || :
        # Other flags need a directory of their own.
        part orders env RUSTFLAGS="--cfg loom" cargo test --locked -p txid --lib --target-dir target/loom every_order || :
    } &
fi
wait "$programs" || report
# Tests of a program run at once, but some one by one, and so beside the others.
# shellcheck disable=SC2086
part alone $rust --test alone --test snowflake_processes &
# shellcheck disable=SC2086
part units $rust --lib --bins &
# shellcheck disable=SC2086
part pages scripts/prove.sh $pages &
# shellcheck disable=SC2086
[ "$workspace" != all ] || part corpus $rust --test corpus &
# shellcheck disable=SC2086
part command $rust --test command &
# shellcheck disable=SC2086
part rust $rust --test all -- $less || :
# shellcheck disable=SC2086
part documentation $rust --doc || :
wait
part library-is-unchanged library_is_unchanged || :
report
