#!/bin/sh
set -eu

usage="Usage: [PREFIX=DIRECTORY] [LUA_LIB_DIR=DIRECTORY] [DESTDIR=DIRECTORY] ./install.sh [--uninstall]

Installs txid below PREFIX (/usr/local), or takes it away again. OpenResty looks elsewhere for Lua files:
LUA_LIB_DIR=/usr/local/openresty/site/lualib ./install.sh. With DESTDIR, all of it is put below that directory."

export PREFIX="${PREFIX:-/usr/local}" DESTDIR="${DESTDIR:-}" AGENT=1 BUILT=built FROM="$PWD"
export LIB_DIR="${LIB_DIR:-$PREFIX/lib}" LUA_LIB_DIR="${LUA_LIB_DIR:-$PREFIX/share/lua/5.1}"
case $LUA_LIB_DIR in
    */share/lua/*) lua_c_dir=${LUA_LIB_DIR%/share/lua/*}/lib/lua/${LUA_LIB_DIR##*/share/lua/} ;;
    *) lua_c_dir=$LUA_LIB_DIR ;;
esac
export LUA_C_DIR="${LUA_C_DIR:-$lua_c_dir}"

case ${1-} in
    "") what=put ;;
    --uninstall) what=remove ;;
    --help) echo "$usage"; exit ;;
    *) echo "txid: install.sh takes --uninstall, --help or nothing, not '$1'" >&2; exit 2 ;;
esac
[ -w "$DESTDIR$PREFIX" ] || [ ! -e "$DESTDIR$PREFIX" ] || {
    echo "txid: $DESTDIR$PREFIX is not writable: run this as root, or with PREFIX=DIRECTORY" >&2
    exit 1
}
cd "$(dirname "$0")"
packaging/install.sh $what
# So that the loader finds the library, for programs in C.
[ -n "$DESTDIR" ] || [ "$(id -u)" -ne 0 ] || ldconfig 2>/dev/null || :

[ $what = put ] || exit 0
. packaging/facts.sh
echo "txid $version is in $DESTDIR$PREFIX."
[ -n "$DESTDIR" ] || [ ! -d /run/systemd/system ] || echo "For the agent's service: systemd-sysusers && systemctl daemon-reload, and a /etc/txid/agent.toml as in $PREFIX/share/txid-agent/."
