# To be sourced after _common.sh, by tests that install in a Debian of their own, below $root.

# fresh RELEASE PACKAGES: makes it, with these packages beside the essential ones.
fresh() {
    root=$tmp/root
    log=$tmp/debootstrap.log
    debootstrap --variant=minbase --include="$2" "$1" "$root" >"$log" 2>&1 || { tail -n 5 "$log"; fail "debootstrap"; }
    # nginx's workers are not root.
    chmod 755 "$tmp" "$root"
    # For those that fetch crates.
    cp /etc/hosts /etc/resolv.conf "$root/etc/"
    [ -z "${SSL_CERT_FILE-}" ] || cp -L "$SSL_CERT_FILE" "$root/etc/host.pem"
}

# With a /proc, as on a machine: txid-agent asks it which boot this is.
in_root() {
    certificates=
    [ ! -f "$root/etc/host.pem" ] || certificates="SSL_CERT_FILE=/etc/host.pem CARGO_HTTP_CAINFO=/etc/host.pem"
    # shellcheck disable=SC2016,SC2086 # the inner shell's variables; a list of settings
    unshare --mount sh -euc 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$root" \
        env DEBIAN_FRONTEND=noninteractive LC_ALL=C $certificates "$@"
}
# systemd and nginx make files in /run and /var/lib/nginx themselves.
files() {
    (cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./run -o -path './var/lib/nginx/*' \) -prune -o -print | sort)
}

# serve EXAMPLE: with the modules that the packages have enabled.
serve() {
    port=$(free_port)
    mkdir -p "$root/srv/logs"
    # modules-enabled/ has paths relative to nginx's own prefix.
    ln -s /usr/lib/nginx/modules "$root/srv/modules"
    {
        echo "include /etc/nginx/modules-enabled/*.conf;"
        sed "s/127\.0\.0\.1:8080/127.0.0.1:$port/; s/error\.log;/error.log notice;/" "examples/$1.conf"
    } >"$root/srv/nginx.conf"
    # While nginx starts, it logs to stderr: so do messages of init_by_lua.
    in_root nginx -p /srv/ -c nginx.conf 2>"$tmp/start.log" || fail "nginx: $(cat "$tmp/start.log")"
    trap 'kill "$(cat "$root/srv/logs/nginx.pid")"' EXIT
}

stop() {
    ! grep -e 'libtxid.so was not found' -e '\[error\]' "$tmp/start.log" "$root/srv/logs/error.log" || fail "nginx logged an error"
    nginx=$(cat "$root/srv/logs/nginx.pid")
    kill "$nginx"
    trap - EXIT
    while kill -0 "$nginx" 2>/dev/null; do sleep 0.1; done
    rm -r "$root"/srv/*
}
