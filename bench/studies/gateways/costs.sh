# To be sourced by test-gateways.sh: what a request costs in a gateway without a plugin for ids, with the gateway's own, and with ours.
#
# A gateway has a function that starts a variant, start_variant VARIANT DIRECTORY PORT, by start_nginx, and sets pid_file. Instructions are
# counted below callgrind, once LuaJIT has compiled what it will. It compiles other parts in each process, so several are asked, and the
# lowest round of all counts. What nginx's timers run is left out: the slower the machine, the more of it comes with each request.
# Requests a second are the median of rounds in which all variants take turns, so they have the noise of this machine in common.

processes=3
rounds=7
seconds=2

# An upstream that costs little, and keeps connections open.
start_fast_upstream() {
    mkdir -p "$work/upstream/logs"
    cat >"$work/upstream/nginx.conf" <<END
worker_processes 1;
events {}
http {
    access_log off;
    keepalive_requests 1000000000;
    server { listen 127.0.0.1:$1; return 200 "ok"; }
}
END
    # Any will do, and one without Lua needs nothing else.
    "$(command -v nginx || echo "$nginx")" -p "$work/upstream/" -c nginx.conf -e logs/error.log
}

stop_in() {
    [ ! -s "$1" ] || kill -QUIT "$(cat "$1")" 2>/dev/null || :
    for _ in $(seq 300); do [ -s "$1" ] || break; sleep 0.1; done
}

wait_for() { # wait_for PORT PATH
    for _ in $(seq 1800); do
        [ "$(curl -s -o "$work/answer" -w '%{http_code}' "http://127.0.0.1:$1$2")" != 200 ] || return 0
        sleep 0.2
    done
    cat "$work/answer"
    echo "txid: no answer on port $1" >&2
    return 1
}

ask_often() { curl -s -o /dev/null "http://127.0.0.1:$1$2?[1-$3]"; }

# start_nginx PREFIX CONF: with $counted, as one process below callgrind, since callgrind_control does not find the children of another.
start_nginx() {
    if [ -z "${counted-}" ]; then
        "$nginx" -p "$1" -c "$2" >"$work/start" 2>&1 || { cat "$work/start"; return 1; }
        return
    fi
    sed -i '/^ *\(daemon\|master_process\|user\) /d' "$2"
    # Not counting makes the start shorter.
    valgrind --quiet --tool=callgrind --instr-atstart=no --toggle-collect=ngx_event_expire_timers --collect-atstart=yes \
        --callgrind-out-file="$counted" "$nginx" -p "$1" -c "$2" -g 'daemon off; master_process off; user root;' \
        >"$work/start" 2>&1 &
    echo $! >"$work/counted.pid"
}

# instructions_of VARIANT PATH
instructions_of() {
    lowest=
    for _ in $(seq $processes); do
        counted=$work/out
        start_variant "$1" "$work/counted" "$cost_port"
        wait_for "$cost_port" "$2"
        pid=$(cat "$work/counted.pid")
        ask_often "$cost_port" "$2" 10000
        callgrind_control --instr=on "$pid" >/dev/null 2>&1
        for round in 1 2 3 4 5; do
            callgrind_control --zero "$pid" >/dev/null 2>&1
            ask_often "$cost_port" "$2" 200
            callgrind_control --dump "$pid" >/dev/null 2>&1
            now=$(sed -n 's/^totals: //p' "$counted.$round")
            [ -n "$lowest" ] && [ "$lowest" -le "$now" ] || lowest=$now
        done
        kill -KILL "$pid"
        wait "$pid" 2>/dev/null || :
        rm -rf "$counted"* "$work/counted"*
        counted=
    done
    echo $((lowest / 200))
}

# costs PATH VARIANT...: prints a table.
costs() {
    path=$1
    shift
    for tool in valgrind wrk; do
        command -v $tool >/dev/null || { echo "costs: skipped, there is no $tool (apt-get install valgrind wrk)"; return; }
    done
    for variant in "$@"; do instructions_of "$variant" "$path" >"$work/instructions-$variant"; done
    at=$cost_port
    for variant in "$@"; do
        start_variant "$variant" "$work/rate-$variant" "$at"
        echo "$pid_file" >"$work/pid-file-$variant"
        wait_for "$at" "$path"
        wrk -t 1 -c 8 -d 3 "http://127.0.0.1:$at$path" >/dev/null
        at=$((at + 1))
    done
    for _ in $(seq $rounds); do
        at=$cost_port
        for variant in "$@"; do
            wrk -t 1 -c 8 -d $seconds "http://127.0.0.1:$at$path" | sed -n 's/^Requests\/sec: *//p' >>"$work/rates-$variant"
            at=$((at + 1))
        done
    done
    first=$1
    printf '%-28s %22s %24s\n' '' 'instructions a request' 'requests a second'
    for variant in "$@"; do
        stop_in "$(cat "$work/pid-file-$variant")"
        median() { sort -n "$work/rates-$1" | sed -n "$((rounds / 2 + 1))p"; }
        awk -v name="$variant" -v now="$(cat "$work/instructions-$variant")" -v base="$(cat "$work/instructions-$first")" \
            -v rate="$(median "$variant")" -v rates="$(median "$first")" 'BEGIN {
                printf "%-28s %10d (%+8d) %12.0f (%.3f times)\n", name, now, now - base, rate, rate / rates }'
    done
}
