#!/bin/sh
# install.sh put|remove|rock: copies what `make install` installs below $DESTDIR, takes it away again, or copies only what
# LuaRocks wants in a rock.
set -eu

. scripts/facts.sh
include=$PREFIX/include
case $(uname) in
    Darwin) library=libtxid.dylib ;;
    *) library=libtxid.so ;;
esac

put() { # put MODE FILE DIRECTORY
    install -d "$DESTDIR$3"
    install -m "$1" "$2" "$DESTDIR$3/"
}

lua_files() { (cd lua && find resty -name '*.lua'); }

put_lua_files() {
    lua_files | while read -r file; do
        put 644 "lua/$file" "$LUA_LIB_DIR/$(dirname "$file")"
    done
}

link() { # link FILE DIRECTORY
    # A relative link holds below $DESTDIR, too. The ln of macOS makes none.
    ln -srf "$DESTDIR$1" "$DESTDIR$2/" 2>/dev/null || ln -sf "$1" "$DESTDIR$2/"
}

put_pkg_config() {
    install -d "$DESTDIR$LIB_DIR/pkgconfig"
    sed "s|@PREFIX@|$PREFIX|; s|@LIB_DIR@|$LIB_DIR|; s|@VERSION@|$version|; s|@REPOSITORY@|$repository|" \
        packaging/txid.pc.in >"$DESTDIR$LIB_DIR/pkgconfig/txid.pc"
}

case $1 in
    put)
        [ -f "target/release/$library" ] || { echo "txid: nothing is built yet: run make build" >&2; exit 1; }
        put_lua_files
        put 644 "target/release/$library" "$LIB_DIR"
        put 644 include/txid.h "$include"
        put_pkg_config
        # Where lua_package_cpath looks: one file, two names.
        install -d "$DESTDIR$LUA_C_DIR"
        [ "$LUA_C_DIR" = "$LIB_DIR" ] || link "$LIB_DIR/$library" "$LUA_C_DIR"
        ;;
    remove)
        lua_files | while read -r file; do rm -f "$DESTDIR$LUA_LIB_DIR/$file"; done
        rm -f "$DESTDIR$LUA_C_DIR/$library" "$DESTDIR$LIB_DIR/$library" "$DESTDIR$include/txid.h" \
            "$DESTDIR$LIB_DIR/pkgconfig/txid.pc"
        # Other libraries may live in resty/ too.
        rmdir "$DESTDIR$LUA_LIB_DIR/resty/txid" "$DESTDIR$LUA_LIB_DIR/resty" 2>/dev/null || :
        ;;
    rock)
        put_lua_files
        put 644 "target/release/$library" "$LUA_C_DIR"
        ;;
    *) echo "txid: install.sh takes put, remove or rock, not '$1'" >&2; exit 2 ;;
esac
