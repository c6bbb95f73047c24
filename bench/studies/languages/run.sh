#!/bin/sh
# What an id costs in C, Go, Java, Node and Python: nanoseconds of processor time, medians of rounds that are interleaved.
# Needs koffi: npm install --prefix target/languages koffi.
set -eu

cd "$(dirname "$0")/../../.."
root=$PWD
make --no-print-directory build agent
scripts/need.sh studies
jna=${JNA_JAR:-/usr/share/java/jna.jar}
work=$(mktemp -d)
agent=
trap '[ -z "$agent" ] || kill "$agent"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

mkdir "$work/lib" "$work/ids"
ln -s "$root/target/release/libtxid.so" "$work/lib/libtxid.so"
ln -s libtxid.so "$work/lib/libtxid.so.2"
printf 'Name: txid\nDescription: txid\nVersion: 2\nCflags: -I%s/include\nLibs: -L%s/lib -ltxid\n' "$root" "$work" >"$work/lib/txid.pc"
export LD_LIBRARY_PATH="$work/lib" PKG_CONFIG_PATH="$work/lib" GO111MODULE=off GOCACHE="$work/go-cache"

cc -O2 bench/studies/languages/cost.c -I include -L "$work/lib" -ltxid -o "$work/cost"
cp examples/go/ids.go bench/studies/languages/cost_test.go "$work/ids"
(cd "$work/ids" && go test -c -o "$work/cost-go" .)
javac -cp "$jna" -d "$work" examples/java/Ids.java bench/studies/languages/Cost.java
cp examples/node/ids.mjs bench/studies/languages/cost.mjs "$work"
ln -s "$root/target/languages/node_modules" "$work/node_modules"

for program in target/release/txid-agent target/debug/txid-agent; do [ ! -x "$program" ] || break; done
"$program" run --store "file://$work/store" --new --dir "$work/run" --node orders=snowflake --create \
    --segment invoices=1000000000 --max-step 1000000000 2>"$work/log" &
agent=$!
for _ in $(seq 100); do
    ! "$program" status --dir "$work/run" >"$work/status" 2>&1 || break
    sleep 0.1
done

for _ in $(seq "${ROUNDS:-7}"); do
    "$work/cost" "$work/run"
    DIRECTORY=$work/run "$work/cost-go" | grep '^go '
    java -cp "$jna:$work" Cost "$work/run"
    node --preserve-symlinks --preserve-symlinks-main "$work/cost.mjs" "$work/run"
    python3 -B bench/studies/languages/cost.py "$work/run"
done | sort -k 1,2 -k 3n | awk '
    { of[$1 " " $2] = of[$1 " " $2] " " $3 }
    END { for (kind in of) { count = split(of[kind], all, " "); printf "%-18s %8.0f ns\n", kind, all[int((count + 1) / 2)] } }' | sort
