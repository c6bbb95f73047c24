# The RPMs: checks their lists of files and their dependencies, and unpacks them to check that the files work together.
. packaging/test/_common.sh

. packaging/facts.sh
make --no-print-directory rpm

lists() { rpm -qp --qf '[%{FILENAMES}\n]' "dist/$1-$version-1."*.rpm | sort; }

(cd lua && find resty) | sed 's|^|/usr/share/lua/5.1/|' >"$tmp/lua-resty-libtxid"
echo /usr/lib64/libtxid.so.2 >"$tmp/libtxid"
printf '%s\n' /usr/lib64/libtxid.so /usr/lib64/libtxid.a /usr/lib64/pkgconfig/txid.pc /usr/include/txid.h >"$tmp/libtxid-devel"
{
    echo /usr/bin/txid
    printf '/usr/share/man/man1/%s.gz\n' $(ls target/release/man)
    printf '/usr/share/%s\n' bash-completion/completions/txid zsh/site-functions/_txid fish/vendor_completions.d/txid.fish
    echo /usr/share/txid
    (cd readers && find sql) | sed 's|^|/usr/share/txid/|'
} >"$tmp/txid"
{
    printf '%s\n' /usr/lib/sysusers.d/txid-agent.conf /usr/share/txid-agent /usr/share/txid-agent/agent.schema.json
    printf '%s\n' /etc/txid/agent.toml /usr/bin/txid-agent /usr/lib/systemd/system/txid-agent.service
    printf '/usr/share/man/man1/%s.gz\n' $(ls target/release/agent/man)
    printf '/usr/share/%s\n' bash-completion/completions/txid-agent zsh/site-functions/_txid-agent fish/vendor_completions.d/txid-agent.fish
} >"$tmp/txid-agent"
for package in libtxid libtxid-devel lua-resty-libtxid txid txid-agent; do
    printf '%s\n' "/usr/share/licenses/$package" "/usr/share/licenses/$package/LICENSE" >>"$tmp/$package"
    [ $package = lua-resty-libtxid ] || printf "/usr/share/licenses/$package/%s\n" crates.txt sbom.cdx.json >>"$tmp/$package"
    [ $package = libtxid ] || printf '%s\n' "/usr/share/doc/$package" "/usr/share/doc/$package/CHANGELOG.md" >>"$tmp/$package"
    lists $package >"$tmp/$package.packed"
    sort "$tmp/$package" | diff - "$tmp/$package.packed" || fail "$package has other files"
    rpm2cpio "dist/$package-$version-1."*.rpm | (cd "$tmp" && cpio -idm --quiet)
done
has_no_paths "$tmp/usr"
has "$(rpm -qp --requires "dist/lua-resty-libtxid-$version-1.noarch.rpm")" "libtxid = $version-1"
has "$(rpm -qp --requires "dist/libtxid-devel-$version-1."*.rpm)" "libtxid("
rpmlint --config packaging/rpmlint.toml dist/*.rpm || fail "rpmlint"

is_id "$("$tmp/usr/bin/txid")" "the command"
id=$(cd "$tmp" && LUA_PATH="$tmp/usr/share/lua/5.1/?.lua" LUA_CPATH=/nowhere/?.so LD_LIBRARY_PATH="$tmp/usr/lib64" luajit -e '
    local lib = require "resty.txid.lib"
    assert(lib.engine == "native" and lib.path == "libtxid.so.2", lib.path)
    print(require "resty.txid"())')
is_id "$id" "luajit with the files of the RPMs"
