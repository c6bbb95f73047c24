#!/bin/sh
# venv.sh DIR REQUIREMENTS: makes DIR a Python virtual environment with the packages in the file, unless it is one
# already. What those depend on is left out: chdb-core asks for pandas and pyarrow, 800 MB that queries do not need.
set -eu

if cmp -s "$2" "$1/requirements.txt"; then
    exit 0
fi
python3 -m venv --clear "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile -r "$2"
cp "$2" "$1/requirements.txt"
