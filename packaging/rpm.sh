#!/bin/sh
# Packs dist/*.rpm from what make build built.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
host=${repository#*://}
released=$(sed -n "s/^## \[$version\] - //p" CHANGELOG.md)
day=$(LC_ALL=C date -u -d "${released:-$(date -u -r CHANGELOG.md -I)}" '+%a %b %d %Y')
stage=$PWD/target/rpm/stage
packaging/stage.sh "$stage" /usr/lib64

# files PART PACKAGE: lists its files, with the licence and the changelog.
files() {
    root=$stage/$1
    install -D -m 644 LICENSE "$root/usr/share/licenses/$2/LICENSE"
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
files lib libtxid
files dev libtxid-devel
files lua lua-resty-libtxid
files command txid
files agent txid-agent
chmod -R u+w,go-w,a+rX "$stage"

log=target/rpm/rpmbuild.log
if ! rpmbuild -bb packaging/txid.spec >$log 2>&1 \
    --define "_topdir $PWD/target/rpm" --define "_rpmdir $PWD/target/rpm/out" \
    --define "txid_version $version" --define "txid_repository $repository" --define "txid_host ${host%%/*}" \
    --define "txid_day $day" --define "stage $stage"; then
    tail -n 20 $log >&2
    exit 1
fi
mkdir -p dist
find target/rpm/out -name '*.rpm' -exec mv {} dist/ \; -exec sh -c 'echo "dist/${1##*/}"' sh {} \;
