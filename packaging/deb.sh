#!/bin/sh
# Packs dist/*.deb from what make build, agent and nginx-module built: one package for each file in packaging/deb.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
command -v dpkg-deb >/dev/null || { echo "txid: dpkg-deb is missing: pack Debian packages on Debian" >&2; exit 1; }
host=${repository#*://}
host=${host%%/*}
maintainer="the txid authors <noreply@$host>"
architecture=$(dpkg --print-architecture)
lib_dir=/usr/lib/$(cc -print-multiarch)
stage=$PWD/target/deb
packaging/stage.sh "$stage" "$lib_dir"

# Debian's zsh looks in a different directory than Fedora's.
for part in command agent; do mv "$stage/$part/usr/share/zsh/site-functions" "$stage/$part/usr/share/zsh/vendor-completions"; done

# The dependencies of the binaries in a directory: the newest version of glibc that their symbols need.
needs_libc() {
    dynamic=$(find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec readelf -W --dynamic --version-info {} +)
    newest=$(echo "$dynamic" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    echo "libc6 (>= ${newest#GLIBC_})$(! echo "$dynamic" | grep -q libgcc_s || echo ", libgcc-s1 (>= 3.0)")"
}

copyright() {
    cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: txid
Source: $repository

Files: *
$(sed -n 's/^Copyright (c)/ /p' LICENSE | sed '1s/^ /Copyright:/')
License: MIT
END
    sed -n '/^Permission/,$p' LICENSE | sed 's/^/ /; s/^ $/ ./'
}

changelog() {
    cat <<END
txid ($version-1) unstable; urgency=medium

  * Release $version; see changelog.gz.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
}

# The dependencies of packages that link with a library, and the trigger for the loader's cache.
for_linking() { # for_linking PACKAGE LIBRARY DIR
    soname=${2##*/}
    echo "${soname%.so.*} ${soname##*.so.} $1 (>= $version)" >"$3/shlibs"
    {
        echo "$soname $1 #MINVER#"
        echo "* Build-Depends-Package: ${soname%.so.*}-dev"
        readelf -W --dyn-syms "$2" | awk -v v="$version" '$7 != "UND" && $8 ~ /^txid_/ { print " " $8 "@Base " v }' | sort
    } >"$3/symbols"
    echo "activate-noawait ldconfig" >"$3/triggers"
}

pack() { # pack PACKAGE
    control=packaging/deb/$1
    field() { sed -n "s/^$1: //p" "$control"; }
    root=$stage/$(field Stage)
    case $(field Architecture) in
        all) for=all ;;
        *) for=$architecture ;;
    esac
    doc=$root/usr/share/doc/$1
    mkdir -p "$root/DEBIAN" "$doc"
    copyright >"$doc/copyright"
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    changelog | gzip -9n >"$doc/changelog.Debian.gz"
    crates=$(field Crates)
    [ -z "$crates" ] || python3 packaging/crates.py "$doc" "$crates"
    for library in "$root$lib_dir"/lib*.so.[0-9]*; do
        [ ! -f "$library" ] || for_linking "$1" "$library" "$root/DEBIAN"
    done
    {
        sed "/^Stage:/d; /^Crates:/d; s/^Architecture:.*/Architecture: $for/; s|@VERSION@|$version-1|g; s|@LIBC@|$(needs_libc "$root")|; s|@ABI@|$(nginx_abi)|" \
            "$control" | sed '/^Description:/,$d'
        cat <<END
Source: txid
Version: $version-1
Maintainer: $maintainer
Homepage: $repository
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
END
        sed -n '/^Description:/,$p' "$control"
    } >"$root/DEBIAN/control"
    [ ! -d "$root/etc" ] || (cd "$root" && find etc -type f | sed 's|^|/|') >"$root/DEBIAN/conffiles"
    (cd "$root" && find usr -type f | sort | xargs -d "\n" md5sum) >"$root/DEBIAN/md5sums"
    chmod -R u+w,go-w,a+rX "$root"
    dpkg-deb --root-owner-group -Zxz --build "$root" "dist/$1_$version-1_$for.deb" >/dev/null
    echo "dist/$1_$version-1_$for.deb"
}

# The nginx that a module fits: the one it was built with.
nginx_abi() { sed -n 's/^nginx:abi=//p' /usr/share/nginx/src/debian/libnginx-mod.abisubstvars; }

# Writes a maintainer script of debhelper's snippets.
debhelper() { # debhelper ROOT SCRIPT SED-SCRIPT PART...
    to=$1/DEBIAN/$2 edit=$3
    shift 3
    mkdir -p "${to%/*}"
    {
        printf '#!/bin/sh\nset -e\n'
        for part in "$@"; do sed "$edit" "/usr/share/debhelper/autoscripts/$part"; done
    } >"$to"
    chmod 755 "$to"
}

stage_module() { # stage_module KIND NUMBER: NUMBER says when nginx loads it
    conf=mod-$1-txid.conf
    root=$stage/$1-module
    mkdir -p "$root/usr/lib/nginx/modules" "$root/usr/share/nginx/modules-available"
    install -m 644 "target/nginx/ngx_$1_txid_module.so" "$root/usr/lib/nginx/modules/"
    strip --strip-unneeded --remove-section=.comment "$root/usr/lib/nginx/modules/ngx_$1_txid_module.so"
    echo "load_module modules/ngx_$1_txid_module.so;" >"$root/usr/share/nginx/modules-available/$conf"
    # The scripts that dh_nginx would add: they enable the module, and reload nginx.
    for script in postinst prerm postrm; do
        debhelper "$root" $script "s/#NAMES#/$conf:$2-$conf/" $script-nginx
    done
}
stage_module http 50
# Loaded after stream itself.
stage_module stream 70

# The agent has a user of its own, is off until it has a configuration, is restarted by an upgrade, and stops when its package goes.
unit='s/#CONFILE_BASENAME#/txid-agent.conf/; s/#UNITFILES*#/txid-agent.service/; s/#RESTART_ACTION#/try-restart/'
debhelper "$stage/agent" postinst "$unit" postinst-sysusers postinst-systemd-dont-enable postinst-systemd-restartnostart
debhelper "$stage/agent" prerm "$unit" prerm-systemd-restart
debhelper "$stage/agent" postrm "$unit" postrm-systemd-reload-only postrm-systemd

mkdir -p dist
for control in packaging/deb/*; do pack "${control##*/}"; done
