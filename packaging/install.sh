#!/bin/sh
# install.sh put|remove|rock: installs below $DESTDIR, removes that again, or installs only the library, for LuaRocks.
# $BUILT is the directory of the built files, by default target/release. With AGENT=1, the agent as well. Names of
# directories are relative to $FROM, by default the working directory.
set -eu

# Installed files contain these names.
absolute() { case $1 in '' | /*) echo "$1" ;; *) echo "${FROM:-$PWD}/$1" ;; esac; }
PREFIX=$(absolute "$PREFIX") DESTDIR=$(absolute "$DESTDIR")
LIB_DIR=$(absolute "$LIB_DIR") LUA_LIB_DIR=$(absolute "$LUA_LIB_DIR") LUA_C_DIR=$(absolute "$LUA_C_DIR")
. packaging/facts.sh
share=$PREFIX/share
release=${BUILT:-target/release}
pkg_config=$LIB_DIR/pkgconfig/txid.pc
# The name for linking and for Lua, and the name that the loader looks for.
case $(uname) in
    Darwin) library=libtxid.dylib loaded=libtxid.dylib ;;
    *) library=libtxid.so loaded=libtxid.so.2 ;;
esac
manuals="txid txid-new txid-inspect txid-range txid-grep txid-sort txid-audit txid-key txid-hide txid-reveal txid-completions txid-man"

# One file per line: its mode, its path, its installed name, and its directory, with tabs between them.
file() { # file MODE FILE DIRECTORY [NAME]
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "${4:-${2##*/}}" "$3"
}
tab=$(printf '\t')

lua_files() {
    (cd lua && find resty -name '*.lua') | while read -r file; do
        file 644 "lua/$file" "$LUA_LIB_DIR/${file%/*}"
    done
}

files() {
    lua_files
    file 644 "$release/$library" "$LIB_DIR" $loaded
    file 644 "$release/libtxid.a" "$LIB_DIR"
    file 644 include/txid.h "$PREFIX/include"
    file 755 "$release/txid" "$PREFIX/bin"
    for manual in $manuals; do file 644 "$release/man/$manual.1" "$share/man/man1"; done
    file 644 "$release/completions/bash/txid" "$share/bash-completion/completions"
    file 644 "$release/completions/zsh/_txid" "$share/zsh/site-functions"
    file 644 "$release/completions/fish/txid.fish" "$share/fish/vendor_completions.d"
    for sql in readers/sql/*.sql; do file 644 "$sql" "$share/txid/sql"; done
    [ "${AGENT-}" != 1 ] || agent_files
}

agent_files() {
    file 755 "$release/txid-agent" "$PREFIX/bin"
    for manual in "$release"/agent/man/*.1; do file 644 "$manual" "$share/man/man1"; done
    file 644 "$release/agent/completions/bash/txid-agent" "$share/bash-completion/completions"
    file 644 "$release/agent/completions/zsh/_txid-agent" "$share/zsh/site-functions"
    file 644 "$release/agent/completions/fish/txid-agent.fish" "$share/fish/vendor_completions.d"
    file 644 packaging/agent/txid-agent.service "$PREFIX/lib/systemd/system"
    file 644 packaging/agent/txid-agent.sysusers "$PREFIX/lib/sysusers.d" txid-agent.conf
    for part in agent.toml agent.schema.json; do file 644 packaging/agent/$part "$share/txid-agent"; done
}

put() {
    while IFS=$tab read -r mode file name directory; do
        install -d "$DESTDIR$directory"
        install -m "$mode" "$file" "$DESTDIR$directory/$name"
    done
}

# Written directly to its destination: the user may not have write access to the tree, or may be root and leave files
# there.
put_pkg_config() {
    install -d "$DESTDIR$(dirname "$pkg_config")"
    prefix=$(printf %s "$PREFIX" | sed 's/[&|\\]/\\&/g')
    lib_dir=$(printf %s "$LIB_DIR" | sed 's/[&|\\]/\\&/g')
    sed "s|@PREFIX@|$prefix|; s|@LIB_DIR@|$lib_dir|; s|@VERSION@|$version|; s|@REPOSITORY@|$repository|" \
        packaging/txid.pc.in >"$DESTDIR$pkg_config"
    chmod 644 "$DESTDIR$pkg_config"
}

# Whether a directory that is empty now may go: not those that each system has.
may_be_ours() { # may_be_ours DIRECTORY
    case $1 in
        "$PREFIX/share/man") false ;;
        "$PREFIX"/*/* | "$LUA_LIB_DIR"/*) true ;;
        *) false ;;
    esac
}

link() { # link FILE NAME
    # A relative link also works below $DESTDIR. The ln of macOS cannot make one.
    ln -srf "$DESTDIR$1" "$DESTDIR$2" 2>/dev/null || ln -sf "$1" "$DESTDIR$2"
}

case $1 in
    put)
        [ -f "$release/$library" ] && [ -f "$release/txid" ] || { echo "txid: not built yet: run make build" >&2; exit 1; }
        files | put
        put_pkg_config
        # One file, with a link for the linker, and one where lua_package_cpath looks.
        [ "$loaded" = "$library" ] || link "$LIB_DIR/$loaded" "$LIB_DIR/$library"
        install -d "$DESTDIR$LUA_C_DIR"
        [ "$LUA_C_DIR" = "$LIB_DIR" ] || link "$LIB_DIR/$loaded" "$LUA_C_DIR/$library"
        ;;
    remove)
        files | while IFS=$tab read -r _ _ name directory; do rm -f "$DESTDIR$directory/$name"; done
        rm -f "$DESTDIR$pkg_config" "$DESTDIR$LIB_DIR/$library" "$DESTDIR$LUA_C_DIR/$library"
        { files | cut -f 4; dirname "$pkg_config"; echo "$LUA_C_DIR"; } | sort -ur | while read -r directory; do
            while may_be_ours "$directory" && rmdir "$DESTDIR$directory" 2>/dev/null; do
                directory=$(dirname "$directory")
            done
        done
        ;;
    rock)
        file 644 "$release/$library" "$LUA_C_DIR" | put
        ;;
    *) echo "txid: install.sh takes put, remove or rock, not '$1'" >&2; exit 2 ;;
esac
