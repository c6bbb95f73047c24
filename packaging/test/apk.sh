# The APKBUILD, with a stand-in for Alpine's abuild: what it installs is in one package each, and works. Its sources are what a release packs.
. packaging/test/_common.sh

[ -x target/release/txid-agent ] || make --no-print-directory build agent

# What abuild gives an APKBUILD.
cat >"$tmp/abuild" <<'END_OF_ABUILD'
set -eu
startdir=$PWD srcdir=/nowhere
. "$startdir/packaging/alpine/APKBUILD"
default_prepare() { :; }
default_doc() { amove usr/share/man usr/share/licenses; }
amove() {
    for path; do
        mkdir -p "$subpkgdir/${path%/*}"
        mv "$pkgdir/$path" "$subpkgdir/$path"
    done
}
pkgdir=$root/$pkgname
package
for subpackage in $subpackages; do
    subpkgname=${subpackage%%:*}
    rest=${subpackage#*:}
    case $subpackage in
        *:*) function=${rest%%:*} ;;
        *) function=default_${subpackage##*-} ;;
    esac
    subpkgdir=$root/$subpkgname
    mkdir -p "$subpkgdir"
    (pkgdir=$root/$pkgname; $function)
done
END_OF_ABUILD
root=$tmp/root sh "$tmp/abuild"

files() { (cd "$tmp/root/$1" && find . ! -type d | sort | xargs); }
is() { [ "$(files "$1")" = "$2" ] || fail "$1 has $(files "$1")"; }
is txid "./usr/bin/txid $(find readers/sql -type f | sort | sed 's|readers|./usr/share/txid|' | xargs)"
is libtxid ./usr/lib/libtxid.so.2
is libtxid-dev "./usr/include/txid.h ./usr/lib/libtxid.a ./usr/lib/libtxid.so ./usr/lib/pkgconfig/txid.pc"
is lua5.1-resty-libtxid "$(echo ./usr/lib/lua/5.1/libtxid.so "$(cd lua && find resty -type f | sed 's|^|./usr/share/lua/5.1/|' | LC_ALL=C sort)" | xargs)"
is txid-agent "./usr/bin/txid-agent ./usr/share/txid-agent/agent.schema.json ./usr/share/txid-agent/agent.toml"
for shell in bash zsh fish; do [ "$(files txid-$shell-completion | wc -w)" = 2 ] || fail "completions of $shell: $(files txid-$shell-completion)"; done

is_id "$("$tmp/root/txid/usr/bin/txid")" "the command"
id=$(cd "$tmp" && LUA_PATH="$tmp/root/lua5.1-resty-libtxid/usr/share/lua/5.1/?.lua" LUA_CPATH=/nowhere/?.so LD_LIBRARY_PATH="$tmp/root/libtxid/usr/lib" \
    luajit -e 'assert(require("resty.txid.lib").engine == "native") print(require "resty.txid"())')
is_id "$id" "luajit with the files of the packages"
