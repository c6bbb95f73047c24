# The commands of README.md and of the first pages, as they stand and in order: each row of *Install* and each page in a fresh
# Debian, with only the packages that the page says to install. They share compiled files. RELEASE=trixie takes Debian 13, and UNITS= a regular
# expression of pages and parts, such as 'README|What|row 20'. It prints how long each took.
. packaging/test/_common.sh

command -v debootstrap >/dev/null && [ "$(id -u)" -eq 0 ] || { echo "# no command of a page was run: a fresh Debian needs debootstrap and root"; exit 0; }
release=${RELEASE:-bookworm} wanted=${UNITS:-.}

# Commands that are not run, as extended regular expressions, and why. One that matches none is an error.
cat >"$tmp/not-run" <<'END_OF_LIST'
make rpm .*|it is for Fedora; packaging/test/rpm.sh
make test.*|it takes minutes; make test-platforms
make check|it needs what make test installs
docker .*|packaging/test/containers.sh
cp -r packaging/nginx-image/.*|nginx's repository is not here; packaging/test/nginx-image.sh
for rock in .*|packaging/test/rocks.sh
make nginx-module NGINX_SRC=.*|no other sources of nginx are there
kong .*|Debian has no Kong; make test-gateways
apisix .*|Debian has no APISIX; make test-gateways
curl .*:8001/.*|it asks Kong
curl .*:9180/.*|it asks APISIX
txid-agent run .*10\.0\.0\.5.*|the store is on another host; t/documents.t
txid-agent run \.\.\. .*|it is a part of a command
END_OF_LIST

# Prints each command of a page, with its part and its line. Commands are in blocks of sh and console, and in code in the second column of a
# table of README.md or docs/install.md. Sections, and rows of ways to install, are parts of their own. `apt install` is anywhere.
cat >"$tmp/commands" <<'END_OF_PERL'
my ($page, $part, $language) = ($ARGV[0], 'all', '');
while (<>) {
    if (/^```(\w*)/) { $language = $language ? '' : $1 || 'text' }
    elsif ($language) { print "$part|$.|$1\n" if $language eq 'sh' && /^(.+)/ || $language eq 'console' && /^\$ (.+)/ }
    elsif ($page =~ /README|install/ && /^## (.*)/) { $part = $1 }
    else {
        my $is_row = $page =~ /README|install/ && /^\| /;
        my $row = $is_row && $part =~ /^(?:Install|Ways)$/ ? "$part, row $." : $part;
        for (/`([^`]+)`/g) { print "$row|$.|$_\n" if /^apt install / || $is_row && /^(?:make|luarocks|docker|cargo|sudo) / }
    }
}
END_OF_PERL
# block PAGE LANGUAGE NUMBER
block() { perl -e '($l, $n, @p) = @ARGV; local ($/, @ARGV) = (undef, @p); print ((<> =~ /^```$l\n(.*?)^```$/gms)[$n - 1])' "$2" "$3" "$1"; }

base=$tmp/base
mkdir -p "$base" "$tmp/target" "$tmp/root"
debootstrap --variant=minbase --include=ca-certificates "$release" "$base" >"$tmp/debootstrap" 2>&1 || { tail -n 5 "$tmp/debootstrap"; fail "debootstrap"; }
mirror=$(sed -n 's/^deb \([^ ]*\) .*/\1/p' "$base/etc/apt/sources.list" | head -n 1)
printf 'deb %s main\n' "$mirror $release-updates" "${mirror%debian}debian-security $release-security" >>"$base/etc/apt/sources.list"
cp /etc/hosts /etc/resolv.conf "$base/etc/"
export certificates=
[ -z "${SSL_CERT_FILE-}" ] || { cp -L "$SSL_CERT_FILE" "$base/etc/host.pem"; certificates="SSL_CERT_FILE=/etc/host.pem CARGO_HTTP_CAINFO=/etc/host.pem"; }
echo 'APT::Get::Assume-Yes "true";' >"$base/etc/apt/apt.conf.d/yes"
printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d" && chmod 755 "$base/usr/sbin/policy-rc.d"
cargo_registry=${CARGO_HOME:-$HOME/.cargo}/registry
mkdir -p "$base/root/txid/target" "$base/root/.cargo/registry" "$cargo_registry"
tar -c --exclude ./target --exclude ./dist . | tar -x -C "$base/root/txid"

# in_fresh COMMAND...: in the base with a layer on top.
in_fresh() {
    # shellcheck disable=SC2016 # the inner shell's variables
    unshare --mount --pid --fork --kill-child sh -euc '
        mount -t overlay overlay -o "lowerdir=$1/base,upperdir=$1/layer,workdir=$1/work" "$1/root"
        cd "$1/root"
        mount --bind "$1/target" root/txid/target
        mount --bind "$2" root/.cargo/registry
        mount -t proc proc proc
        mount --rbind /dev dev
        shift 2
        exec env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            $certificates chroot . "$@"' sh "$tmp" "$cargo_registry" "$@"
}

# serves PAGE: nginx with the page's first block, and with the second that it may have, as a file in /etc/nginx/conf.d, replaces a client's id,
# upstream, in the response and in the log, and gives a 400 one. A part of a unit's script.
serves() {
    for more in "" "$(block "$1" nginx 2)"; do
        cat <<END_OF_STEP
    cat >/etc/nginx/conf.d/ids.conf <<'END_OF_BLOCK'
$(block "$1" nginx 1 | sed "s/8080/$port/; s/127.0.0.1:3000/127.0.0.1:$backend/; ${more:+/^init_by_lua_block /d}")
$more
server {
    listen 127.0.0.1:$backend;
    $(block "$1" nginx 1 | sed -n 's/^\([a-z_]*_by_lua_block\) .*handle().*/\1 { return }/p; s/^txid_handle on;.*/txid_handle off;/p')
    return 200 "\$http_x_request_id\n";
}
END_OF_BLOCK
    rm -f /etc/nginx/sites-enabled/default
    nginx
    curl -s -i -H 'X-Request-Id: forged' http://127.0.0.1:$port/ | tr -d '\r' >/tmp/answer
    got=\$(sed -n 's/^X-Request-Id: //p' /tmp/answer)
    echo "\$got" | grep -Ex '$id'
    [ "\$(tail -n 1 /tmp/answer)" = "\$got" ]
    curl -s -i -H 'Host: a b' http://127.0.0.1:$port/ | tr -d '\r' | grep -Ex 'X-Request-Id: $id'
    sleep 1
    grep -E "\"GET / HTTP/1.1\" 200 .* \$got\$" /var/log/nginx/ids.log
    nginx -s quit && while [ -s /run/nginx.pid ]; do sleep 0.1; done
END_OF_STEP
        [ "$1" != README.md ] || break
    done
    echo "rm /etc/nginx/conf.d/ids.conf"
}

# step PAGE COMMAND: how it is run.
step() {
    case $2 in
        "make try") echo "[ -s /tmp/served ] || { PORT=$port make try >/tmp/served 2>&1 & }; until grep '^Serving' /tmp/served; do sleep 1; done" ;;
        *"X-Request-Id: forged"*) ;; # serves does it
        "cargo add "*)
            echo "cargo new --quiet --vcs none /tmp/project && cd /tmp/project && $(echo "$2" | sed 's|PATH/TO|/root|')"
            for n in 1 2 3; do echo "[ ! -s /root/rust-$n ] || { cp /root/rust-$n src/main.rs && cargo run --quiet; }"; done ;;
        curl\ * | luajit\ * | *./now | txid-agent\ run*[!\&]) echo "{ $2; } >/tmp/said && cat /tmp/said && grep -E '(^|[ :])($id|[0-9]{15,19}|1)[^0-9a-z]*$' /tmp/said" ;;
        *) echo "$2" ;;
    esac | sed "s/:8080/:$port/; s/sudo //g"
    case "$1 $2" in
        *"cp -r lua/resty"*)
            echo "apt install curl"
            serves README.md
            # A wrong path keeps nginx from its start, and is named.
            echo "mv /usr/local/share/lua/5.1/resty /tmp/moved; echo 'init_by_lua_block { require \"resty.txid.request\" }' >/etc/nginx/conf.d/ids.conf"
            echo "! nginx >/tmp/said 2>&1; grep \"no file '/usr/local/share/lua/5.1/resty/txid/request.lua'\" /tmp/said" ;;
        *lua-resty-libtxid_*) echo "apt install curl nginx libnginx-mod-http-lua"; serves README.md; echo "apt purge lua-resty-libtxid" ;;
        *libnginx-mod-http-txid_*) echo "apt install curl"; serves docs/quick-start-nginx.md ;;
        *"install.md make build && sudo make install && sudo ldconfig") echo "apt install curl nginx libnginx-mod-http-lua"; serves docs/quick-start-openresty.md ;;
    esac
}

id='[0-9a-v]{19}[0g]' port=$(free_port) backend=$(free_port)
for n in 1 2 3; do block docs/rust.md rust $n >"$base/root/rust-$n"; done
{
    perl "$tmp/commands" README.md | sed 's/^/README.md|/'
    for name in docs/install docs/quick-start-openresty docs/quick-start-nginx docs/quick-start-kong docs/quick-start-apisix docs/c docs/rust \
        docs/segments docs/other-languages agent/README agent/docs/leases agent/docs/children; do
        perl "$tmp/commands" "$name.md" | sed "s|^|$name.md\||"
    done
} >"$tmp/all"
cut -d '|' -f 1,2 "$tmp/all" | uniq >"$tmp/units"
grep -E "$wanted" "$tmp/units" >"$tmp/chosen"
while IFS='|' read -r page part; do
    awk -F '|' -v page="$page" -v part="$part" '$1 == page && $2 == part' "$tmp/all" | while IFS='|' read -r _ _ line command; do
        if printf '%s\n' "$command" | grep -Eqx "$(cut -d '|' -f 1 "$tmp/not-run" | paste -s -d '|')"; then
            printf '%s\n' "$command" >>"$tmp/passed-over"
        else
            printf 'echo "%s, line %s, $(date +%%T)"\n' "$page" "$line"
            # Debian 12 calls its newer Rust cargo-web, as the pages say.
            step "$page" "$command" | if [ "$release" = bookworm ]; then sed 's/^\(apt install .*\)\<cargo\>/\1cargo-web/'; else cat; fi
        fi
    done >"$tmp/unit"
    case $page,$part in
        # From here on, all have what this says that a checkout needs.
        "docs/install.md,What building needs") in_system="chroot $base" ;;
        *) in_system=in_fresh ;;
    esac
    rm -rf "$tmp/layer" "$tmp/work" && mkdir "$tmp/layer" "$tmp/work"
    { echo 'set -eux; apt update; cd /root/txid; export PATH=/root/txid/target/release:$PATH'; cat "$tmp/unit"; } >"$tmp/script"
    start=$(date +%s)
    $in_system sh <"$tmp/script" >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; fail "$page, $part"; }
    echo "# $page, $part: $(($(date +%s) - start)) s"
done <"$tmp/chosen"
[ "$wanted" = . ] || exit 0
cut -d '|' -f 1 "$tmp/not-run" | while read -r pattern; do grep -Eqx "$pattern" "$tmp/passed-over" || fail "no page has the command $pattern"; done
echo "# $(($(wc -l <"$tmp/all") - $(wc -l <"$tmp/passed-over"))) commands of the pages ran in $release"
