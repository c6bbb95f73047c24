#!/bin/sh
# stage.sh DIR LIB_DIR: lays out DIR/libtxid, DIR/lua-resty-txid, DIR/txid and DIR/txid-agent, the files of the packages.
# nginx and LuaJIT look for Lua files in /usr/share/lua/5.1, on Debian and Fedora alike, and the system's loader finds
# libtxid.so.
set -eu

stage=$1
all=$stage/all
rm -rf "$stage"
PREFIX=/usr LUA_LIB_DIR=/usr/share/lua/5.1 LIB_DIR=$2 LUA_C_DIR=$2 DESTDIR=$all scripts/install.sh put

take() { # take PACKAGE PATH...
    package=$1
    shift
    for path in "$@"; do
        [ ! -e "$all$path" ] || {
            mkdir -p "$stage/$package$(dirname "$path")"
            mv "$all$path" "$stage/$package$path"
        }
    done
}

take libtxid "$2" /usr/include
take lua-resty-txid /usr/share/lua
take txid /usr/bin /usr/share/man /usr/share/bash-completion /usr/share/zsh /usr/share/fish

gzip -9n "$stage"/txid/usr/share/man/man1/*.1

# `make install` is for those who make ids; the agent comes as a package, with its unit.
agent=$stage/txid-agent
install -D -m 755 target/release/txid-agent "$agent/usr/bin/txid-agent"
install -D -m 644 packaging/agent/txid-agent.service "$agent/usr/lib/systemd/system/txid-agent.service"
install -D -m 644 packaging/agent/agent.toml "$agent/etc/txid/agent.toml"

left=$(find "$all" -type f)
if [ -n "$left" ]; then
    echo "txid: no package has these files of make install:" "$left" >&2
    exit 1
fi
rm -r "$all"
