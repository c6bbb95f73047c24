# The images for gateways, built by buildah from the rocks and the modules: packaging/kong/Dockerfile, packaging/apisix/Dockerfile and
# packaging/nginx-image/Dockerfile. A Debian with nginx and LuaRocks stands for their base images.
. packaging/test/_common.sh
. packaging/test/_chroot.sh

command -v buildah >/dev/null && [ "$(id -u)" -eq 0 ] || { echo "# no image was built: that needs buildah and root"; exit 0; }
[ -n "${PACKED-}" ] || packaging/rocks.sh

# Images and layers of their own, which go with $tmp.
export CONTAINERS_STORAGE_CONF="$tmp/storage.conf" BUILDAH_ISOLATION=chroot
printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$tmp" "$tmp" >"$CONTAINERS_STORAGE_CONF"
trap 'findmnt -rno TARGET | grep "^$tmp/" | sort -r | xargs -r umount' EXIT

fresh bookworm ca-certificates
in_root sh -c 'apt-get update && apt-get install -y --no-install-recommends luarocks nginx libnginx-mod-http-lua' >"$log" 2>&1 || fail "$(tail -n 5 "$log")"
# As in Kong's image.
in_root useradd kong
printf '#!/bin/sh\nexec /usr/bin/luarocks --lua-version 5.1 "$@"\n' >"$root/usr/local/bin/luarocks"
chmod 755 "$root/usr/local/bin/luarocks"
image() { # image NAME DIR
    made=$(buildah from scratch)
    buildah add --quiet "$made" "$2" / >/dev/null
    buildah commit --quiet --rm "$made" "$1" >/dev/null
}
image gateway "$root"
buildah tag gateway docker.io/library/debian:bookworm-slim
rm -rf "$root"
mkdir -p "$tmp/module/usr/lib/nginx/modules"
for module in http stream; do echo $module >"$tmp/module/usr/lib/nginx/modules/ngx_${module}_txid_module.so"; done
image nginx-txid "$tmp/module"

build() { # build NAME DOCKERFILE CONTEXT
    buildah build --pull=never --build-arg BASE=gateway --tag "$1" --file "$2" "$3" || fail "buildah build --file $2"
}
build kong-txid packaging/kong/Dockerfile dist
build apisix-txid packaging/apisix/Dockerfile dist
build ingress-txid packaging/nginx-image/Dockerfile packaging/nginx-image

has_files() { # has_files IMAGE FILE...
    container=$(buildah from --pull=never "$1")
    mounted=$(buildah mount "$container")
    shift
    for file; do [ -s "$mounted$file" ] || fail "the image has no $file"; done
    buildah rm "$container" >/dev/null
}
has_files kong-txid /usr/local/share/lua/5.1/kong/plugins/txid/schema.lua /usr/local/share/lua/5.1/resty/txid.lua /usr/local/lib/lua/5.1/libtxid.so \
    /etc/kong/txid.conf
has "$(buildah inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Env}}' kong-txid)" \
    'kong [PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin KONG_PLUGINS=bundled,txid'
has "$(buildah inspect --type image --format '{{.OCIv1.Config.Env}}' kong-txid)" 'ERROR_LOG_REQUEST_ID=$request_txid'
# shellcheck disable=SC2016 # nginx's variable
container=$(buildah from --pull=never kong-txid)
[ "$(cat "$(buildah mount "$container")/etc/kong/txid.conf")" = 'map "" $request_txid { default ""; }' ] || fail "Kong's variable"
deps=/usr/local/apisix/deps
has_files apisix-txid $deps/share/lua/5.1/apisix/plugins/txid.lua $deps/share/lua/5.1/resty/txid.lua $deps/lib/lua/5.1/libtxid.so
has_files ingress-txid /usr/lib/nginx/modules/ngx_http_txid_module.so /usr/lib/nginx/modules/ngx_stream_txid_module.so
