#!/bin/sh
# Packs dist/*.rpm from what make build built. With $NGINX_SRC, the sources of an nginx, also nginx-module-txid with the modules for it.
set -eu

cd "$(dirname "$0")/.."
. packaging/facts.sh
host=${repository#*://}
day=$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')
stage=$PWD/target/rpm/stage
packaging/stage.sh "$stage" /usr/lib64

# files PART PACKAGE [CRATES]: lists its files, with the licence, the changelog, and the crates in its binaries.
files() {
    root=$stage/$1
    install -D -m 644 LICENSE "$root/usr/share/licenses/$2/LICENSE"
    [ $# -lt 3 ] || python3 packaging/crates.py "$root/usr/share/licenses/$2" "$3"
    [ "$1" = lib ] || install -D -m 644 CHANGELOG.md "$root/usr/share/doc/$2/CHANGELOG.md"
    # Our own directories belong to the package; the system's do not.
    (
        cd "$root"
        find usr ! -type d | sed 's|^|/|; s|^/usr/share/doc/|%doc &|; s|^/usr/share/licenses/|%license &|'
        [ ! -d etc ] || find etc -type f | sed 's|^|%config(noreplace) /|'
        find usr \( -path 'usr/share/licenses/*' -o -path 'usr/share/doc/*' -o -path 'usr/share/lua/5.1/*' -o -path 'usr/share/txid*' \) -type d \
            | sed 's|^|%dir /|'
    ) >"$root.files"
}
chmod 755 "$stage/lib/usr/lib64/libtxid.so.2"
files lib libtxid txid-capi
files dev libtxid-devel txid-capi
files lua lua-resty-libtxid
files command txid txid-cli
files agent txid-agent txid-agent
set --
if [ -n "${NGINX_SRC-}" ]; then
    NGINX_OUT=$PWD/target/rpm/nginx scripts/nginx-module.sh
    for module in http stream; do
        install -D -m 755 "target/rpm/nginx/ngx_${module}_txid_module.so" "$stage/nginx/usr/lib64/nginx/modules/ngx_${module}_txid_module.so"
    done
    files nginx nginx-module-txid txid-capi
    set -- --define "nginx_version $(cat target/rpm/nginx/version)"
fi
chmod -R u+w,go-w,a+rX "$stage"

log=target/rpm/rpmbuild.log
if ! rpmbuild -bb packaging/txid.spec "$@" >$log 2>&1 \
    --define "_topdir $PWD/target/rpm" --define "_rpmdir $PWD/target/rpm/out" \
    --define "txid_version $version" --define "txid_repository $repository" --define "txid_host ${host%%/*}" \
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost txid" \
    --define "txid_day $day" --define "stage $stage"; then
    tail -n 20 $log >&2
    exit 1
fi
mkdir -p dist
find target/rpm/out -name '*.rpm' -exec mv {} dist/ \; -exec sh -c 'echo "dist/${1##*/}"' sh {} \;
