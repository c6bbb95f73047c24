#!/bin/sh
# test-install.sh [NAME...]: runs packaging/test/NAME.sh, by default all of them, each in a clean checkout. Each installs txid
# in one way, and checks that it works and that removing it leaves nothing behind.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(basename -s .sh packaging/test/[a-z]*.sh)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export scratch checkout="$scratch/checkout"

# All files that git tracks, and new ones that it does not ignore.
mkdir "$checkout"
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$checkout"

failed=
for name in "$@"; do
    mkdir "$scratch/$name"
    start=$(date +%s)
    if (cd "$checkout" && tmp="$scratch/$name" sh -eu "packaging/test/$name.sh") >"$scratch/$name.log" 2>&1; then
        grep '^#' "$scratch/$name.log" || :
        echo "ok - $name ($(($(date +%s) - start)) s)"
    else
        tail -n 30 "$scratch/$name.log"
        echo "not ok - $name"
        failed="$failed $name"
    fi
done
[ -z "$failed" ] || { echo "txid: failed:$failed" >&2; exit 1; }
