#!/bin/sh
# need.sh PURPOSE...: says which Debian packages are missing for a purpose, such as build, run or test, and what to type. With
# TXID_INSTALL=1, as `make try`, `make run`, `make test` and .ci/run set it, it installs them.
set -eu

say() { echo "txid: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# at_least LEAST VERSION
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# choose LEAST PACKAGE...: the first of these packages that this release has in at least that version.
choose() {
    least=$1
    shift
    for package in "$@"; do
        version=$(apt-cache policy "$package" 2>/dev/null | sed -n 's/^  Candidate: //p')
        case $version in
            [0-9]*) ! at_least "$least" "$version" || { echo "$package"; return; } ;;
        esac
    done
    return 1
}

# Whoever may use sudo is asked for a password, if anybody is there to type it.
is_root_or_sudoer() {
    [ "$(id -u)" -eq 0 ] || { have sudo && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; }
}
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else is_root_or_sudoer && sudo "$@"; fi
}

# A fresh machine has no package lists.
choose_with_new_lists() {
    choose "$@" || { [ -n "$may_install" ] && as_root apt-get update >/dev/null 2>&1 && choose "$@"; }
}

# Where Debian has a new enough Rust, its name; Debian 12 has it as cargo-web, for building browsers.
from_debian() {
    package=$(choose "$least_rust" cargo cargo-web) && echo ", or: apt-get install $package"
}

may_install=${TXID_INSTALL:-}
least_rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
nginx_with_lua="nginx libnginx-mod-http-lua"
packages=
needs_rust=yes
needs_lint=
needs_luajit=
needs_mutants=
for purpose in "$@"; do
    case $purpose in
        build) have cc || packages="$packages gcc libc6-dev" ;;
        run)
            have openresty || packages="$packages $nginx_with_lua"
            ;;
        try)
            needs_rust=
            have openresty || packages="$packages $nginx_with_lua"
            ;;
        nginx-module)
            packages="$packages make"
            [ -n "${NGINX_SRC:-}" ] || packages="$packages nginx-dev libnginx-mod-stream"
            ;;
        nginx-sources) packages="$packages make libpcre2-dev zlib1g-dev libssl-dev" ;;
        nginx-tests)
            packages="$packages libxslt1-dev libgd-dev libio-socket-ssl-perl libcryptx-perl libcache-memcached-perl libgd-perl"
            packages="$packages libscgi-perl libfcgi-perl memcached uwsgi-core uwsgi-plugin-python3"
            ;;
        suites)
            needs_luajit=yes
            packages="$packages libtest-base-perl libfaketime curl nghttp2-client valgrind strace procps pkg-config iproute2"
            have openresty || packages="$packages $nginx_with_lua libnginx-mod-http-headers-more-filter libnginx-mod-stream"
            # For examples/node, examples/go and examples/java.
            packages="$packages nodejs golang-go default-jdk-headless libjna-java"
            ;;
        test) packages="$packages jq gdb util-linux" ;;
        gateways)
            # Other implementations that our ids are compared with, the engines of readers/sql/, and a browser for readers/web/index.html.
            packages="$packages haproxy apache2-bin python3-venv openssl postgresql mariadb-server-core mariadb-client-core chromium"
            ;;
        check)
            needs_luajit=yes
            packages="$packages libtest-base-perl"
            ;;
        bench)
            needs_luajit=yes
            packages="$packages wrk procps valgrind"
            have openresty || packages="$packages $nginx_with_lua"
            ;;
        segments)
            needs_luajit=yes
            packages="$packages util-linux"
            ;;
        stores)
            packages="$packages redis-server redis-tools etcd-server etcd-client postgresql mariadb-server-core mariadb-client-core"
            packages="$packages galera-4 pgbouncer zookeeper util-linux prometheus prometheus-node-exporter"
            ;;
        soak) packages="$packages dieharder luajit" ;;
        studies)
            packages="$packages python3-venv nghttp2-client faketime golang-go default-jdk-headless libjna-java"
            # Other packages of Node have npm in them, and conflict with Debian's.
            have npm || packages="$packages nodejs npm"
            ;;
        mutants) needs_mutants=yes ;;
        lint)
            needs_lint=yes
            have luacheck || packages="$packages lua-check"
            ;;
        rocks) packages="$packages luarocks" ;;
        deb) packages="$packages python3" ;;
        rpm) packages="$packages python3 rpm" ;;
        platforms) packages="$packages debootstrap util-linux qemu-user-static musl-tools binutils perl python3-venv" ;;
        openresty) packages="$packages make perl libpcre2-dev libssl-dev zlib1g-dev" ;;
        release) packages="$packages binutils luarocks perl pkg-config python3-venv rpm" ;;
        reproducible) packages="$packages faketime" ;;
        test-install)
            needs_luajit=yes
            packages="$packages perl luarocks pkg-config debootstrap buildah lintian rpm rpm2cpio rpmlint cpio libyaml-libyaml-perl systemd-container"
            ;;
        *) say "need.sh: unknown purpose '$purpose'"; exit 2 ;;
    esac
done

if [ -z "$needs_rust" ]; then
    :
elif have cargo && have rustc; then
    rust=$(rustc --version | cut -d ' ' -f 2)
    at_least "$least_rust" "$rust" || {
        say "$(command -v rustc) is Rust $rust, and $least_rust or later is needed: rustup update, or put a newer one first in PATH$(from_debian)"
        exit 1
    }
elif have apt-get && rust=$(choose_with_new_lists "$least_rust" cargo cargo-web); then
    packages="$packages $rust"
else
    say "cargo is missing: install a Rust toolchain ($least_rust or later) and try again"
    exit 1
fi

if [ -z "$needs_lint" ] || { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
    :
elif have rustup; then
    [ -n "$may_install" ] || { say "rustfmt and clippy are missing: rustup component add rustfmt clippy"; exit 1; }
    rustup component add rustfmt clippy
elif rustfmt=$(choose_with_new_lists "$least_rust" rustfmt rustfmt-web); then
    packages="$packages $rustfmt $(choose "$least_rust" rust-clippy rust-web-clippy)"
else
    say "rustfmt and clippy are missing: install those of your Rust toolchain and try again"
    exit 1
fi

if [ -n "$needs_mutants" ] && ! cargo gamma --version >/dev/null 2>&1; then
    say "cargo-gamma is missing: cargo install --locked cargo-gamma"
    exit 1
fi

# Up to Debian 12, the package luajit is Mike Pall's, which conflicts with nginx's Lua, and luajit2 is OpenResty's. Later,
# luajit is OpenResty's.
if [ -n "$needs_luajit" ] && ! have luajit; then
    packages="$packages $(choose_with_new_lists 0 luajit2 luajit || echo luajit)"
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
if [ -z "$may_install" ] || ! is_root_or_sudoer; then
    say "these are missing:$missing. As root:"
    echo "apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

say "installing from Debian:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    # Nothing is removed: a package that conflicts with an installed one, as Debian's luajit with its nginx, is an error.
    # shellcheck disable=SC2086 # a list of names
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-remove --no-install-recommends $missing \
        >"$log" 2>&1 </dev/null
}
# A fresh machine has no package lists, or old ones; only then are they fetched.
if ! install && ! { as_root apt-get update >"$log" 2>&1 && install; }; then
    grep -A 1 'will be REMOVED' "$log" >&2 || :
    tail -n 5 "$log" >&2
    say "apt-get could not install:$missing"
    exit 1
fi
