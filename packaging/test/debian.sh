# The Debian packages, in a fresh Debian: the example serves ids, and removal leaves nothing behind.
. packaging/test/_common.sh
. packaging/test/_chroot.sh
. packaging/test/_service.sh

make --no-print-directory deb

# A lintian that does not know a tag refuses it.
grep -o '^[a-z].*' packaging/lintian | while read -r tag; do
    ! lintian-explain-tags "$tag" >/dev/null 2>&1 || echo "$tag"
done >"$tmp/tags"
lintian --allow-root --display-info --pedantic --suppress-tags-from-file "$tmp/tags" dist/*.deb >"$tmp/lintian"
[ ! -s "$tmp/lintian" ] || fail "lintian complains: $(cat "$tmp/lintian")"

for package in dist/*.deb; do dpkg-deb --extract "$package" "$tmp/unpacked"; done
has_no_paths "$tmp/unpacked"

if [ "$(id -u)" -ne 0 ]; then
    echo "# the packages were made but not installed: a chroot needs root"
    exit 0
fi
. /etc/os-release
if [ "$ID" != debian ]; then
    echo "# the packages were made but not installed: this is not Debian"
    exit 0
fi

fresh "$VERSION_CODENAME" nginx,libnginx-mod-http-lua,libnginx-mod-stream,procps,systemd-sysv,dbus
cp dist/*.deb "$root/tmp/"
files >"$tmp/before"

# On a system with the original library and a package that needs it: ours takes its place, and its dependent stays.
other() { # other PACKAGE FIELD
    mkdir -p "$tmp/$1/DEBIAN"
    printf 'Package: %s\nVersion: 1.0.0-1\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: a stand-in\n%s' "$1" "$2" \
        >"$tmp/$1/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$tmp/$1" "$root/tmp/$1.deb" >/dev/null
}
mkdir -p "$tmp/lua-resty-txid/usr/share/lua/5.1/resty"
echo 'error "this is the original library"' >"$tmp/lua-resty-txid/usr/share/lua/5.1/resty/txid.lua"
other lua-resty-txid ""
other dependent "Depends: lua-resty-txid (>= 1.0)
"
in_root sh -c 'cd /tmp && dpkg -i lua-resty-txid.deb dependent.deb && rm lua-resty-txid.deb dependent.deb'
in_root sh -c 'dpkg -i --auto-deconfigure /tmp/*.deb'
[ "$(in_root dpkg-query -W -f '${db:Status-Abbrev}' dependent)" = "ii " ] || fail "the package that needs the original: $(in_root dpkg -l dependent lua-resty-txid)"
if in_root dpkg-query -W -f '${db:Status-Abbrev}' lua-resty-txid 2>/dev/null | grep '^i'; then fail "the original is still there"; fi

is_id "$(in_root txid)" "the command"
in_root ldconfig -p | grep -q 'libtxid\.so\.2' || fail "the loader does not find the library"
for command in txid txid-agent; do
    [ -s "$root/usr/share/man/man1/$command.1.gz" ] || fail "there is no manual of $command"
done

for file in readers/sql/*.sql; do
    cmp "$file" "$root/usr/share/txid/sql/${file##*/}" || fail "there is no $file"
done

serve nginx
id=$(header x-request-id "http://127.0.0.1:$port/")
is_id "$id" "Debian's nginx"
has "$(cat "$root/srv/logs/ids.log")" "$id"
stop

serve native
id=$(header x-request-id "http://127.0.0.1:$port/")
is_id "$id" "Debian's nginx, without Lua"
has "$(cat "$root/srv/logs/ids.log")" "$id"
stop

leases=$(in_root txid-agent run --store file:///tmp/leases --dir /tmp/run --assume-unused-store --node orders=snowflake -- txid-agent status --dir /tmp/run)
has "$leases" "orders: node "
rm -r "$root/tmp/leases" "$root/tmp/run"

# systemd accepts the unit. Removing the package also removes what enabled it.
said=$(in_root systemd-analyze verify --man=no txid-agent.service 2>&1) || fail "the unit: $said"
[ -z "$said" ] || fail "the unit: $said"
in_root systemctl --quiet enable txid-agent
# It is well confined: of 100, at most 20 are open.
said=$(in_root systemd-analyze security --offline=true --threshold=20 --no-pager txid-agent.service 2>&1) || fail "the unit: $said"

# As its user, who may write to the directories that systemd makes, and to no other.
in_root sh -c 'mkdir /tmp/txid && chown txid: /tmp/txid'
as_txid() { in_root setpriv --reuid=txid --regid=txid --clear-groups "$@"; }
leases=$(as_txid txid-agent run --store file:///tmp/txid/leases --dir /tmp/txid/run --assume-unused-store --node orders=snowflake -- txid-agent status --dir /tmp/txid/run)
has "$leases" "orders: node "
if said=$(as_txid txid-agent run --store file:///tmp/txid/leases --dir /etc/txid-run --node orders=snowflake 2>&1); then
    fail "the agent made files in /etc as txid"
fi
has "$said" "Permission denied"
has "$said" "; give a directory that this user may write to with --dir"
rm -r "$root/tmp/txid"

service_works "$root"

# A C program with the files of the development package: compiled here, run there.
(
    export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
    PKG_CONFIG_LIBDIR=$(echo "$root"/usr/lib/*/pkgconfig)
    export PKG_CONFIG_LIBDIR
    # shellcheck disable=SC2046 # options
    cc -Wall -Wextra -Werror examples/c/now.c $(pkg-config --cflags --libs txid) -o "$root/tmp/now"
)
is_id "$(in_root /tmp/now)" examples/c/now.c
rm "$root/tmp/now"
in_root dpkg --purge dependent lua-resty-txid lua-resty-libtxid libtxid-dev libtxid2 txid txid-agent libnginx-mod-http-txid libnginx-mod-stream-txid
files >"$tmp/after"
diff "$tmp/before" "$tmp/after" || fail "the packages left something"
