#!/bin/sh
# venv.sh DIR REQUIREMENTS [OPTION...]: makes DIR a Python virtual environment with the packages in the file, unless it is
# one already. The options are pip's.
set -eu

directory=$1
requirements=$2
shift 2
if cmp -s "$requirements" "$directory/requirements.txt"; then
    exit 0
fi
python3 -m venv --clear "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@" -r "$requirements"
cp "$requirements" "$directory/requirements.txt"
