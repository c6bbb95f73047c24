# The RPMs: checks their lists of files and their dependencies, and unpacks them to check that the files work together.
. packaging/test/_common.sh

. packaging/facts.sh
make --no-print-directory rpm NGINX_SRC=/usr/share/nginx/src

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
printf '/usr/lib64/nginx/modules/ngx_%s_txid_module.so\n' http stream >"$tmp/nginx-module-txid"
for package in libtxid libtxid-devel lua-resty-libtxid nginx-module-txid txid txid-agent; do
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
nginx=$(sed -n 's/#define NGINX_VERSION *"\(.*\)"/\1/p' /usr/share/nginx/src/src/core/nginx.h)
has "$(rpm -qp --requires "dist/nginx-module-txid-$version-1."*.rpm)" "(nginx-r$nginx or nginx(abi) = $nginx)"
rpmlint --config packaging/rpmlint.toml dist/*.rpm || fail "rpmlint"

is_id "$("$tmp/usr/bin/txid")" "the command"
id=$(cd "$tmp" && LUA_PATH="$tmp/usr/share/lua/5.1/?.lua" LUA_CPATH=/nowhere/?.so LD_LIBRARY_PATH="$tmp/usr/lib64" luajit -e '
    local lib = require "resty.txid.lib"
    assert(lib.engine == "native" and lib.path == "libtxid.so.2", lib.path)
    print(require "resty.txid"())')
is_id "$id" "luajit with the files of the RPMs"

# On a system with the original library and a package that needs it: ours takes its place, and its dependent stays. A package
# provides all that ours need of the system itself, such as a C library.
system=$tmp/system
cat >"$tmp/others.spec" <<END
Name: others
Version: 1.0.0
Release: 1
Summary: What ours meet on a system
License: MIT
%description
%{summary}.
%package -n base
Summary: The system
$(rpm -qp --requires dist/*.rpm | grep -Ev 'rpmlib|libtxid|nginx-r|^/bin/sh' | sed 's/^/Provides: /' | sort -u)
Provides: /bin/sh
Provides: nginx(abi) = $nginx
%description -n base
%{summary}.
%package -n NAME
Summary: The original
%description -n NAME
%{summary}.
%package -n dependent
Summary: It needs the original
Requires: NAME
%description -n dependent
%{summary}.
%install
mkdir -p %{buildroot}/usr/share/lua/5.1/resty
echo 'error "this is the original library"' >%{buildroot}/usr/share/lua/5.1/resty/txid.lua
%files -n base
%files -n NAME
/usr/share/lua/5.1/resty/txid.lua
%files -n dependent
END
for name in lua-resty-txid lua5.1-resty-txid; do
    sed "s/NAME/$name/" "$tmp/others.spec" >"$tmp/$name.spec"
    rpmbuild -bb "$tmp/$name.spec" --define "_topdir $tmp/$name" >"$tmp/$name.log" 2>&1 || { tail -n 5 "$tmp/$name.log"; fail "rpmbuild of others"; }
    rm -rf "$system"
    mkdir -p "$system"
    installs() { rpm --root "$system" --noscripts "$@" || fail "rpm $*"; }
    installs -i "$tmp/$name/RPMS"/*/base-*.rpm "$tmp/$name/RPMS"/*/$name-*.rpm "$tmp/$name/RPMS"/*/dependent-*.rpm
    installs -U dist/libtxid-"$version"-1.*.rpm dist/lua-resty-libtxid-"$version"-1.noarch.rpm dist/nginx-module-txid-"$version"-1.*.rpm
    installed=" $(rpm --root "$system" -qa --qf '%{NAME} ')"
    has "$installed" " dependent "
    has "$installed" " lua-resty-libtxid "
    case $installed in *" $name "*) fail "$name is still there: $installed" ;; esac
    cmp -s lua/resty/txid.lua "$system/usr/share/lua/5.1/resty/txid.lua" || fail "$name: resty/txid.lua is not ours"
done
