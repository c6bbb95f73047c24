# examples/c against what `make install` installs, found by pkg-config.
. packaging/test/_common.sh

export DESTDIR="$tmp/root"
make --no-print-directory install
has_no_paths "$DESTDIR"

id=$(
    export PKG_CONFIG_PATH="$DESTDIR/usr/local/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$DESTDIR"
    for program in now orders; do
        # shellcheck disable=SC2046 # options
        cc -Wall -Wextra -Werror "examples/c/$program.c" $(pkg-config --cflags --libs txid) -o "$tmp/$program"
    done
    LD_LIBRARY_PATH="$DESTDIR/usr/local/lib" "$tmp/now"
)
is_id "$id" examples/c/now.c

make --no-print-directory uninstall
is_empty "$DESTDIR"
