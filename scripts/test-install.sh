#!/bin/sh
# test-install.sh [WAY...]: installs in every way that packaging/test has a file for, or in those named, each time from a
# clean checkout, and looks that it works and that nothing is left.
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
for way in "$@"; do
    mkdir "$scratch/$way"
    start=$(date +%s)
    if (cd "$checkout" && tmp="$scratch/$way" sh -eu "packaging/test/$way.sh") >"$scratch/$way.log" 2>&1; then
        grep '^#' "$scratch/$way.log" || :
        echo "ok - $way ($(($(date +%s) - start)) s)"
    else
        tail -n 30 "$scratch/$way.log"
        echo "not ok - $way"
        failed="$failed $way"
    fi
done
[ -z "$failed" ] || { echo "txid: failed:$failed" >&2; exit 1; }
