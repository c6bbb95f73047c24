#!/bin/sh
# Packs dist/*.rpm from what make build built.
set -eu

cd "$(dirname "$0")/.."
. scripts/facts.sh
stage=$PWD/target/rpm/stage
packaging/stage.sh "$stage" /usr/lib64

for root in "$stage"/*; do
    package=$(basename "$root")
    install -D -m 644 LICENSE "$root/usr/share/licenses/$package/LICENSE"
    # Directories of our own go with the package; those of the system stay.
    (
        cd "$root"
        find usr ! -type d | sed 's|^|/|'
        [ ! -d etc ] || find etc -type f | sed 's|^|%config(noreplace) /|'
        find usr -path usr/share/licenses/\* -type d -o -path usr/share/lua/5.1/\* -type d | sed 's|^|%dir /|'
    ) >"$root.files"
done
chmod -R u+w,go-w,a+rX "$stage"

log=target/rpm/rpmbuild.log
if ! rpmbuild -bb packaging/txid.spec >$log 2>&1 \
    --define "_topdir $PWD/target/rpm" --define "_rpmdir $PWD/target/rpm/out" \
    --define "txid_version $version" --define "txid_repository $repository" --define "stage $stage"; then
    tail -n 20 $log >&2
    exit 1
fi
mkdir -p dist
find target/rpm/out -name '*.rpm' -exec mv {} dist/ \; -exec sh -c 'echo "dist/${1##*/}"' sh {} \;
