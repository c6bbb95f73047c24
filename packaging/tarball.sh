#!/bin/sh
# tarball.sh DIRECTORY NAME [AS]: packs NAME, which is in DIRECTORY, as dist/NAME.tar.gz, or dist/AS.tar.gz. Equal files make equal bytes.
set -eu

tar -c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w -C "$1" "$2" \
    | gzip -9n >"$(dirname "$0")/../dist/${3:-$2}.tar.gz"
