# To be sourced. Builds nginx, or a fork of it, outside its source tree, which may not be writable.

# nginx_tree SRC TREE: makes TREE a tree of links to SRC, in which configure works; sets tree, and configure to call there.
nginx_tree() {
    tree=$2
    rm -rf "$tree"
    mkdir -p "$tree"
    for entry in "$1"/*; do
        case ${entry##*/} in
            objs | Makefile) ;;
            *) ln -s "$entry" "$tree/" ;;
        esac
    done
    configure=./configure
    [ -x "$tree/configure" ] || configure=./auto/configure
    [ -x "$tree/$configure" ] || { echo "txid: '$1' has no configure: name a directory with nginx's sources" >&2; return 1; }
}

# nginx_build OPTION...: configures and makes nginx in the tree, with a libtxid.a built once for all of them; sets
# binary.
nginx_build() {
    if ! (
        export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/nginx-rust}"
        cd "$tree" && "$configure" "$@" && make -j "$(nproc)"
    ) >"$tree/build.log" 2>&1; then
        tail -n 20 "$tree/build.log" >&2
        echo "txid: nginx could not be built; see $tree/build.log" >&2
        return 1
    fi
    binary=$tree/objs/nginx
    # As Angie calls it.
    [ -x "$binary" ] || binary=$tree/objs/angie
}
