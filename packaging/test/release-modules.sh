# The archive of modules for each nginx: for Debian's, and for one that differs in its version only, so that Debian's refuses it.
. packaging/test/_common.sh

scripts/need.sh nginx-module nginx-sources
cp -R /usr/share/nginx/src "$tmp/other"
rm -rf "$tmp/other/debian"
sed -i 's/\(define nginx_version .*\)...$/\1999/; s/\(define NGINX_VERSION .*\)\..*/\1.999"/' "$tmp/other/src/core/nginx.h"
version=$(sed -n 's/#define NGINX_VERSION *"\(.*\)"/\1/p' /usr/share/nginx/src/src/core/nginx.h)
debian=debian-nginx-$version other=nginx-${version%.*}.999
# As if it were the directory of another Debian, with a C library of its own.
mkdir "$tmp/debian"
ln -s /usr /lib /lib64 "$tmp/debian/"
said=$(NGINX_SRCS="$tmp/debian/usr/share/nginx/src $tmp/other" packaging/release-modules.sh)
has "$said" "$debian takes its modules, and no others"
has "$said" "$other was not tried"

mkdir "$tmp/unpacked"
tar -xzf dist/txid-nginx-modules-*.tar.gz -C "$tmp/unpacked"
has_no_paths "$tmp/unpacked"
unpacked=$(echo "$tmp"/unpacked/*)
for file in LICENSE README crates.txt sbom.cdx.json "$debian/ngx_stream_txid_module.so"; do
    [ -s "$unpacked/$file" ] || fail "the archive has no $file"
done
# Debian's own nginx, which is not built here.
/usr/sbin/nginx -t -g "load_module $unpacked/$debian/ngx_http_txid_module.so;" || fail "Debian's nginx does not take the module"
if said=$(/usr/sbin/nginx -t -g "load_module $unpacked/$other/ngx_http_txid_module.so;" 2>&1); then
    fail "Debian's nginx takes a module for another"
fi
has "$said" "instead of"
