#!/bin/sh
# subjects.sh: checks that the subject of each commit has at most 72 characters. Older commits keep theirs.
set -eu

cd "$(dirname "$0")/.."
# A packed release has no history.
[ -e .git ] || exit 0
git log --no-merges --since='2026-11-22 18:50 +0000' --format='%h %s' | awk '
    { subject = substr($0, index($0, " ") + 1) }
    length(subject) > 72 { print "txid: the subject of " $1 " has " length(subject) " characters of at most 72: " subject; bad = 1 }
    END { exit bad }' >&2
