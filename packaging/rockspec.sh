#!/bin/sh
# rockspec.sh VERSION: prints the rockspec of that release: the one for the newest sources, pinned to the version.
set -eu

cd "$(dirname "$0")/.."
sed "s/\"scm-1\"/\"$1-1\"/; s/branch = \"main\"/tag = \"v$1\"/" rockspec/lua-resty-libtxid-scm-1.rockspec
