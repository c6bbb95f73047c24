#!/bin/sh
# release-modules.sh: packs dist/txid-nginx-modules-*.tar.gz, the modules for each nginx, or fork of it, whose source tree is in
# $NGINX_SRCS. Each nginx must take its own modules, and refuse those of the others.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
. scripts/nginx-tree.sh
: "${NGINX_SRCS:?txid: name the source trees of nginx: make release-modules NGINX_SRCS='dir dir'}"
work=$PWD/target/nginx-modules
packed=txid-nginx-modules-$version-linux-$(uname -m)
rm -rf "$work"
mkdir -p "$work/$packed" "$work/built" "$work/prefix/logs" dist

# name_of SRC: what that nginx calls itself, such as nginx-1.30.4 or angie-1.12.1.
name_of() {
    header=$1/src/core/angie.h name=ANGIE_VER
    [ -f "$header" ] || header=$1/src/core/nginx.h name=NGINX_VER
    # Its -v does not say that it is Debian's.
    [ ! -d "$1/debian" ] || printf debian-
    printf '#include "%s"\n%s\n' "$header" $name | cc -E -P - | tail -n 1 | tr -d '" ' | tr 'A-Z/' 'a-z-'
}

# takes NAME MODULES: whether that nginx accepts a configuration with the modules in this directory. Sets said to its messages.
takes() {
    # In Debian's, stream is a module, too.
    stream=$work/built/$1/ngx_stream_module.so
    if [ -f "$stream" ]; then stream="load_module $stream;"; else stream=; fi
    cat >"$work/prefix/nginx.conf" <<END
$stream
load_module $2/ngx_http_txid_module.so;
load_module $2/ngx_stream_txid_module.so;
events {}
http { txid_response_header X-Request-Id; }
stream { txid_variable \$id uuid_v7; }
END
    said=$("$work/built/$1/binary" -t -p "$work/prefix/" -c nginx.conf 2>&1)
}

names=
for src in $NGINX_SRCS; do
    src=$(cd "$src" && pwd)
    name=$(name_of "$src")
    NGINX_SRC=$src NGINX_OUT=$work/built/$name scripts/nginx-module.sh
    mkdir "$work/$packed/$name"
    install -m 644 "$work/built/$name"/*.so "$work/$packed/$name"
    names="$names $name"
    if [ -f "$src/src/core/nginx.c" ]; then
        # Only to load modules into, so built in a hurry.
        nginx_tree "$src" "$work/built/$name/nginx"
        nginx_build --with-compat --with-threads --with-stream --with-cc-opt='-O0 -w'
        ln -s "$binary" "$work/built/$name/binary"
    else
        # Debian's nginx-dev has headers only. This is the nginx beside it. Below the directory of another Debian, it needs the C
        # library there.
        root=${src%/usr/share/nginx/src} loader=
        [ -z "$root" ] || loader="$root$(readelf -l "$root/usr/sbin/nginx" 2>/dev/null | sed -n 's/.*interpreter: \(.*\)]/\1/p') \
            --library-path $root/usr/lib/$(cc -print-multiarch)"
        printf '#!/bin/sh\nexec %s %s "$@"\n' "$loader" "$root/usr/sbin/nginx" >"$work/built/$name/binary"
        chmod 755 "$work/built/$name/binary"
        ln -s "$root/usr/lib/nginx/modules/ngx_stream_module.so" "$work/built/$name/"
    fi
done

for name in $names; do
    "$work/built/$name/binary" -v 2>"$work/version" || { echo "$name was not tried: it does not run here"; continue; }
    for other in $names; do
        if takes "$name" "$work/$packed/$other"; then
            [ "$name" = "$other" ] || { echo "txid: $name takes the modules for $other" >&2; exit 1; }
        else
            case $name:$said in
                "$other:"*) echo "txid: $name does not take its modules: $said" >&2; exit 1 ;;
                *" instead of "* | *"is not binary compatible"* | *"is built not for Angie"* | *"undefined symbol"*) ;;
                *) echo "txid: $name does not say that the modules are for $other: $said" >&2; exit 1 ;;
            esac
        fi
    done
    echo "$name takes its modules, and no others"
done

cp LICENSE "$work/$packed/"
cat >"$work/$packed/README" <<END
Modules of txid $version for nginx without Lua. Take those in the directory with the name of your nginx ($repository):

    load_module /PATH/TO/ngx_http_txid_module.so;      # at the top of nginx.conf
    load_module /PATH/TO/ngx_stream_txid_module.so;    # if it uses \$txid in stream

They are for:$names
END
python3 packaging/crates.py "$work/$packed" txid-capi
packaging/tarball.sh "$work" "$packed"
echo "dist/$packed.tar.gz"
