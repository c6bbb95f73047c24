#!/bin/sh
# Writes docs/locality.md and docs/locality.svg: what ids that sort by time change in ClickHouse and in SQLite. Takes a few
# minutes; chdb, which is ClickHouse's engine as a Python package, goes into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/target/locality
"$root/scripts/venv.sh" "$venv" "$here/requirements.txt"
cd "$here"
exec "$venv/bin/python" -B locality.py "$root"
