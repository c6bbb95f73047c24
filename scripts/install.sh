#!/bin/sh
# install.sh put|remove: copies what `make install` installs below $DESTDIR, or takes it away again.
set -eu

lib=$PREFIX/lib
include=$PREFIX/include
bin=$PREFIX/bin
share=$PREFIX/share
bash=$share/bash-completion/completions
zsh=$share/zsh/site-functions
fish=$share/fish/vendor_completions.d

put() { # put MODE FILE DIRECTORY
    install -d "$DESTDIR$3"
    install -m "$1" "$2" "$DESTDIR$3/"
}

lua_files() { (cd lua && find resty -name '*.lua'); }

case $1 in
    put)
        [ -f target/release/libtxid.so ] || { echo "txid: nothing is built yet: run make build" >&2; exit 1; }
        lua_files | while read -r file; do
            put 644 "lua/$file" "$LUA_LIB_DIR/$(dirname "$file")"
        done
        put 644 target/release/libtxid.so "$lib"
        put 644 include/txid.h "$include"
        put 755 target/release/txid "$bin"
        for page in target/release/man/txid*.1; do put 644 "$page" "$share/man/man1"; done
        put 644 target/release/completions/bash/txid "$bash"
        put 644 target/release/completions/zsh/_txid "$zsh"
        put 644 target/release/completions/fish/txid.fish "$fish"
        # Where lua_package_cpath looks: one file, two names. A relative link holds below $DESTDIR, too.
        install -d "$DESTDIR$LUA_C_DIR"
        [ "$LUA_C_DIR" = "$lib" ] || ln -srf "$DESTDIR$lib/libtxid.so" "$DESTDIR$LUA_C_DIR/libtxid.so"
        ;;
    remove)
        lua_files | while read -r file; do rm -f "$DESTDIR$LUA_LIB_DIR/$file"; done
        rm -f "$DESTDIR$LUA_C_DIR/libtxid.so" "$DESTDIR$lib/libtxid.so" "$DESTDIR$include/txid.h"
        rm -f "$DESTDIR$bin/txid" "$DESTDIR$bash/txid" "$DESTDIR$zsh/_txid" "$DESTDIR$fish/txid.fish"
        for page in txid txid-new txid-inspect txid-range txid-grep txid-sort; do
            rm -f "$DESTDIR$share/man/man1/$page.1"
        done
        # Other libraries may live in resty/ too.
        rmdir "$DESTDIR$LUA_LIB_DIR/resty/txid" "$DESTDIR$LUA_LIB_DIR/resty" 2>/dev/null || :
        ;;
    *) echo "txid: install.sh takes put or remove, not '$1'" >&2; exit 2 ;;
esac
