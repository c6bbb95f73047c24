#!/bin/sh
# need.sh PURPOSE...: installs from Debian what is missing for building, running, testing or checking txid.
set -eu

say() { echo "txid: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

nginx_with_lua="nginx libnginx-mod-http-lua"
packages=
for purpose in "$@"; do
    case $purpose in
        build) have cc || packages="$packages gcc libc6-dev" ;;
        run) have openresty || packages="$packages $nginx_with_lua" ;;
        test)
            packages="$packages libtest-base-perl libfaketime nghttp2-client valgrind procps"
            have openresty || packages="$packages $nginx_with_lua libnginx-mod-http-headers-more-filter libnginx-mod-stream"
            have luajit || packages="$packages luajit2"
            # What our ids are held against.
            packages="$packages apache2-bin python3-venv"
            ;;
        bench)
            packages="$packages wrk procps valgrind"
            have openresty || packages="$packages $nginx_with_lua"
            ;;
        stores)
            packages="$packages redis-server etcd-server etcd-client postgresql mariadb-server-core mariadb-client-core"
            packages="$packages zookeeper util-linux"
            ;;
        locality) packages="$packages python3-venv" ;;
        lint) have luacheck || packages="$packages lua-check" ;;
        rpm) packages="$packages rpm" ;;
        test-install)
            packages="$packages perl luarocks pkg-config debootstrap rpm rpm2cpio cpio libyaml-libyaml-perl"
            have luajit || packages="$packages luajit2"
            ;;
        *) say "need.sh knows no purpose '$purpose'"; exit 2 ;;
    esac
done

if ! have cargo; then
    say "cargo is missing: install a Rust toolchain (1.85 or later) and try again"
    exit 1
fi

missing=
for package in $packages; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *" installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if ! have apt-get; then
    say "these are missing, and there is no apt-get to install them with:$missing"
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    say "these are missing, and installing them needs root (apt-get install$missing):$missing"
    exit 1
fi

say "installing from Debian:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    # What is there stays, even where it is in the way, as Debian's luajit is in that of its nginx with Lua.
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-remove --no-install-recommends $missing \
        >"$log" 2>&1 </dev/null
}
# The lists of a fresh machine are empty or old; only then is it worth the time to fetch them.
if ! install && ! { apt-get update >"$log" 2>&1 && install; }; then
    grep -A 1 'will be REMOVED' "$log" >&2 || :
    tail -n 5 "$log" >&2
    say "apt-get could not install:$missing"
    exit 1
fi
