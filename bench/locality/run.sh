#!/bin/sh
# Writes docs/locality.md and docs/locality.svg: what ids that sort by time change in ClickHouse and in SQLite. Takes a few
# minutes; chdb, which is ClickHouse's engine as a Python package, goes into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/target/locality

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
fi
cd "$here"
exec "$venv/bin/python" -B locality.py "$root"
