#!/bin/sh
# test-platforms.sh [PLATFORM...]: tries txid where its users are, each time in a fresh system below target/platforms. Says
# what passed where, and why a platform is skipped.
#
#   debian-12, debian-13, debian-unstable   `make run`, `make test-all` and `make test-agent` on a bare Debian
#   glibc                                   the release for this machine in a Debian 11, whose glibc is 2.31; it asks for 2.17 only
#   musl                                    the release for this machine and musl, with Debian's loader of musl
#   arm64                                   the aarch64 release under qemu-user, with Debian's LuaJIT and nginx for arm64
#   openresty                               t/ on the OpenResty whose sources are in OPENRESTY_SRC=
#
# DEBIAN_MIRROR is where Debian is fetched from, else debootstrap chooses. The host's
# certificates (SSL_CERT_FILE) go with it into the chroots.
set -eu

cd "$(dirname "$0")/.."
tree=$PWD
[ $# -gt 0 ] || set -- glibc musl arm64 debian-12 debian-13 debian-unstable openresty
work=$tree/target/platforms
mkdir -p "$work"

fail() { echo "FAILED: $*"; return 1; }
skip() { echo "$*" >"$work/$platform.skipped"; exit 0; }
result() { echo "$*" >"$work/$platform.result"; }

is_id() { # is_id TEXT WHAT
    printf '%s\n' "$1" | grep -Eqx '[0-9a-v]{19}[0g]' || fail "$2 gave '$1', which is no id"
}

needs() { # needs COMMAND...
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "it needs $tool"
        [ "$tool" != debootstrap ] || [ "$(id -u)" -eq 0 ] || skip "it needs root, for a chroot"
    done
}

make_root() { # make_root SUITE [OPTION...]
    suite=$1
    shift
    root=$work/$platform
    rm -rf "$root"
    mkdir -p "$work/debs/partial"
    # shellcheck disable=SC2086 # nothing, or a mirror
    debootstrap --variant=minbase --cache-dir="$work/debs" "$@" "$suite" "$root" ${DEBIAN_MIRROR-}
    mirror=$(sed -n 's/^deb \([^ ]*\) .*/\1/p' "$root/etc/apt/sources.list" | head -n 1)
    cp /etc/hosts /etc/resolv.conf "$root/etc/"
    [ -z "${SSL_CERT_FILE-}" ] || cp -L "$SSL_CERT_FILE" "$root/etc/host.pem"
    mkdir -p "$root/root/.cargo/registry" "$work/crates"
}

# As on a machine with this Debian: with its updates.
add_updates() { # add_updates SUITE
    for updates in "$mirror $1-updates" "${mirror%debian}debian-security $1-security"; do
        echo "deb $updates main" >>"$root/etc/apt/sources.list"
    done
}

# Runs a command in the root, with a /proc and processes of its own, which end with it.
in_root() { # in_root COMMAND...
    certificates=
    [ ! -f "$root/etc/host.pem" ] \
        || certificates="SSL_CERT_FILE=/etc/host.pem CARGO_HTTP_CAINFO=/etc/host.pem PIP_CERT=/etc/host.pem"
    # shellcheck disable=SC2016,SC2086 # the inner shell's variables; a list of settings
    unshare --mount --pid --fork --kill-child sh -euc '
        root=$1 work=$2
        shift 2
        # A root of its own, as on a machine: unshare makes new namespaces of it.
        mount --bind "$root" "$root"
        # The next platform need not fetch it again.
        mount --bind "$work/crates" "$root/root/.cargo/registry"
        mount --bind "$work/debs" "$root/var/cache/apt/archives"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        exec env -i "$@"' sh "$root" "$work" HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        $certificates chroot "$root" "$@"
}

copy_tree() { # copy_tree DIR: what git knows of, and what is new and not ignored
    mkdir -p "$1"
    git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"
}

# Adds up the results in these logs of runners.
counts() {
    awk '
        /^test result:/ { rust += $4; rust_failed += $6 }
        /^Files=/ { split($2, tests, /[=,]/); nginx += tests[2] }
        /^Ran [0-9]+ tests/ { peers += $2 }
        END { printf "%d Rust, %d nginx and %d peer tests", rust, nginx, peers; if (rust_failed) printf ", %d Rust failed", rust_failed }' "$@"
}

debian() { # debian SUITE
    needs debootstrap unshare
    make_root "$1" --include=ca-certificates,git,make
    [ "$1" = unstable ] || add_updates "$1"
    copy_tree "$root/root/txid"
    # Nobody debugs there, and every test is built once.
    printf '[build]\nincremental = false\n[profile.dev]\ndebug = false\n' >"$root/root/.cargo/config.toml"
    cat >"$root/root/newcomer.sh" <<'END'
set -eu
cd /root/txid
git init --quiet
free_port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
make run PORT="$free_port" >/tmp/run.log 2>&1 &
run=$!
until grep -q '^Serving' /tmp/run.log; do
    kill -0 $run 2>/dev/null || { cat /tmp/run.log; exit 1; }
    sleep 1
done
perl -MHTTP::Tiny -e 'print "make run: ", HTTP::Tiny->new->get($ARGV[0])->{headers}{"x-request-id"} // "no id", "\n"' \
    "http://127.0.0.1:$free_port/"
kill $run
wait $run || :
make test-all
make test-agent
END
    in_root sh /root/newcomer.sh >"$work/$platform.newcomer" 2>&1 || {
        tail -n 60 "$work/$platform.newcomer"
        fail "make run, make test-all or make test-agent; see target/platforms/$platform.newcomer"
    }
    is_id "$(sed -n 's/^make run: //p' "$work/$platform.newcomer")" "make run"
    result "make run, make test-all, make test-agent: $(counts "$root"/root/txid/target/test/*/*.log). $(in_root rustc --version | cut -d ' ' -f 1-2)," \
        "$(in_root /usr/sbin/nginx -v 2>&1 | sed 's|.*: ||'), $(in_root ldd --version | sed -n '1s/.* /glibc /p')"
    rm -rf "$root"
}

# The newest version of glibc that a file asks for.
newest_glibc() { readelf -W --version-info "$@" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1; }

lua_id='local lib = require "resty.txid.lib"
    assert(lib.engine == "native", lib.engine)
    assert(require("resty.txid.uuid").is_valid(require("resty.txid.uuid").v7()))
    print(require "resty.txid"())'

glibc() {
    needs debootstrap unshare cargo
    machine=$(uname -m)
    packaging/release-binaries.sh "$machine-unknown-linux-gnu.2.17"
    release=target/portable/$machine-unknown-linux-gnu/release
    newest=$(newest_glibc "$release/libtxid.so" "$release/txid")
    [ "$newest" = GLIBC_2.17 ] || fail "the release needs $newest"
    make_root bullseye --include=luajit
    mkdir -p "$root/txid"
    cp -r "$release/libtxid.so" "$release/txid" lua "$root/txid/"
    is_id "$(in_root /txid/txid)" "the command"
    is_id "$(in_root env LUA_PATH='/txid/lua/?.lua' LUA_CPATH='/txid/?.so' luajit -e "$lua_id")" "luajit"
    result "the $machine release ($(wc -c <"$release/libtxid.so") bytes, asks for $newest) makes ids in Debian 11," \
        "$(in_root ldd --version | sed -n '1s/.* /glibc /p')"
    rm -rf "$root"
}

# Debian has musl's loader and its compiler, but nothing that is linked with it.
musl() {
    needs musl-gcc cargo
    machine=$(uname -m)
    if ! said=$(packaging/release-binaries.sh "$machine-unknown-linux-musl"); then
        case $said in
            *skipped*) skip "$said" ;;
            *) fail "the release did not build" ;;
        esac
    fi
    release=target/portable/$machine-unknown-linux-musl/release
    rm -rf "$work/musl"
    mkdir -p "$work/musl"
    cp "$release/libtxid.so" "$work/musl/libtxid.so.2"
    musl-gcc -Wall -Werror -Iinclude examples/c/now.c "$work/musl/libtxid.so.2" -o "$work/musl/now"
    readelf -l "$work/musl/now" | grep -q ld-musl || fail "the C program does not ask for musl's loader"
    is_id "$(LD_LIBRARY_PATH=$work/musl "$work/musl/now")" "a C program"
    is_id "$("$release/txid")" "the command"
    result "the $machine release ($(wc -c <"$release/libtxid.so") bytes) makes ids in a C program with Debian's musl" \
        "$(dpkg-query -W -f '${Version}' musl 2>/dev/null || :), and from the command"
    rm -rf "$work/musl"
}

# No program of the chroot is executed: qemu reads them, so no binfmt_misc has to be set up.
arm64() {
    needs debootstrap unshare qemu-aarch64-static
    release=target/portable/aarch64-unknown-linux-gnu/release
    if cargo_has_arm64; then
        packaging/release-binaries.sh aarch64-unknown-linux-gnu.2.17
    else
        cross_build
    fi
    newest=$(newest_glibc "$release/libtxid.so" "$release/txid")
    [ "$newest" = GLIBC_2.17 ] || fail "the release needs $newest"

    make_root bookworm --foreign --arch=arm64 --include=nginx,libnginx-mod-http-lua,luajit2
    for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    arm() { qemu-aarch64-static -L "$root" "$@"; }
    is_id "$(arm "$release/txid")" "the command"
    is_id "$(LUA_PATH="lua/?.lua" LUA_CPATH="$release/?.so" arm "$root/usr/bin/luajit" -e "$lua_id")" "luajit"

    printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s/usr/sbin/nginx "$@"\n' "$root" "$root" >"$work/nginx-arm64"
    printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s/usr/bin/luajit "$@"\n' "$root" "$root" >"$work/luajit-arm64"
    chmod 755 "$work/nginx-arm64" "$work/luajit-arm64"
    modules=$root/usr/lib/nginx/modules
    rm -rf "$work/arm64-tree"
    copy_tree "$work/arm64-tree"
    mkdir -p "$work/arm64-tree/target/release"
    cp "$release/libtxid.so" "$work/arm64-tree/target/release/"
    # All of t/ takes hours under qemu. These are about what depends on the machine: the bits of an id, the clock,
    # processes. strong.t and snowflake*.t are not among them: strong.t needs seccomp, which qemu does not
    # have, and in the others programs that nginx starts did not run.
    suites="t/txid/format.t t/txid/arguments.t t/txid/time.t t/txid/workers.t t/txid/reload.t t/lua/codec.t t/lua/uuid.t"
    # shellcheck disable=SC2086 # a list of files
    (
        cd "$work/arm64-tree"
        TEST_NGINX_TIMEOUT=120 TEST_NGINX_BINARY=$work/nginx-arm64 TEST_NGINX_LOAD_MODULES="$modules/ndk_http_module.so $modules/ngx_http_lua_module.so" \
            prove -I t/lib $suites
    ) >"$work/arm64.prove" 2>&1 || { tail -n 40 "$work/arm64.prove"; fail "t/ under qemu"; }
    result "the aarch64 release ($(wc -c <"$release/libtxid.so") bytes, asks for $newest) under qemu-user: the command, LuaJIT, and" \
        "$(sed -n 's/^Files=.*Tests=\([0-9]*\).*/\1/p' "$work/arm64.prove") nginx tests of" "$suites"
    rm -rf "$root" "$work/arm64-tree"
}

cargo_has_arm64() {
    [ -n "$(find "$(rustc --print target-libdir --target aarch64-unknown-linux-gnu)" -name 'libstd-*.rlib' 2>/dev/null)" ]
}

# Where rustup has no standard library for arm64, Debian 13 has one for its own Rust.
cross_build() {
    echo "there is no standard library for aarch64 here: building in a Debian 13, whose package has one"
    make_root trixie --include=ca-certificates,cargo,gcc,libc6-dev,python3-venv
    in_root dpkg --add-architecture arm64
    in_root apt-get update
    in_root apt-get install -y --no-install-recommends libstd-rust-dev:arm64
    copy_tree "$root/root/txid"
    in_root sh -c 'cd /root/txid && packaging/release-binaries.sh aarch64-unknown-linux-gnu.2.17'
    mkdir -p "$release"
    cp "$root/root/txid/$release/libtxid.so" "$root/root/txid/$release/txid" "$release/"
    rm -rf "$root"
}

openresty() {
    [ -n "${OPENRESTY_SRC-}" ] || skip "OPENRESTY_SRC= has no sources of OpenResty: a directory with its configure, or the .tar.gz"
    scripts/need.sh build suites openresty
    rm -rf "$work/openresty-src" "$work/openresty"
    mkdir -p "$work/openresty-src"
    if [ -d "$OPENRESTY_SRC" ]; then
        cp -r "$OPENRESTY_SRC/." "$work/openresty-src"
    else
        tar -x -z -f "$OPENRESTY_SRC" -C "$work/openresty-src" --strip-components=1
    fi
    (
        cd "$work/openresty-src"
        ./configure --prefix="$work/openresty" --with-http_ssl_module --with-http_v2_module --with-http_realip_module \
            --with-http_auth_request_module --with-stream --with-compat --with-threads
        make -j "$(nproc)"
        make install
    ) >"$work/openresty.build" 2>&1 || { tail -n 20 "$work/openresty.build"; fail "OpenResty did not build"; }
    cargo build --locked --release
    cargo build --locked --manifest-path agent/Cargo.toml --target-dir target
    NGINX_SRC=$(echo "$work"/openresty-src/build/nginx-[0-9]*) NGINX_OUT=$work/openresty-modules scripts/nginx-module.sh
    TXID_NGINX_MODULES=$work/openresty-modules PATH="$work/openresty/bin:$work/openresty/luajit/bin:$PATH" \
        scripts/prove.sh >"$work/openresty.prove" 2>&1 \
        || { grep -v ' ok$' "$work/openresty.prove" | tail -n 40; fail "t/ on OpenResty"; }
    result "$("$work/openresty/bin/openresty" -v 2>&1 | sed 's|.*: ||'): $(counts "$work/openresty.prove")"
    rm -rf "$work/openresty-src" "$work/openresty" "$work/openresty-modules"
}

failed=
for platform in "$@"; do
    case $platform in
        debian-12) run="debian bookworm" ;;
        debian-13) run="debian trixie" ;;
        debian-unstable) run="debian unstable" ;;
        glibc | musl | arm64 | openresty) run=$platform ;;
        *) echo "txid: there is no platform '$platform': glibc, musl, arm64, debian-12, debian-13, debian-unstable or openresty" >&2; exit 2 ;;
    esac
    rm -f "$work/$platform.result" "$work/$platform.skipped"
    start=$(date +%s)
    # In a shell of its own, where a command that fails ends it.
    (set -eu; $run) >"$work/$platform.log" 2>&1 &
    wait $! || :
    took="$(date -u +%Y-%m-%d), $((($(date +%s) - start + 59) / 60)) min"
    if [ -f "$work/$platform.result" ]; then
        echo "ok - $platform: $(cat "$work/$platform.result") ($took)"
    elif [ -f "$work/$platform.skipped" ]; then
        echo "skipped - $platform: $(cat "$work/$platform.skipped")"
    else
        tail -n 20 "$work/$platform.log"
        echo "not ok - $platform ($took); see target/platforms/$platform.log"
        failed="$failed $platform"
    fi
done
[ -z "$failed" ] || { echo "txid: failed:$failed" >&2; exit 1; }
