#!/bin/sh
# run.sh [TEST...]: gives the random bits of ids, of the library and of plain LuaJIT, to dieharder's tests with these numbers, by
# default a few that catch weak generators. A good generator is weak in one of 100 results, and some tests have 30. So
# a test that is weak, or fails, is tried with other ids, and then no result may fail, or be weak again. Each try is seeded by the
# operating system; the bits of one that fails twice stay in a file, and a line says how to test them again.
set -eu

cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- 0 1 3 4 8 9 10 11 12 15 16 100 101 102 204 205 208
export LUA_PATH="$PWD/lua/?.lua;;"
kept=$(mktemp -d)
failed=

# results ENGINE TEST: dieharder's lines without "PASSED".
results() {
    case $1 in
        library) LUA_CPATH="$PWD/target/release/?.so" ;;
        *) LUA_CPATH=/nowhere/?.so ;;
    esac
    export LUA_CPATH
    # dieharder ends first, and the ids with it.
    { luajit tests/randomness/bits.lua 2>/dev/null || :; } | tee "$kept/bits" 2>/dev/null | dieharder -g 200 -d "$2" >"$kept/results"
    grep -q PASSED "$kept/results" || grep -q 'WEAK\|FAILED' "$kept/results" || { cat "$kept/results" >&2; exit 2; }
    grep 'WEAK\|FAILED' "$kept/results" || :
}

for engine in library 'plain LuaJIT'; do
    for test; do
        bad=$(results "$engine" "$test")
        if [ -z "$bad" ]; then
            echo "$engine, dieharder's test $test: passed"
            continue
        fi
        printf '%s\n' "$engine, with other ids once more:" "$bad"
        weak=$bad
        again=$(results "$engine" "$test")
        bad=$(printf '%s\n' "$again" | WEAK=$weak awk -F '|' '/FAILED/ || (/WEAK/ && index(ENVIRON["WEAK"], $1 "|" $2 "|"))')
        if [ -n "$bad" ]; then
            mv "$kept/bits" "$kept/$engine-$test"
            printf '%s\n' "$bad" "$engine: test $test fails; again: dieharder -g 201 -f '$kept/$engine-$test' -d $test"
            failed=yes
        fi
    done
done
if [ -n "$failed" ]; then
    exit 1
fi
rm -rf "$kept"
