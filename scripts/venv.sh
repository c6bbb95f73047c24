#!/bin/sh
# venv.sh DIR REQUIREMENTS: makes DIR a Python virtual environment with the packages in the file, unless it is one
# already.
set -eu

if cmp -s "$2" "$1/requirements.txt"; then
    exit 0
fi
python3 -m venv --clear "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
cp "$2" "$1/requirements.txt"
