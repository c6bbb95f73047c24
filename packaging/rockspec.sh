#!/bin/sh
# rockspec.sh NAME VERSION: prints the rockspec of that release of a rock: the one for the newest sources, pinned to the version.
set -eu

cd "$(dirname "$0")/.."
sed "s/\"scm-1\"/\"$2-1\"/; s/== scm\"/== $2\"/; s/branch = \"main\"/tag = \"v$2\"/" "rockspec/$1-scm-1.rockspec"
