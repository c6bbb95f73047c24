#!/bin/sh
# Packs dist/*.deb from what make build and make nginx-module built.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
command -v dpkg-deb >/dev/null || { echo "txid: dpkg-deb is missing: pack Debian packages on Debian" >&2; exit 1; }
host=${repository#*://}
host=${host%%/*}
architecture=$(dpkg --print-architecture)
stage=target/deb
packaging/stage.sh $stage "/usr/lib/$(cc -print-multiarch)"

# Debian's zsh looks elsewhere than Fedora's.
mv $stage/txid/usr/share/zsh/site-functions $stage/txid/usr/share/zsh/vendor-completions

# The newest version of glibc that a symbol asks for.
needs_libc() {
    newest=$(readelf -W --version-info "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    libc="libc6 (>= ${newest#GLIBC_})"
    readelf -W --dynamic "$1" | grep -q 'libgcc_s' && libc="$libc, libgcc-s1" || :
    echo "$libc"
}

pack() { # pack PACKAGE ARCHITECTURE [BINARY]
    root=$stage/$1
    doc=$root/usr/share/doc/$1
    mkdir -p "$root/DEBIAN" "$doc"
    cp LICENSE "$doc/copyright"
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    {
        sed "s|@VERSION@|$version-1|; s|@LIBC@|${3:+$(needs_libc "$3")}|; s|@ABI@|$(nginx_abi)|" "packaging/deb/$1" | sed '/^Description:/,$d'
        cat <<END
Version: $version-1
Architecture: $2
Maintainer: the txid authors <noreply@$host>
Homepage: $repository
Priority: optional
Installed-Size: $(du -k -s "$root/usr" | cut -f 1)
END
        sed -n '/^Description:/,$p' "packaging/deb/$1"
    } >"$root/DEBIAN/control"
    [ ! -d "$root/etc" ] || (cd "$root" && find etc -type f | sed 's|^|/|') >"$root/DEBIAN/conffiles"
    [ "$1" != libtxid ] || echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
    (cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
    chmod -R u+w,go-w,a+rX "$root"
    dpkg-deb --root-owner-group -Zxz --build "$root" "dist/$1_$version-1_$2.deb" >/dev/null
    echo "dist/$1_$version-1_$2.deb"
}

# The nginx that a module fits: what it was built with.
nginx_abi() { sed -n 's/^nginx:abi=//p' /usr/share/nginx/src/debian/libnginx-mod.abisubstvars; }

pack_module() { # pack_module KIND NUMBER: NUMBER says when nginx loads it
    package=libnginx-mod-$1-txid
    conf=mod-$1-txid.conf
    root=$stage/$package
    mkdir -p "$root/usr/lib/nginx/modules" "$root/usr/share/nginx/modules-available" "$root/DEBIAN"
    install -m 644 "target/nginx/ngx_$1_txid_module.so" "$root/usr/lib/nginx/modules/"
    echo "load_module modules/ngx_$1_txid_module.so;" >"$root/usr/share/nginx/modules-available/$conf"
    # What dh_nginx would put there enables the module and has nginx reloaded.
    for script in postinst prerm postrm; do
        {
            printf '#!/bin/sh\nset -e\n'
            sed "s/#NAMES#/$conf:$2-$conf/" /usr/share/debhelper/autoscripts/$script-nginx
        } >"$root/DEBIAN/$script"
        chmod 755 "$root/DEBIAN/$script"
    done
    pack "$package" "$architecture" "target/nginx/ngx_$1_txid_module.so"
}

mkdir -p dist
pack libtxid "$architecture" target/release/libtxid.so
pack lua-resty-txid all
pack txid "$architecture" target/release/txid
pack txid-agent "$architecture" target/release/txid-agent
pack_module http 50
# Behind stream itself.
pack_module stream 70
