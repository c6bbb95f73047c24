#!/bin/sh
# Writes README.md and locality.svg: how ids that sort by time affect ClickHouse and SQLite. Takes a few minutes. Installs chdb, ClickHouse's engine as a Python package, in a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
venv=$root/target/locality
make --no-print-directory -C "$root" build nginx-module
(cd "$root" && scripts/need.sh studies)
# chdb-core asks for pandas and pyarrow, 800 MB that queries do not need.
TXID_INSTALL=1 "$root/scripts/venv.sh" "$venv" "$here/requirements.txt" --no-deps
wanted=
. "$root/scripts/nginx.sh"
cd "$here"
exec "$venv/bin/python" -B locality.py "$root" "$nginx"
