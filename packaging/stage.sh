#!/bin/sh
# stage.sh DIR LIB_DIR: lays out what packaging/install.sh installs in DIR/lib, DIR/dev, DIR/lua, DIR/command and DIR/agent: one
# directory for each package of Debian and Fedora, with what its binaries are made of. nginx and LuaJIT look for Lua files in
# /usr/share/lua/5.1 on both.
set -eu

stage=$1
all=$stage/all
rm -rf "$stage"
PREFIX=/usr LUA_LIB_DIR=/usr/share/lua/5.1 LIB_DIR=$2 LUA_C_DIR=$2 AGENT=1 DESTDIR=$all packaging/install.sh put

take() { # take PART PATH...
    part=$1
    shift
    for path in "$@"; do
        [ ! -e "$all$path" ] || {
            mkdir -p "$stage/$part$(dirname "$path")"
            mv "$all$path" "$stage/$part$path"
        }
    done
}

# The link first: -e is false for a link without its target.
take dev "$2/libtxid.so" "$2/libtxid.a" "$2/pkgconfig" /usr/include
take lib "$2/libtxid.so.2"
take lua /usr/share/lua
take agent /usr/bin/txid-agent /usr/lib/systemd /usr/lib/sysusers.d /usr/share/txid-agent \
    /usr/share/bash-completion/completions/txid-agent /usr/share/zsh/site-functions/_txid-agent \
    /usr/share/fish/vendor_completions.d/txid-agent.fish
for manual in "$all"/usr/share/man/man1/txid-agent*; do take agent "${manual#"$all"}"; done
take command /usr/bin /usr/share/man /usr/share/bash-completion /usr/share/zsh /usr/share/fish /usr/share/txid

# Packages keep the user's changes in /etc.
mkdir -p "$stage/agent/etc/txid"
mv "$stage/agent/usr/share/txid-agent/agent.toml" "$stage/agent/etc/txid/"
gzip -9n "$stage"/command/usr/share/man/man1/*.1 "$stage"/agent/usr/share/man/man1/*.1
# Both distributions forbid debug sections and the names of compilers.
strip --strip-unneeded --remove-section=.comment "$stage/lib$2/libtxid.so.2" "$stage"/command/usr/bin/* "$stage"/agent/usr/bin/*
strip --strip-debug --remove-section=.comment "$stage/dev$2/libtxid.a"

left=$(find "$all" ! -type d)
if [ -n "$left" ]; then
    echo "txid: these files of make install are in no package:" "$left" >&2
    exit 1
fi
rm -r "$all"
