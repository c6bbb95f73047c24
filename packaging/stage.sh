#!/bin/sh
# stage.sh DIR LIB_DIR: lays out what `make install` installs in DIR/lib, DIR/dev, DIR/lua and DIR/command, and the agent
# in DIR/agent: one directory for each package of Debian and Fedora. nginx and LuaJIT look for Lua files in
# /usr/share/lua/5.1 on both.
set -eu

stage=$1
all=$stage/all
rm -rf "$stage"
PREFIX=/usr LUA_LIB_DIR=/usr/share/lua/5.1 LIB_DIR=$2 LUA_C_DIR=$2 DESTDIR=$all scripts/install.sh put

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
take command /usr/bin /usr/share/man /usr/share/bash-completion /usr/share/zsh /usr/share/fish /usr/share/txid

gzip -9n "$stage"/command/usr/share/man/man1/*.1
# `make install` does not install the agent: only packages have it, with its systemd unit.
agent=$stage/agent
install -D -m 755 target/release/txid-agent "$agent/usr/bin/txid-agent"
install -D -m 644 packaging/agent/txid-agent.service "$agent/usr/lib/systemd/system/txid-agent.service"
install -D -m 644 packaging/agent/txid-agent.sysusers "$agent/usr/lib/sysusers.d/txid-agent.conf"
install -D -m 644 packaging/agent/agent.toml "$agent/etc/txid/agent.toml"
share=$agent/usr/share
install -D -m 644 packaging/agent/agent.schema.json "$share/txid-agent/agent.schema.json"
mkdir -p "$share/man/man1"
install -m 644 target/release/agent/man/*.1 "$share/man/man1/"
gzip -9n "$share"/man/man1/*.1
completions=target/release/agent/completions
install -D -m 644 $completions/bash/txid-agent "$share/bash-completion/completions/txid-agent"
install -D -m 644 $completions/zsh/_txid-agent "$share/zsh/site-functions/_txid-agent"
install -D -m 644 $completions/fish/txid-agent.fish "$share/fish/vendor_completions.d/txid-agent.fish"

# Both distributions forbid debug sections and the names of compilers.
strip --strip-unneeded --remove-section=.comment "$stage/lib$2/libtxid.so.2" "$stage"/command/usr/bin/* "$agent"/usr/bin/*
strip --strip-debug --remove-section=.comment "$stage/dev$2/libtxid.a"

left=$(find "$all" ! -type d)
if [ -n "$left" ]; then
    echo "txid: these files of make install are in no package:" "$left" >&2
    exit 1
fi
rm -r "$all"
