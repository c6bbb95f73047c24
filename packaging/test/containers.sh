# The images of packaging/Dockerfile, built by buildah, which needs no engine; and their commands. Their base images are made here: a Debian with
# nginx in place of OpenResty, and this machine's Rust. Programs of compose files run as these say.
. packaging/test/_common.sh

sysroot=$(rustc --print sysroot)
for tool in buildah debootstrap; do
    command -v $tool >/dev/null || { echo "# no image was built: there is no $tool"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "# no image was built: a chroot needs root"; exit 0; }
[ -x "$sysroot/bin/cargo" ] && [ "$sysroot" != /usr ] || { echo "# no image was built: Rust is not in a directory of its own"; exit 0; }

# Images and layers of their own, which go with $tmp.
export CONTAINERS_STORAGE_CONF="$tmp/storage.conf" BUILDAH_ISOLATION=chroot
printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$tmp" "$tmp" >"$CONTAINERS_STORAGE_CONF"

# Some of buildah's mounts outlive their containers, and $tmp could not be removed with them.
trap 'findmnt -rno TARGET | grep "^$tmp/" | sort -r | xargs -r umount' EXIT

# image NAME DIR [OPTION...]: an image that holds a directory.
image() {
    name=$1 content=$2
    shift 2
    made=$(buildah from scratch)
    buildah add --quiet "$made" "$content" / >/dev/null
    [ $# -eq 0 ] || buildah config "$@" "$made"
    buildah commit --quiet --rm "$made" "$name" >/dev/null
}

root=$tmp/debian
debootstrap --variant=minbase --include=ca-certificates,curl,nginx,libnginx-mod-http-lua,procps bookworm "$root" >"$tmp/debootstrap" 2>&1 \
    || { tail -n 5 "$tmp/debootstrap"; fail "debootstrap"; }
rm -f "$root"/var/cache/apt/archives/*.deb
# OpenResty has these below the directory of -p.
for part in body fastcgi proxy scgi uwsgi; do install -d -o nobody "$root/var/lib/nginx/$part"; done
mkdir -p "$root/usr/local/openresty/bin"
cat >"$root/usr/local/openresty/bin/openresty" <<'END'
#!/bin/sh
# The name and the directories of OpenResty, for Debian's nginx.
LUA_PATH="${LUA_PATH:-;;};/usr/local/openresty/site/lualib/?.lua" LUA_CPATH="${LUA_CPATH:-;;};/usr/local/openresty/site/lualib/?.so"
export LUA_PATH LUA_CPATH
for last; do :; done
[ "$last" = "daemon off;" ] || exec /usr/sbin/nginx "$@"
exec /usr/sbin/nginx "$@ load_module /usr/lib/nginx/modules/ndk_http_module.so; load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;"
END
chmod 755 "$root/usr/local/openresty/bin/openresty"
path=/usr/local/openresty/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
image docker.io/openresty/openresty:bookworm "$root" --env "PATH=$path"
rm -rf "$root"

rust=$tmp/rust
mkdir -p "$rust/usr/local/cargo/lib" "$rust/usr/local/rustup"
cp -a "$sysroot/bin" "$rust/usr/local/cargo/"
cp -a "$sysroot"/lib/*.so* "$rust/usr/local/cargo/lib/"
mkdir -p "$rust/usr/local/cargo/lib/rustlib"
cp -a "$sysroot/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')" "$rust/usr/local/cargo/lib/rustlib/"
image docker.io/library/rust:1-bookworm "$rust"
rm -rf "$rust"

# Compiled files and crates are those of this machine.
mkdir -p target
build() { # build NAME DOCKERFILE [OPTION...]
    name=$1 file=$2
    shift 2
    buildah build --layers --pull=never --volume "$PWD/target:/txid/target" \
        --volume "${CARGO_HOME:-$HOME/.cargo}/registry:/usr/local/cargo/registry" "$@" --tag "$name" --file "$file" . \
        || fail "buildah build --file $file"
}
build openresty-txid packaging/Dockerfile
build orders packaging/Dockerfile --target orders

# size IMAGE: of all its files, in kB.
size() {
    container=$(buildah from --pull=never "$1")
    du -s -x --apparent-size "$(buildah mount "$container")" | cut -f 1
    buildah rm "$container" >/dev/null
}
base=$(size docker.io/openresty/openresty:bookworm)
for name in orders openresty-txid; do
    added=$((($(size $name) - base + 999) / 1000))
    echo "# the image $name has $added MB more than its base"
done
[ $added -le 20 ] || fail "the image $name adds more than 20 MB to its base"

# run IMAGE COMMAND...: as the image's user, in its directory.
run() {
    container=$(buildah from --pull=never "$1")
    shift
    buildah run "$container" "$@" 2>"$tmp/stderr"
    buildah rm "$container" >/dev/null
}
[ "$(run openresty-txid id -un)" = nobody ] || fail "the served image is root's"
is_id "$(run openresty-txid txid)" "the command of the image"
has "$(run orders txid-agent run --store file:///tmp/leases --assume-unused-store --node orders=snowflake -- txid-agent status)" "orders: node "

# serves NAME PIDFILE: the id of a response on $port, and stops what serves.
serves() {
    for _ in $(seq 600); do
        id=$(header x-request-id "http://127.0.0.1:$port/")
        [ -z "$id" ] || break
        sleep 0.5
    done
    is_id "$id" "$1: $(cat "$tmp/served")"
}

# The command of the image, on a free port, with a directory mounted as the Dockerfile says.
port=$(free_port)
container=$(buildah from --pull=never openresty-txid)
cp -a "$(buildah mount "$container")/srv/txid" "$tmp/srv"
sed -i "s/listen 8080/listen 127.0.0.1:$port/" "$tmp/srv/nginx.conf"
eval "set -- $(sed -n 's/^CMD \[\(.*\)\]$/\1/p' packaging/Dockerfile | tail -n 1 | tr -d ,)"
buildah run --volume "$tmp/srv:/srv/txid" "$container" "$@" >"$tmp/served" 2>&1 &
serves "the command of the image"
kill -QUIT "$(cat "$tmp/srv/logs/nginx.pid")"
wait $!
buildah rm "$container" >/dev/null

# docker-compose.yml: its command, in its stage.
build workshop packaging/Dockerfile --target workshop
port=$(free_port)
container=$(buildah from --pull=never workshop)
eval "set -- $(sed -n 's/^    command: //p' docker-compose.yml)"
buildah run --volume "$PWD/target:/txid/target" --volume "${CARGO_HOME:-$HOME/.cargo}/registry:/usr/local/cargo/registry" \
    --env "PORT=$port" "$container" "$@" >"$tmp/served" 2>&1 &
running=$!
serves "make run in the workshop"
# It ends with its nginx, whose directory is in the container's /tmp.
kill "$(cat "$(buildah mount "$container")"/tmp/tmp.*/logs/nginx.pid)"
wait $running || :
