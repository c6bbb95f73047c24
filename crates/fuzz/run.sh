#!/bin/sh
# run.sh [SECONDS [TARGET...]]: lets libFuzzer look for inputs that a target fails on, so long for each. It starts from
# crates/fuzz/corpus and keeps what it finds in target/fuzz-corpus. The instrumentation is part of stable Rust.
set -eu

seconds=${1:-10}
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/../.."

host=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
# With --target, what only runs while building is not instrumented.
RUSTFLAGS="--cfg fuzzing $coverage" \
    cargo build --locked --quiet --package txid-fuzz --profile fuzz --target "$host" --target-dir target/fuzz

# shellcheck disable=SC2046 # a list of names
[ $# -gt 0 ] || set -- $(sed -n 's/^    ("\([a-z0-9_]*\)",.*/\1/p' crates/fuzz/src/lib.rs)
for target in "$@"; do
    found=target/fuzz-corpus/$target
    mkdir -p "$found"
    log=target/fuzz-corpus/$target.log
    TARGET=$target "target/fuzz/$host/fuzz/txid-fuzz" -max_total_time="$seconds" -max_len=512 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="target/fuzz-corpus/$target-" "$found" "crates/fuzz/corpus/$target" >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        echo "txid: $target fails; cargo run -p txid-fuzz $target FILE does it again" >&2
        exit 1
    }
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $runs inputs, $(find "$found" -type f | wc -l) kept"
done
