#!/bin/sh
# test-under-load.sh [N] [COMMAND...]: runs a command N times, once if it is not said, and by default `make test`, beside four busy loops for each
# core. Prints which tests failed, and how often. Their output is in target/load/.
set -eu

cd "$(dirname "$0")/.."
case ${1-} in
    *[!0-9]* | '') runs=1 ;;
    *) runs=$1; shift ;;
esac
[ $# -gt 0 ] || set -- make test

logs=target/load
rm -rf "$logs"
mkdir -p "$logs"
loops= command=
# shellcheck disable=SC2086 # a list of processes, and perhaps one more
trap 'kill $loops $command 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM
for _ in $(seq $(($(nproc --all) * 4))); do
    sh -c 'while kill -0 "$0" 2>/dev/null; do i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done; done' $$ &
    loops="$loops $!"
done

red=0
for run in $(seq "$runs"); do
    log=$logs/$run.log
    from=$(date +%s)
    status=0
    # Beside this one, which would otherwise not see Ctrl-C before the end of it.
    "$@" >"$log" 2>&1 </dev/null &
    command=$!
    wait "$command" || status=$?
    command=
    scripts/failures.pl names "$log" >"$logs/$run.names"
    if [ "$status" -ne 0 ]; then
        red=$((red + 1))
        [ -s "$logs/$run.names" ] || echo "$* (status $status)" >"$logs/$run.names"
    fi
    echo "run $run of $runs: status $status, $(wc -l <"$logs/$run.names") failed, $(($(date +%s) - from)) s; $log"
done
echo "$red of $runs runs failed"
sort "$logs"/*.names | uniq -c | sort -rn
[ "$red" -eq 0 ]
