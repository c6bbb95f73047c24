# The folder for nginx's official image, and what its builder, build_module.sh, asks of the sources: each of its steps, in a bare Debian, with the
# packages of build-deps and the sources that a release packs. Debian's headers of nginx stand for nginx.org's sources.
. packaging/test/_common.sh
. packaging/test/_chroot.sh

. packaging/facts.sh
folder=packaging/nginx-image/txid
name=lua-resty-libtxid-$version
[ "$(cat $folder/source)" = "$repository/releases/download/v$version/$name.tar.gz" ] || fail "the sources are at $(cat $folder/source)"
mkdir -p dist
[ -n "${PACKED-}" ] || tar -c -z --exclude ./target --exclude ./dist --exclude ./.git --transform "s|^\.|$name|" -f "dist/$name.tar.gz" .

[ "$(id -u)" -eq 0 ] || { echo "# the modules were not built: a chroot needs root"; exit 0; }
# nginx's images are of this Debian.
fresh trixie ca-certificates
in_root sh -c 'apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make nginx nginx-dev libnginx-mod-stream' >"$log" 2>&1 || fail "$(tail -n 5 "$log")"
mkdir -p "$root/modules"
cp -R $folder "$root/modules/"
cp "dist/$name.tar.gz" "$root/tmp/"

cat >"$root/tmp/steps" <<'END_OF_STEPS'
set -eu
xargs apt-get install -y --no-install-suggests --no-install-recommends </modules/txid/build-deps
[ ! -x /modules/txid/prebuild ] || /modules/txid/prebuild
cd /tmp
tarball=$(basename "$(cat /modules/txid/source)")
tar -xzf "$tarball"
mv "$(tar -tzf "$tarball" | head -n 1 | cut -f 1 -d /)" txid
# It is a dynamic module, which is not rewritten; and the lines to load it, which the package prints.
grep -q '\.[[:space:]]auto/module' txid/config
grep ngx_module_name= txid/config | cut -f 2 -d = | cut -f 2 -d '"' | sed 's|.*|load_module modules/&.so;|' >/tmp/banner
cp -R /usr/share/nginx/src /tmp/nginx
cd /tmp/nginx
./configure --with-compat --with-threads --with-stream=dynamic --add-dynamic-module=/tmp/txid
make -f objs/Makefile objs/ngx_http_txid_module.so objs/ngx_stream_txid_module.so
install -m 644 objs/ngx_*_txid_module.so /usr/lib/nginx/modules/
END_OF_STEPS
in_root sh /tmp/steps >"$tmp/steps.log" 2>&1 || { tail -n 20 "$tmp/steps.log"; fail "a step of the builder"; }
[ "$(cat "$root/tmp/banner")" = "load_module modules/ngx_http_txid_module.so;
load_module modules/ngx_stream_txid_module.so;" ] || fail "the package would say: $(cat "$root/tmp/banner")"
sed 's|modules/|/usr/lib/nginx/modules/|' "$root/tmp/banner" >"$root/etc/nginx/modules-enabled/99-txid.conf"
serve native
is_id "$(header x-request-id "http://127.0.0.1:$port/")" "nginx with the modules"
stop
